"""Run plain Python classes compiled: the only module that knows numba's extension API.

Three things live here.

* `kernel` compiles a function and keeps the machine code on disk.
* The *method bridge* lets compiled code call the methods of any `NamedTuple`: a policy is an ordinary class, and
  `state.score(rng, scores)` inside a compiled loop is resolved, by type, to that class's own method.
* The *cache directory* carries a fingerprint of the package's sources. Numba looks only at the file of the function it
  compiled, so without this an edited policy would go on running its old machine code.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import llvmlite.binding
import numba
import numpy as np
from numba import extending, types

PACKAGE = Path(__file__).parent
PRESENTATION = ("cli", "paper", "publish.py", "report", "studies")  # the top layers: no number comes from here
F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

config: Any = numba.config  # numba fills it at run time, unseen by type checkers
overload_method: Any = extending.overload_method
typeof: Any = numba.typeof
host: Any = llvmlite.binding


@cache
def fingerprint() -> str:
    """Identify the sources and libraries that decide what the numbers are."""
    digest = hashlib.sha256()
    for source in sorted(PACKAGE.rglob("*.py")):
        if source.relative_to(PACKAGE).parts[0] in PRESENTATION:
            continue
        digest.update(str(source.relative_to(PACKAGE)).encode() + source.read_bytes())
    # Sums may be added up in another order on another processor, and are not in plain Python.
    built = (numba.__version__, np.__version__, config.DISABLE_JIT, host.get_host_cpu_name())
    digest.update(f"{sys.version_info[:2]} {built}".encode())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Return the folder for machine code of exactly these sources (a bounds-checked build has its own)."""
    if "NUMBA_CACHE_DIR" in os.environ:
        root = Path(os.environ["NUMBA_CACHE_DIR"])
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    checked = "-boundscheck" if config.BOUNDSCHECK else ""
    return root / "corebandit" / f"{fingerprint()}{checked}"


def _keep_on_disk(dispatcher: Any) -> None:
    """Cache `dispatcher` in our folder; where none can be written, leave it to compile in every process."""
    if config.DISABLE_JIT:
        return
    try:
        folder = cache_directory()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # a RuntimeError: there is no home
        return
    if not os.access(folder, os.W_OK):
        return
    # Numba reads this setting only while caching is being enabled: set it for that moment, for our functions alone.
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        dispatcher.enable_caching()
    finally:
        config.CACHE_DIR = before


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    if config.DISABLE_JIT:
        # In compiled code integers wrap around and inf * 0 is NaN without a word; NumPy would warn of both.
        return np.errstate(over="ignore", invalid="ignore")(function)
    # A function compiled from inside another inherits its options where it sets none, so machine code would depend on
    # who called first: set them all.
    return numba.njit(nogil=True, **{"forceinline": False, "fastmath": False, "_nrt": True, **options})(function)


# The lowest layer allocates nothing, so its reference counts (two atomic operations for every array passed on) are
# left out: a normal draw takes 3.5 ns instead of 8, a binomial of 60 trials 1 instead of 18.
_ALLOCATES_NOTHING = {"_nrt": False}


def kernel(function: F) -> F:
    """Compile `function`, which must allocate nothing, and keep the machine code on disk."""
    dispatcher = _compile(function, **_ALLOCATES_NOTHING)
    _keep_on_disk(dispatcher)
    return cast(F, dispatcher)


def kernel_reassociated(function: F) -> F:
    """Compile as `kernel` does, and let sums be added up in any order: faster, the last digits may differ."""
    dispatcher = _compile(function, fastmath={"reassoc", "nsz"}, **_ALLOCATES_NOTHING)
    _keep_on_disk(dispatcher)
    return cast(F, dispatcher)


def inlined(function: F) -> F:
    """Compile `function`, which must allocate nothing, into whatever calls it."""
    return cast(F, _compile(function, forceinline=True, **_ALLOCATES_NOTHING))


