"""What every state is: a named tuple of arrays (what is learnt), scalars (the parameters) and further such tuples.

Because states are that plain, growing, extending and saving them is written once, here, for all policies. The one
rule an author keeps: along each axis of an array, what is added later comes *after* what is there. An axis may count
arms, or observations, or be of fixed length.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import shortened

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CONTAINERS = (dict, list, set, bytearray, deque)  # that may hold what was learnt
COMPARED = (set, bytearray, bytes, str, int, float, type(None))

S = TypeVar("S", bound=tuple[Any, ...])


def arrays_of(state: Any) -> Iterator[NDArray[Any]]:
    """Yield the arrays of a state, in the order of its fields."""
    for field in state:
        if isinstance(field, np.ndarray):
            yield field
        elif isinstance(field, tuple):
            yield from arrays_of(field)


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


class CannotBeCarried(BadInput):
    """A state has learnt something elsewhere than in arrays."""


def check_carried(name: str, state: Any, fresh: Any) -> None:
    """Raise CannotBeCarried if a state has learnt what `carry_over` leaves behind.

    It has if a container is not as in a `fresh` state of the same size. Other objects are taken for parameters, or made
    again from arrays.
    """
    names = getattr(state, "_fields", map(str, range(len(state))))
    for field, value, before in zip(names, state, fresh, strict=True):
        if isinstance(value, tuple):
            check_carried(name, value, before)
        elif isinstance(value, CONTAINERS) and _differ(value, before):
            raise CannotBeCarried(
                f"{name} has learnt something in {field}, a {type(value).__name__} in its state, which an agent could "
                "neither grow nor save: keep what is learnt in arrays, or play it in experiments alone"
            )


def _differ(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return True
    if isinstance(one, dict):
        return one.keys() != other.keys() or any(_differ(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple | deque):
        return len(one) != len(other) or any(map(_differ, one, other))
    if isinstance(one, np.ndarray):
        return not np.array_equal(one, other)
    return isinstance(one, COMPARED) and bool(one != other)
