r"""Greedy choices from a linear model: no exploration, the baseline of all that explore.

    index = x' theta^,   theta^ = G^-1 sum of x_l Y_l,   G = lam I + sum of x_l x_l'

Valid for any real rewards. With features that change by themselves being greedy can be enough (Bastani, Bayati and
Khosravi, 2021); with fixed ones it locks in on whatever looked best early.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.parts.ridge import Ridge, new_ridge, predict
from corebandit.randomness.stream import Stream


@allocating_nothing
class LinGreedyState(NamedTuple):
    """What the linear model has learnt."""

    ridge: Ridge

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the estimate of each row's reward."""
        predict(features, self.ridge.theta, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.ridge.add(x, reward, 1.0)


@dataclass(frozen=True)
class LinGreedy(FeaturePolicy):
    """Choose the best ridge estimate, always; `lam` is the ridge.

    >>> LinGreedy(lam=0.1).label
    'LinGreedy(lam=0.1)'
    """

    lam: float = 1.0

    def __post_init__(self) -> None:
        check_number("lam", self.lam, above=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LinGreedyState:
        """Return a state that has seen nothing."""
        return LinGreedyState(new_ridge(n_features, self.lam))