# The method bridge ------------------------------------------------------------------------------------------------

_exposed: set[str] = set()
_allocate_nothing: set[type] = set()


def is_ours(cls: Any) -> bool:
    """Tell whether `cls`, or a function, is part of this package, so that the cache directory knows its source."""
    return bool(cls.__module__.partition(".")[0] == __package__)


@cache
def _compiled_method(cls: type, name: str) -> Any:
    return _compile(getattr(cls, name), forceinline=True, _nrt=cls not in _allocate_nothing)


def _expose(name: str) -> None:
    """Let compiled code call the method `name` of every named tuple that has one."""

    def typed(self: Any, *args: Any) -> Any:
        if not isinstance(getattr(self.instance_class, name, None), FunctionType):
            return None  # numba then reports an unknown attribute, as it should
        method = _compiled_method(self.instance_class, name)

        def call(self: Any, *args: Any) -> Any:
            return method(self, *args)

        return call

    overload_method(types.BaseNamedTuple, name, jit_options={"forceinline": True, **_ALLOCATES_NOTHING})(typed)
    _exposed.add(name)


def allocating_nothing(cls: C) -> C:
    """Mark a named tuple of the lowest layer, whose methods allocate nothing and are called in every round."""
    _allocate_nothing.add(cls)
    expose_methods(cls)
    return cls


def expose_methods(cls: type) -> None:
    """Let compiled code call the methods of the named tuple `cls`, its own and inherited ones."""
    for base in cls.__mro__:
        for name, member in vars(base).items():
            is_plumbing = name.startswith("__") or name in ("_replace", "_asdict")
            if isinstance(member, FunctionType) and not is_plumbing and name not in _exposed:
                _expose(name)


def is_method_name(name: str) -> bool:
    """Tell whether compiled code takes `name` for a method, on whatever named tuple: a field so called is hidden."""
    return name in _exposed


def tuple_classes(value: Any) -> set[type]:
    """Collect the classes of all named tuples in `value`, which may be one and may hold more."""
    if not isinstance(value, tuple):
        return set()
    own = {type(value)} if hasattr(value, "_fields") else set()
    return own.union(*(tuple_classes(field) for field in value))


def machine_type(value: Any) -> Any:
    """Return what machine code for `value` depends on; equal for whatever the same code can be called with."""
    return type(value) if config.DISABLE_JIT else typeof(value)


class EntryPoint:
    """A compiled function that Python calls with policies and problems of any class.

    `entry.prepared(*values)` returns the function to call, `entry.compiled_for(*arguments)` its machine code,
    `entry.in_python` the function as it was written. Machine code is kept on disk only for classes of this package,
    whose sources the cache directory knows; a user's class is compiled afresh in every process.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.in_python = function
        self._kept, self._fresh = _compile(function), _compile(function)
        _keep_on_disk(self._kept)

    def prepared(self, *values: Any, compiled: bool = True) -> Callable[..., Any]:
        """Return the function for arguments such as `values`, ready to compile their methods, or as it was written."""
        if not compiled:
            return self.in_python
        classes: set[type] = set().union(*(tuple_classes(value) for value in values))
        for cls in classes:
            expose_methods(cls)
        return cast(Callable[..., Any], self._kept if all(map(is_ours, classes)) else self._fresh)

    def compiled_for(self, *arguments: Any) -> Callable[..., Any]:
        """Call the function with `arguments` and return its machine code, for arguments of exactly the same types.

        Numba looks up the types of all arguments in every call, which takes longer than a decision. Here nobody does:
        whoever calls the machine code must pass arguments of the same `machine_type`: arrays of the same numbers, axes
        and layout, a float where there was one.
        """
        function: Any = self.prepared(*arguments)
        function(*arguments)
        if config.DISABLE_JIT:
            return cast(Callable[..., Any], function)
        return cast(Callable[..., Any], function.overloads[tuple(map(machine_type, arguments))].entry_point)
