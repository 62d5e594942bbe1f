"""The instances of many runs as a few arrays: what an engine works on that plays many runs at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corebandit.contracts.recipe import Problem
from corebandit.contracts.state import one_of
from corebandit.games.kinds import game_of
from corebandit.randomness.bits import Words
from corebandit.randomness.stream import Stream


class NotAlike(Exception):
    """Instances cannot be stacked; the message says why."""


@dataclass(frozen=True)
class Leaf:
    """One array or number of every instance: one value for all, or an array with an axis for them at the end."""

    value: Any
    is_shared: bool

    def of(self, index: int) -> Any:
        """Return that of one instance, which is a number if it is a number of each."""
        if self.is_shared:
            return self.value
        own = self.value[..., index]
        return np.ascontiguousarray(own) if own.ndim else own.item()


@dataclass(frozen=True)
class Stacked:
    """Instances of one problem that differ only in what their arrays and numbers hold."""

    example: Any  # the first of them
    leaves: Sequence[Leaf]  # in the order of the fields, however deep


def stacked(problem: Problem, words: Words) -> Stacked:
    """Return an instance of a problem for each of many streams, which are used up, or raise NotAlike."""
    many = problem.draw_many(words) if _draws_many(problem) else None
    if many is not None:
        return Stacked(one_of(many), [Leaf(value, not isinstance(value, np.ndarray)) for value in leaves_of(many)])
    instances = [problem.draw(Stream(row)) for row in words]
    if len({(_shape(instance), _sizes(instance)) for instance in instances}) > 1:
        raise NotAlike(f"the instances of {problem.label} are of different sizes or classes")
    if share_memory(instances[0]):
        raise NotAlike(f"two arrays of an instance of {problem.label} are one")
    return Stacked(instances[0], [_leaf(values) for values in zip(*map(leaves_of, instances), strict=True)])


def leaves_of(value: Any) -> Iterator[Any]:
    """Yield the arrays and numbers of nested tuples, in the order of their fields."""
    for part in value:
        if isinstance(part, tuple):
            yield from leaves_of(part)
        else:
            yield part


def rebuilt(example: Any, make: Callable[[Any], Any]) -> Any:
    """Return nested tuples like `example`, with what `make` makes of each array and number."""
    parts = [rebuilt(part, make) if isinstance(part, tuple) else make(part) for part in example]
    return type(example)(*parts) if hasattr(example, "_fields") else tuple(parts)


def _draws_many(problem: Problem) -> bool:
    """Tell whether `draw_many` is of the class that `draw` is of: a subclass with a `draw` of its own draws by that."""
    owners = [next(cls for cls in type(problem).__mro__ if name in vars(cls)) for name in ("draw", "draw_many")]
    return owners[0] is owners[1]


def share_memory(value: Any) -> bool:
    """Tell whether any two arrays of nested tuples are one, or overlap: as copies they would drift apart."""
    arrays = [leaf for leaf in leaves_of(value) if isinstance(leaf, np.ndarray) and leaf.flags.writeable]
    return any(
        np.may_share_memory(one, other) and np.shares_memory(one, other)
        for place, one in enumerate(arrays)
        for other in arrays[:place]
    )


def _sizes(instance: Any) -> Any:
    """Return what decides how much room a run needs, which an instance may keep in a number."""
    game = game_of(instance)
    return game.sizes(instance), game.choices(instance)


def _shape(value: Any) -> Any:
    if isinstance(value, tuple):
        return (type(value), *map(_shape, value))
    return (value.dtype, value.shape) if isinstance(value, np.ndarray) else type(value)


def _leaf(values: Sequence[Any]) -> Leaf:
    """Return one array or number of every instance.

    An array is one for all only if it is the very same: then nobody writes to it, for threads would share it too.
    """
    first = values[0]
    if isinstance(first, np.ndarray):
        is_shared = all(value is first for value in values)
        return Leaf(first if is_shared else np.stack(values, axis=-1), is_shared)
    is_shared = all(value == first for value in values)
    return Leaf(first if is_shared else _in_a_row(values), is_shared)


def _in_a_row(values: Sequence[Any]) -> NDArray[Any]:
    row = np.array(values)
    if row.dtype.kind not in "biuf":
        raise NotAlike(f"instances hold a {type(values[0]).__name__} that is no number")
    return row
