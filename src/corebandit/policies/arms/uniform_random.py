r"""Choosing uniformly at random: the floor that every policy must beat.

    index_i = 0

Valid for any rewards, as it looks at none.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.randomness.stream import Stream


@allocating_nothing
class UniformRandomState(NamedTuple):
    """Uniform choice learns nothing."""

    n_arms: int

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with zeros; ties are broken uniformly."""
        for arm in range(scores.size):
            scores[arm] = 0.0

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Ignore the reward."""


@dataclass(frozen=True)
class UniformRandom(Policy):
    """Choose any arm, each with the same probability.

    >>> UniformRandom().label
    'UniformRandom'
    """

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> UniformRandomState:
        """Return the state, which never changes."""
        return UniformRandomState(n_arms)
