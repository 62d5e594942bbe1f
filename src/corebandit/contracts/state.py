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
PLAIN = (bytearray, bytes, str, int, float, complex, np.generic, type(None))

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


def left_behind(state: Any, fresh: Any) -> str:
    """Name what a state has learnt where `carry_over` does not look, if it has: in a container.

    It has if that is not as in a `fresh` state of the same size. Other objects are taken for parameters, or made again
    from arrays.
    """
    names = getattr(state, "_fields", map(str, range(len(state))))
    for field, value, before in zip(names, state, fresh, strict=False):
        if isinstance(value, tuple) and isinstance(before, tuple):
            if inner := left_behind(value, before):
                return inner
        elif isinstance(value, CONTAINERS) and _differs(value, before):
            return f"{field}, a {type(value).__name__}"
    return ""


def has_containers(state: Any) -> bool:
    """Tell whether a state holds something in containers."""
    return any(
        has_containers(field) if isinstance(field, tuple) else isinstance(field, CONTAINERS) and len(field) > 0
        for field in state
    )


def _differs(one: Any, other: Any) -> bool:
    """Tell whether plain values differ; of other objects nobody knows what makes them the same, so they do not."""
    try:
        return type(one) is not type(other) or _differs_within(one, other)
    except RecursionError:  # what contains itself
        return False


def _differs_within(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return len(one) != len(other) or any(
            key not in other or _differs(value, other[key]) for key, value in one.items() if isinstance(key, PLAIN)
        )
    if isinstance(one, set | frozenset):
        return len(one) != len(other) or any(item not in other for item in one if isinstance(item, PLAIN))
    if isinstance(one, list | tuple | deque):
        return len(one) != len(other) or any(map(_differs, one, other))
    if isinstance(one, np.ndarray) and one.dtype != object:
        return bool(one.shape != other.shape or one.tobytes() != other.tobytes())
    if isinstance(one, PLAIN):
        return bool(one != other and (one == one or other == other))  # NaN is not itself
    return False
