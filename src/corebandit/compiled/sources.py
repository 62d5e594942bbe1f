"""What decides what a class or a function does. Machine code and stored results are kept under a fingerprint of it.

An edit below invalidates, an edit beside does not. Three kinds of code are told apart:

* ours: the file of a module counts, and those of the modules of ours that it imports;
* a library's: its version counts, and the date and size of the file;
* the user's: what is in memory counts, since that is what numba compiles: the code of functions and methods, their
  defaults and closures, and whatever they read of other modules, however deep. So no edit, reload or patch goes unseen.

What is none of these, and none of the plain values that code may hold, is unknown: nothing is kept of it.
"""

import dataclasses
import dis
import hashlib
import importlib
import re
import sys
import sysconfig
import time
import types
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from corebandit.contracts.public_names import BEGAN, OURS, is_ours

PACKAGE = Path(__file__).parents[__name__.count(".") - 1]
STANDARD = {Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib")}
INSTALLED = {"site-packages", "dist-packages"}

# Ours are imported as `from corebandit.room.module import name`; a test compares this with the syntax tree.
IMPORT = re.compile(rf"^ *from ({OURS}(?:\.\w+)*) import ", re.MULTILINE)

# What a class statement, NamedTuple and dataclass add by themselves.
MADE_BY_PYTHON = {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__orig_bases__"}
MADE_BY_PYTHON |= {"__firstlineno__", "__static_attributes__", "__dataclass_params__", "__dataclass_fields__"}
MADE_BY_PYTHON |= {"__abstractmethods__", "_abc_impl", "__match_args__", "__parameters__"}
SLOTS = {"member_descriptor", "getset_descriptor", "_tuplegetter"}  # where classes keep their fields


class UnknownSource(Exception):
    """What decides what some code does cannot be told."""


def fingerprint(definitions: Iterable[Any]) -> str:
    """Identify what decides what classes and functions do, or raise UnknownSource."""
    reading = _Reading()
    # In an order that is the same in every process, since what comes again is said by its number.
    said = [
        reading.of(definition) for definition in sorted(definitions, key=lambda one: (one.__module__, one.__qualname__))
    ]
    ours = sorted((module, _own(module)[0]) for module in modules_below(*reading.ours))
    return hashlib.sha256(repr((said, sorted(reading.libraries), ours)).encode()).hexdigest()


def modules_below(*modules: str) -> set[str]:
    """Return the modules of ours that these stand on, themselves included."""
    found: set[str] = set()
    waiting = set(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.update(_own(module)[1])
    return found


@cache
def _own(module: str) -> tuple[str, frozenset[str]]:
    """Return the digest and the imports of a module of this package, which is as it was when it was imported."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    try:
        status, text = path.stat(), path.read_bytes()
    except OSError as error:
        raise UnknownSource(module) from error
    # A date may be set to anything, also in the future; when the file was last touched may not.
    if status.st_ctime > BEGAN or BEGAN < status.st_mtime <= time.time():
        raise UnknownSource(module)
    return hashlib.sha256(text).hexdigest(), frozenset(IMPORT.findall(text.decode()))


def library_of(module: str) -> str | None:
    """Return what identifies the library that a module is of, None if it is the user's."""
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None)
    if file is None:  # built in, or a folder of modules, or typed in by hand
        origin = getattr(getattr(loaded, "__spec__", None), "origin", None)
        return "" if origin in ("built-in", "frozen") or module in sys.builtin_module_names else None
    path = Path(file).resolve()
    if INSTALLED & set(path.parts):
        version = getattr(sys.modules.get(module.partition(".")[0]), "__version__", None)
        try:
            status = path.stat()
        except OSError as error:
            raise UnknownSource(module) from error
        return f"{module} {version} {status.st_size} {status.st_mtime_ns}"
    return "" if any(path.is_relative_to(folder) for folder in STANDARD) else None


class _Reading:
    """Says what classes, functions and values are made of, and remembers the modules of ours and libraries it met."""

    def __init__(self) -> None:
        self.ours: set[str] = set()
        self.libraries: set[str] = set()
        self._known: dict[int, int] = {}  # what was met, by identity, and as how many-th
        self._kept: list[Any] = []  # so that no identity is used twice

    def of(self, value: Any) -> str:
        if value is None or value is Ellipsis or isinstance(value, bool | int | float | complex | str | bytes):
            return repr(value)
        if isinstance(value, np.generic):
            return f"{value.dtype} {value!r}"
        if isinstance(value, np.ndarray) and value.dtype != object:
            return f"{value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
        if id(value) in self._known:
            return f"as {self._known[id(value)]}"
        self._known[id(value)] = len(self._known)
        self._kept.append(value)
        return self._parts(value)

    def _parts(self, value: Any) -> str:
        if isinstance(value, types.ModuleType):
            return self._module(value.__name__) or value.__name__
        if isinstance(value, type):
            return self._class(value)
        function = getattr(value, "py_func", value)  # of a function that numba compiles
        if isinstance(function, types.FunctionType):
            return self._function(function)
        if isinstance(value, staticmethod | classmethod):
            return self.of(value.__func__)
        if isinstance(value, property):
            return self._all((value.fget, value.fset))
        if isinstance(value, types.CodeType):
            return self._code(value)
        if type(value) in (tuple, list) or (isinstance(value, tuple) and hasattr(value, "_fields")):
            return f"{self.of(type(value))}{self._all(value)}"
        if type(value) in (set, frozenset):
            return f"{{{', '.join(sorted(map(self.of, value)))}}}"
        if type(value) in (dict, types.MappingProxyType):
            return _listed(f"{self.of(key)}: {self.of(item)}" for key, item in value.items())
        if type(value).__name__ in SLOTS:
            return type(value).__name__
        if self._is_of_a_library(value):
            return str(getattr(value, "__qualname__", None) or value.__name__)
        if hasattr(value, "__dataclass_fields__"):
            return f"{self.of(type(value))} {self.of(dict(vars(value)))}"
        raise UnknownSource(f"a {type(value).__name__}")

    def _is_of_a_library(self, value: Any) -> bool:
        """Tell whether a value is a function that is not Python's, of a library and bound to nothing."""
        if isinstance(value, np.ufunc):
            return True
        owner, module = getattr(value, "__self__", None), getattr(value, "__module__", None)
        if not callable(value) or not isinstance(getattr(value, "__qualname__", None), str):
            return False
        is_bound = owner is not None and not isinstance(owner, type | types.ModuleType)
        return not is_bound and (module is None or (isinstance(module, str) and self._module(module) is not None))

    def _all(self, values: Iterable[Any]) -> str:
        return _listed(map(self.of, values))

    def _module(self, module: str) -> str | None:
        """Note a module of ours or of a library, and say so; None if it is the user's."""
        if is_ours(module):
            self.ours.add(module)
            return module
        library = "" if module == "builtins" else library_of(module)
        if library:
            self.libraries.add(library)
        return library

    def _class(self, cls: type) -> str:
        path = f"{cls.__module__}.{cls.__qualname__}"
        if self._module(cls.__module__) is not None and is_found_by_its_name(cls):
            return path
        members = {name: member for name, member in vars(cls).items() if name not in MADE_BY_PYTHON}
        if "__dataclass_fields__" in vars(cls):
            members = {name: member for name, member in members.items() if not _is_made_by_dataclass(member)}
            for field in vars(cls)["__dataclass_fields__"].values():
                members[f"{field.name}, a field"] = [
                    value for value in (field.default, field.default_factory) if value is not dataclasses.MISSING
                ]
        said = _listed(f"{name}: {self.of(members[name])}" for name in sorted(members))
        return f"{path} {self._all(cls.__mro__[1:])} {said}"

    def _function(self, function: types.FunctionType) -> str:
        path = f"{function.__module__}.{function.__qualname__}"
        module = str(function.__module__)
        is_whole = "<locals>" not in function.__qualname__  # else it may hold anything
        if self._module(module) is not None and is_whole:
            return path
        cells = [_content(cell) for cell in function.__closure__ or ()]
        defaults = [function.__defaults__, function.__kwdefaults__, cells]
        return f"{path} {self.of(function.__code__)} {self._all(defaults)} {self._globals(function)}"

    def _code(self, code: types.CodeType) -> str:
        """Say what code does, wherever it stands in which file."""
        shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_varnames)
        return f"{shape} {code.co_code.hex()} {code.co_names} {self._all(code.co_consts)}"

    def _globals(self, function: types.FunctionType) -> str:
        """Say what a function reads of its module and, through that, of others."""
        names, imported = _names_in(function.__code__)
        said = []
        for name in sorted(names & set(function.__globals__)):
            value = function.__globals__[name]
            said.append(f"{name}: {self._read_of_module(value, names) if _is_users_module(value) else self.of(value)}")
        for module in sorted(imported):
            said.append(f"{module}: {self._imported(function, module)}")
        return _listed(said)

    def _read_of_module(self, module: types.ModuleType, names: set[str]) -> str:
        read = sorted(names & set(vars(module)))
        return f"{module.__name__} {_listed(f'{name}: {self.of(vars(module)[name])}' for name in read)}"

    def _imported(self, function: types.FunctionType, module: str) -> str:
        """Say what a function imports when it runs: all that a user's module holds, since it may read any of it."""
        package = function.__globals__.get("__package__") or ""
        try:
            loaded = importlib.import_module(module, package)
        except Exception as error:
            raise UnknownSource(module) from error
        if (said := self._module(loaded.__name__)) is not None:
            return said
        return self._read_of_module(loaded, {name for name in vars(loaded) if not name.startswith("__")})


def _listed(said: Iterable[str]) -> str:
    return f"[{', '.join(said)}]"


def _names_in(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Return the names that code and what is nested in it reads, and the modules that it imports."""
    names, imported = set(code.co_names), set()
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            imported.add(str(instruction.argval))
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            more, further = _names_in(inner)
            names |= more
            imported |= further
    return names, imported


def _is_users_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and not is_ours(value.__name__) and library_of(value.__name__) is None


def _found(module: str, name: str) -> Any:
    """Return what a name stands for in a module, or None."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def is_found_by_its_name(definition: Any) -> bool:
    """Tell whether a class is the one that its module holds; those made within functions may have many of a name."""
    return _found(definition.__module__, definition.__qualname__) is definition


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was assigned yet
        return "nothing yet"


def _is_made_by_dataclass(member: Any) -> bool:
    """Tell whether a method is one that the decorator has written: its fields say it all."""
    file = str(getattr(getattr(member, "__code__", None), "co_filename", ""))
    return file == "<string>" or Path(file).name in ("dataclasses.py", "reprlib.py")
