"""When to choose anything: exploration of a probability that shrinks, under epsilon-greedy choices by a model.

In round t of n the probability is min(1, epsilon sqrt(n / t)), so about 2 epsilon n rounds explore. Without a horizon
there is nothing to shrink from, and it stays epsilon.
"""

import math
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_number
from corebandit.randomness.stream import Stream


@allocating_nothing
class Epsilon(NamedTuple):
    """Which rounds explore. Make one with `new_epsilon`."""

    n_seen: IntArray  # (1,) rewards
    last: float  # the probability in the last round
    horizon: float  # 0: not known

    def levels(self, rng: Stream, scores: FloatArray) -> bool:
        """Draw whether the coming round explores, and tell; if so, give all rows the same score."""
        chance = self.last * math.sqrt(self.horizon / (self.n_seen[0] + 1)) if self.horizon > 0.0 else self.last
        if rng.random() >= chance:
            return False
        for arm in range(scores.size):
            scores[arm] = 0.0
        return True

    def count_reward(self) -> None:
        """Count a reward."""
        self.n_seen[0] += 1


def check_epsilon(epsilon: float) -> None:
    """Raise BadInput unless `epsilon` is a probability."""
    check_number("epsilon", epsilon, at_least=0, at_most=1)


def new_epsilon(epsilon: float, horizon: int | None) -> Epsilon:
    """Return exploration before any reward."""
    return Epsilon(np.zeros(1, np.int64), last=float(epsilon), horizon=float(horizon or 0))
