"""Run plain Python classes compiled: the only module that knows numba's extension API.

Two things live here; `machine_code` keeps what they compile.

* `kernel` compiles a function.
* The *method bridge* lets compiled code call the methods of any `NamedTuple`: a policy is an ordinary class, and
  `state.score(rng, scores)` inside a compiled loop is resolved, by type, to that class's own method.
"""

import inspect
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import extending, types
from numba.core.errors import NumbaError, TypingError
from numba.core.typing import templates

from corebandit.compiled.explanation import explained
from corebandit.compiled.machine_code import is_missing, keep_on_disk
from corebandit.contracts.errors import BadInput
from corebandit.contracts.public_names import is_ours

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

# Numba has few types, and fills some modules at run time, unseen by type checkers.
config: Any = numba.config
typeof: Any = numba.typeof
infer_getattr: Any = extending.infer_getattr
lower_builtin: Any = extending.lower_builtin
register_jitable: Any = extending.register_jitable
AttributeTemplate: Any = templates.AttributeTemplate
CallTemplate: Any = templates.AbstractTemplate
Dispatcher: Any = types.Dispatcher
ANY_ARGUMENTS: Any = types.VarArg(types.Any)


# A function compiled from inside another inherits its options where it sets none, so machine code would depend on who
# called first: set them all.
OPTIONS = {
    "forceinline": False,
    "fastmath": False,
    "_nrt": True,
    "boundscheck": False,
    "no_cpython_wrapper": False,
    "no_cfunc_wrapper": False,
}

# Python never calls a method's machine code, so there is no need to compile a way in.
_FROM_COMPILED_CODE_ONLY = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    if config.DISABLE_JIT:
        # In compiled code integers wrap around and inf * 0 is NaN without a word; NumPy would warn of both.
        return np.errstate(over="ignore", invalid="ignore")(function)
    return numba.njit(nogil=True, **{**OPTIONS, **options})(function)


# The lowest layer allocates nothing, so its reference counts (two atomic operations for every array passed on) are
# left out: a normal draw takes 3.5 ns instead of 8, a binomial of 60 trials 1 instead of 18.
_ALLOCATES_NOTHING = {"_nrt": False}


def kernel(function: F) -> F:
    """Compile `function`, which must allocate nothing, and keep the machine code on disk."""
    dispatcher = _compile(function, **_ALLOCATES_NOTHING)
    keep_on_disk(dispatcher)
    return cast(F, dispatcher)


def kernel_reassociated(function: F) -> F:
    """Compile as `kernel` does, and let sums be added up in any order: faster, the last digits may differ."""
    dispatcher = _compile(function, fastmath={"reassoc", "nsz"}, **_ALLOCATES_NOTHING)
    keep_on_disk(dispatcher)
    return cast(F, dispatcher)


def inlined(function: F) -> F:
    """Compile `function`, which must allocate nothing, into whatever calls it."""
    return cast(F, _compile(function, forceinline=True, **_ALLOCATES_NOTHING))


def loop_body(function: F) -> F:
    """Let compiled code compile `function` into itself; Python, and a GPU, have it as it was written.

    An entry point is a few lines around one, and must run in plain Python too.
    """
    return cast(F, register_jitable(nogil=True, **{**OPTIONS, "forceinline": True})(function))


# The method bridge ------------------------------------------------------------------------------------------------

_MARK = "__allocates_nothing__"


def allocating_nothing(cls: C) -> C:
    """Mark a named tuple of the lowest layer, whose methods allocate nothing and are called in every round."""
    # In the class itself, as its methods are: so the fingerprint of machine code on disk counts the mark too.
    setattr(cls, _MARK, True)
    return cls


def _is_marked(cls: type) -> bool:
    return _MARK in vars(cls)  # not inherited: the methods of a class derived from a marked one may allocate


def _needs_no_counts(value: Any) -> bool:
    """Tell whether a value is made of numbers, arrays and marked classes alone, however deep.

    Whoever calls holds its arrays. A string, a list or a generator takes references when it comes in, even if nothing
    allocates: without counts they are never given back, or it does not come in at all.
    """
    if isinstance(value, tuple):
        return _is_marked(type(value)) and all(map(_needs_no_counts, value))
    return isinstance(value, np.ndarray | int | float | np.number | np.bool_)


@infer_getattr
class Methods(AttributeTemplate):
    """What compiled code finds in a named tuple besides its fields, which numba knows: the methods of its class.

    Numba's `overload_method` would be shorter, but it wraps each method in a function that is compiled too, with all
    that the method calls: everything then takes half as long again to compile.
    """

    key = types.BaseNamedTuple

    def generic_resolve(self, instance: Any, name: str) -> Any:
        """Return the type of `instance.name`, or None if there is no such method."""
        cls = instance.instance_class
        if name in instance.fields or not isinstance(inspect.getattr_static(cls, name, None), FunctionType):
            return None
        return types.BoundFunction(_method(cls, name), instance)


