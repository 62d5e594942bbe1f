"""Counts and sums of rewards, by arm: all that an index of counts and means is computed from."""

from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray


@allocating_nothing
class Tally(NamedTuple):
    """How often each arm was chosen, and what it paid in all. Make one with `new_tally`."""

    counts: FloatArray  # (n_arms,) pulls
    sums: FloatArray  # (n_arms,) total reward

    def push(self, arm: int, reward: float) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        self.sums[arm] += reward

    def total(self) -> float:
        """Return how many rewards there were."""
        total = 0.0
        for count in self.counts:
            total += count
        return total

    def best_mean(self) -> float:
        """Return the largest mean reward; -inf if there is none."""
        best = -np.inf
        for arm in range(self.counts.size):
            if self.counts[arm] > 0.0:
                best = max(best, self.sums[arm] / self.counts[arm])
        return best


def new_tally(n_arms: int) -> Tally:
    """Return a tally of nothing."""
    return Tally(np.zeros(n_arms), np.zeros(n_arms))
