r"""Epsilon-greedy choices from a linear model, exploring less and less (the baseline of Kveton et al., UAI 2019).

    index = x' theta^, or with probability min(1, epsilon sqrt(n / t)) the same for all rows

theta^ is the ridge estimate. Valid for any real rewards. A run of n rounds explores about 2 epsilon n times.

Where we differ: without a horizon n there is nothing to shrink from, and the probability stays epsilon.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.parts.epsilon import Epsilon, check_epsilon, new_epsilon
from corebandit.parts.ridge import Ridge, new_ridge, predict
from corebandit.randomness.stream import Stream


@allocating_nothing
class LinEpsilonGreedyState(NamedTuple):
    """What linear epsilon-greedy has learnt."""

    ridge: Ridge
    exploration: Epsilon

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the estimate of each row's reward, or, in a round of exploration, with zeros."""
        if not self.exploration.levels(rng, scores):
            predict(features, self.ridge.theta, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.ridge.add(x, reward, 1.0)
        self.exploration.count_reward()


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
        check_epsilon(self.epsilon)
        check_number("lam", self.lam, above=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LinEpsilonGreedyState:
        """Return a state that has seen nothing."""
        return LinEpsilonGreedyState(
            ridge=new_ridge(n_features, self.lam),
            exploration=new_epsilon(self.epsilon, horizon),
        )
