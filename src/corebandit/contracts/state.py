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
from corebandit.contracts.public_names import is_ours
from corebandit.contracts.validate import shortened

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEARNING = (dict, list, set, bytearray, deque)  # what may well hold what was learnt, and is left behind

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


class CannotBeCarried(BadInput):
    """A state has something that is neither learnt in arrays nor a parameter."""


def check_carried(name: str, state: Any) -> None:
    """Raise CannotBeCarried if a policy of this name seems to learn something that `carry_over` leaves behind.

    Other objects are taken for parameters; those of ours are made again from arrays.
    """
    if not isinstance(state, tuple):
        raise CannotBeCarried(f"{name}: start must return a NamedTuple, not {shortened(state)}")
    for field, value in zip(getattr(state, "_fields", map(str, range(len(state)))), state, strict=True):
        if isinstance(value, tuple):
            check_carried(name, value)
        elif isinstance(value, LEARNING) or (hasattr(value, "fit") and not is_ours(type(value).__module__)):
            raise CannotBeCarried(
                f"{name} keeps a {type(value).__name__} in its state, {field}, which an agent could neither grow nor "
                "save: keep what is learnt in arrays, or play it in experiments alone"
            )