@cache
def _method(cls: type, name: str) -> type:
    """Return how numba finds the type of a call of this method, and tell it how to compile the call."""
    if getattr(cls, name).__code__.co_kwonlyargcount:
        raise TypingError(f"{cls.__name__}.{name} has parameters after *, which numba mixes up: leave out the *")
    # Code that is not ours may write past an array's end in any round, and then into whatever lies there.
    options = {"_nrt": not _is_marked(cls), "boundscheck": not is_ours(cls.__module__)}
    method = _compile(getattr(cls, name), forceinline=True, **options, **_FROM_COMPILED_CODE_ONLY)

    class Method(CallTemplate):
        key = (cls, name)

        def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            return Dispatcher(method).get_call_type(self.context, (self.this, *args), kws).as_method()

    @lower_builtin(Method.key, types.BaseNamedTuple, ANY_ARGUMENTS)
    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        compiled = context.get_function(Dispatcher(method), signature)
        context.add_linking_libs(compiled.libs)
        return compiled(builder, args)

    return Method


def machine_type(value: Any) -> Any:
    """Return what machine code for `value` depends on; equal for whatever the same code can be called with."""
    return type(value) if config.DISABLE_JIT else typeof(value)


def _is_of_ours(value: Any) -> bool:
    """Tell whether nothing in a value is of a class that is neither ours nor one of Python's or NumPy's."""
    if isinstance(value, tuple) and not all(map(_is_of_ours, value)):
        return False
    module = type(value).__module__
    return is_ours(module) or module in ("builtins", "numpy")


def _kind(value: Any) -> Any:
    """Return what decides the `machine_type` of a value, which takes twenty times as long to find out; None if unsure.

    Only values that are told apart by what is looked at here may have a kind.
    """
    cls = type(value)
    if cls is np.ndarray:
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.aligned, flags.writeable
    if isinstance(value, tuple):
        kinds = tuple(map(_kind, value))
        return None if None in kinds else (cls, kinds)
    if cls is int:
        return cls if -(2**63) <= value < 2**63 else None
    return cls if cls in (float, bool) or issubclass(cls, np.number | np.bool_) else None


class CannotBeCompiled(BadInput):
    """The end of a sentence that says why not; its subject is what was to be compiled."""


class EntryPoint:
    """A compiled function that Python calls with policies and problems of any class.

    `entry.compiled` is the function to call, `entry.compiled_for(*arguments)` its machine code, `entry.in_python` the
    function as it was written.

    Numba's own way in tells classes apart by their names and the types of their fields, and would call the machine code
    of one `State` with another one from another file. So types are looked up here, classes and all.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.in_python = function
        self.dispatcher: Any = _compile(function)
        self._without_counts: Any = None
        keep_on_disk(self.dispatcher)
        self._found: dict[Any, Callable[..., Any]] = {}  # machine code by the kinds of its arguments

    @classmethod
    def allocating_nothing(cls, function: Callable[..., Any]) -> "EntryPoint":
        """Compile a function that allocates nothing, without reference counts for arguments that need none.

        Else each array of a state that comes in is given a counter, and these take as long as a decision.
        """
        entry = cls(function)
        entry._without_counts = _compile(function, **_ALLOCATES_NOTHING)
        keep_on_disk(entry._without_counts)
        return entry

    def dispatcher_for(self, *arguments: Any) -> Any:
        """Return what compiles for `arguments`: with reference counts, unless nothing in them needs any."""
        lean = self._without_counts
        return lean if lean is not None and all(map(_needs_no_counts, arguments)) else self.dispatcher

    def compiled(self, *arguments: Any) -> Any:
        """Call the machine code for `arguments`, which is compiled or loaded the first time."""
        return self.compiled_for(*arguments)(*arguments)

    def prepared(self, *, compiled: bool) -> Callable[..., Any]:
        """Return the function, compiled or as it was written."""
        return self.compiled if compiled else self.in_python

    def is_compiled_for(self, *arguments: Any) -> bool:
        """Tell whether this process has the machine code for `arguments`."""
        known = self.dispatcher_for(*arguments)
        return bool(config.DISABLE_JIT) or tuple(map(machine_type, arguments)) in known.overloads

    def is_still_to_compile_for(self, *arguments: Any) -> bool:
        """Tell whether machine code for `arguments` is to be kept on disk, but no process has compiled it."""
        if self.is_compiled_for(*arguments):
            return False
        return is_missing(self.dispatcher_for(*arguments), tuple(map(machine_type, arguments)))

    def compiled_for(self, *arguments: Any) -> Callable[..., Any]:
        """Return the machine code for arguments of exactly the types of these.

        Looking up the types of all arguments in every call takes longer than a decision. Whoever calls the machine code
        itself must pass arguments of the same `machine_type`: arrays of the same numbers, axes and layout, a float
        where there was one. Raises CannotBeCompiled.
        """
        if config.DISABLE_JIT:
            return cast(Callable[..., Any], self.dispatcher)
        kind = _kind(arguments)
        if kind is None or (found := self._found.get(kind)) is None:
            try:
                dispatcher, types = self.dispatcher_for(*arguments), tuple(map(machine_type, arguments))
                if types not in dispatcher.overloads:
                    dispatcher.compile(types)
            except Exception as error:
                # Of what it has never met numba says it in all sorts of ways.
                if isinstance(error, NumbaError) or not all(map(_is_of_ours, arguments)):
                    raise CannotBeCompiled(explained(error)) from error
                raise
            found = cast(Callable[..., Any], dispatcher.overloads[types].entry_point)
            if kind is not None:
                self._found[kind] = found
        return found
