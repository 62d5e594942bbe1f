"""What every state is: a named tuple of arrays (what is learnt), scalars (the parameters) and further such tuples.

Because states are that plain, growing, extending and saving them is written once, here, for all policies. The one
rule an author keeps: along each axis of an array, what is added later comes *after* what is there. An axis may count
arms, or observations, or be of fixed length.

What a state has learnt changes in `update` (`learn` of rankings) and in the optional `prepare`, and nowhere else: so it
can be made again from what it was told. `score`, `rank` and `begin_round` may write into arrays that are declared as
`Scratch`: room to work in, which nothing depends on afterwards.
"""

from collections import deque
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import shortened

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SCRATCH = "scratch"
Scratch = Annotated[FloatArray, SCRATCH]  # what a field of a state is declared as that holds nothing learnt
IntScratch = Annotated[IntArray, SCRATCH]

CONTAINERS = (dict, list, set, bytearray, deque)

S = TypeVar("S", bound=tuple[Any, ...])


def arrays_of(state: Any) -> Iterator[NDArray[Any]]:
    """Yield the arrays of a state, in the order of its fields."""
    for field in state:
        if isinstance(field, np.ndarray):
            yield field
        elif isinstance(field, tuple):
            yield from arrays_of(field)


@cache
def scratch_of(cls: Any) -> frozenset[str]:
    """Return the fields of a state's class that are declared as scratch."""
    try:
        hints = get_type_hints(cls, include_extras=True)
    except Exception:  # annotations of others' code may name anything
        hints = {}
    return frozenset(name for name, hint in hints.items() if SCRATCH in getattr(hint, "__metadata__", ()))


def learnt_in(state: Any, path: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the arrays of a state that hold what was learnt, each with the path of its field."""
    cls: Any = type(state)
    scratch = scratch_of(cls)
    for name, value in zip(getattr(state, "_fields", range(len(state))), state, strict=True):
        if name in scratch:
            continue
        if isinstance(value, np.ndarray):
            yield f"{path}{name}", value
        elif isinstance(value, tuple):
            yield from learnt_in(value, f"{path}{name}.")


def one_of(many: S, index: int = 0) -> S:
    """Return one of many states or instances that are one, with an axis for them at the end of every array."""
    parts = (
        np.ascontiguousarray(field[..., index])
        if isinstance(field, np.ndarray)
        else one_of(field, index)
        if isinstance(field, tuple)
        else field
        for field in many
    )
    return type(many)(*parts)


def carry_over(old: Any, new: Any) -> None:
    """Copy what `old` has learnt into `new`, a fresh state of the same policy with room for more."""
    for source, target in zip(arrays_of(old), arrays_of(new), strict=True):
        target[tuple(slice(length) for length in source.shape)] = source


def check_named(name: str, state: Any) -> None:
    """Raise a BadInput unless a policy of this name starts as all do."""
    if not isinstance(state, tuple) or not hasattr(state, "_fields"):
        raise BadInput(f"{name}: start must return a NamedTuple, not {shortened(state)}")


def containers_in(state: Any) -> Iterator[str]:
    """Name what a state holds that may change and that `carry_over` leaves behind."""
    for name, value in zip(getattr(state, "_fields", ()), state, strict=False):
        if isinstance(value, CONTAINERS):
            yield f"{name} (a {type(value).__name__})"
        elif isinstance(value, tuple):
            yield from containers_in(value)
