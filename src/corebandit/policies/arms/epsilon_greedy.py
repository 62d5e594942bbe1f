r"""Epsilon-greedy (Sutton and Barto, 1998).

    index_i = S_i / N_i, or with probability epsilon the same for all

Valid for any real rewards. By default epsilon = min(1, n_arms / sqrt(n)) for n rounds, as in the code of CORe's
authors; without a horizon the current round takes the place of n.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.randomness.stream import Stream


@allocating_nothing
class EpsilonGreedyState(NamedTuple):
    """What epsilon-greedy has learnt."""

    counts: FloatArray  # (n_arms,) pulls
    sums: FloatArray  # (n_arms,) total reward
    epsilon: float  # negative: n_arms / sqrt(current round)

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the mean rewards, or, in a round of exploration, with zeros."""
        chance = self.epsilon if self.epsilon >= 0.0 else self.counts.size / math.sqrt(1.0 + self.counts.sum())
        explores = rng.random() < chance
        for arm in range(scores.size):
            n = self.counts[arm]
            if explores:
                scores[arm] = 0.0
            else:
                scores[arm] = np.inf if n == 0.0 else self.sums[arm] / n

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        self.sums[arm] += reward


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """Choose any arm with probability epsilon, otherwise the best mean; an epsilon of None adapts to the horizon.

    >>> EpsilonGreedy(epsilon=0.1).label
    'EpsilonGreedy(epsilon=0.1)'
    """

    epsilon: float | None = None

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            check_number("epsilon", self.epsilon, at_least=0, at_most=1)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> EpsilonGreedyState:
        """Return a state that has seen nothing."""
        epsilon = -1.0
        if self.epsilon is not None:
            epsilon = float(self.epsilon)
        elif horizon is not None:
            epsilon = min(1.0, n_arms / math.sqrt(horizon))
        return EpsilonGreedyState(np.zeros(n_arms), np.zeros(n_arms), epsilon)
