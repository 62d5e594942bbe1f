r"""Epsilon-greedy choices from a linear model, exploring less and less (the baseline of Kveton et al., UAI 2019).

    index = x' theta^, or with probability min(1, epsilon sqrt(n / t)) the same for all rows

theta^ is the ridge estimate. Valid for any real rewards. A run of n rounds explores about 2 epsilon n times.

Where we differ: without a horizon n there is nothing to shrink from, and the probability stays epsilon.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, inlined
from corebandit.contracts.audit import check_total
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_number
from corebandit.parts.ridge import Ridge, new_ridge, predict
from corebandit.randomness.stream import Stream


@inlined
def exploration_chance(epsilon: float, current_round: int, horizon: float) -> float:
    """Return how likely a round is to explore; a horizon of 0 is not known."""
    return epsilon * math.sqrt(horizon / current_round) if horizon > 0.0 else epsilon


@allocating_nothing
class LinEpsilonGreedyState(NamedTuple):
    """What linear epsilon-greedy has learnt."""

    ridge: Ridge
    n_seen: IntArray  # (1,) rewards
    epsilon: float
    horizon: float  # 0: not known

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the estimate of each row's reward, or, in a round of exploration, with zeros."""
        if rng.random() < exploration_chance(self.epsilon, self.n_seen[0] + 1, self.horizon):
            for arm in range(scores.size):
                scores[arm] = 0.0
        else:
            predict(features, self.ridge.theta, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.ridge.add(x, reward, 1.0)
        self.n_seen[0] += 1

    def audit(self, fresh: Self, seen: range) -> None:
        """Raise a DamagedFile unless these numbers could have come from learning."""
        self.ridge.audit(fresh.ridge)
        check_total("rewards", int(self.n_seen[0]), seen)


@dataclass(frozen=True)
class LinEpsilonGreedy(FeaturePolicy):
    """Choose any row with probability epsilon sqrt(horizon / round), otherwise the best ridge estimate.

    Parameters
    ----------
    epsilon
        The probability in the last round, and in every round if nobody knows the horizon.
    lam
        Ridge of the regression.

    >>> LinEpsilonGreedy(epsilon=0.1).label
    'LinEpsilonGreedy(epsilon=0.1)'
    """

    epsilon: float = 0.025
    lam: float = 1.0

    def __post_init__(self) -> None:
        """Validate."""
        check_number("epsilon", self.epsilon, at_least=0, at_most=1)
        check_number("lam", self.lam, above=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LinEpsilonGreedyState:
        """Return a state that has seen nothing."""
        return LinEpsilonGreedyState(
            ridge=new_ridge(n_features, self.lam),
            n_seen=np.zeros(1, np.int64),
            epsilon=float(self.epsilon),
            horizon=float(horizon or 0),
        )
