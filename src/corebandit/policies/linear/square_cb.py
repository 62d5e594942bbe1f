r"""SquareCB: inverse gap weighting around a regression (Foster and Rakhlin, ICML 2020).

    p_i = 1 / (K + gamma (y_best - y_i)) for all rows but the best, which has the rest,   y = x' theta^

for K rows. theta^ is the ridge estimate, as the oracle. In theory gamma is the root of K n over the regret that the
oracle has in n rounds, which is of order d ln n for a linear model and rewards in [0, 1]:

    gamma = scale sqrt(K n / (d ln(1 + n)))

`fill_propensities` of its state gives the probabilities exactly, so what it chose can be evaluated without draws. A row
is drawn as the smallest E_i / p_i, E_i standard exponential: where some are not on offer, the rest keep their
proportions.

Where we differ: rows that are equally good share what is left; without a horizon the current round takes the place of
n, so that gamma grows like the root of the round, as in Vowpal Wabbit, whose default is 10 times that root. Rewards may
be any, but gamma is for a range of about 1: for another width divide `scale` by it.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_number
from corebandit.parts.ridge import Ridge, new_ridge, predict
from corebandit.randomness.stream import Stream

SMALLEST = 1e-300  # probability that is not zero yet


@allocating_nothing
class SquareCBState(NamedTuple):
    """What SquareCB has learnt."""

    ridge: Ridge
    seen: IntArray  # (1,) rewards
    scale: float
    horizon: float  # 0: not known

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` so that each row's is the highest with its probability."""
        self.fill_propensities(features, scores)
        for row in range(scores.size):
            scores[row] = -rng.standard_exponential() / max(scores[row], SMALLEST)

    def fill_propensities(self, features: FloatArray, propensities: FloatArray) -> None:
        """Fill `propensities` with the probability of each row of `features`, if all are on offer."""
        n_rows, gamma = propensities.size, self.gamma(propensities.size)
        predict(features, self.ridge.theta, propensities)
        best, n_best = propensities[0], 0
        for row in range(n_rows):
            best = max(best, propensities[row])
        left = 1.0
        for row in range(n_rows):
            if propensities[row] == best:
                n_best += 1
                propensities[row] = -1.0
            else:
                propensities[row] = 1.0 / (n_rows + gamma * (best - propensities[row]))
                left -= propensities[row]
        for row in range(n_rows):
            if propensities[row] == -1.0:
                propensities[row] = left / n_best

    def gamma(self, n_rows: int) -> float:
        """Return how much a gap counts."""
        n_rounds = self.horizon if self.horizon > 0.0 else self.seen[0] + 1.0
        return self.scale * math.sqrt(n_rows * n_rounds / (self.ridge.theta.size * math.log(1.0 + n_rounds)))

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.ridge.add(x, reward, 1.0)
        self.seen[0] += 1


@dataclass(frozen=True)
class SquareCB(FeaturePolicy):
    """Choose with probabilities in closed form, inversely to how far a ridge estimate is below the best one.

    Parameters
    ----------
    scale
        Times the gamma of the theory; larger explores less, and 1 explores far too much in practice.
    lam
        Ridge of the regression.

    >>> SquareCB(scale=1.0).label
    'SquareCB(scale=1.0)'
    """

    scale: float = 10.0
    lam: float = 1.0

    def __post_init__(self) -> None:
        check_number("scale", self.scale, above=0)
        check_number("lam", self.lam, above=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> SquareCBState:
        """Return a state that has seen nothing."""
        return SquareCBState(
            ridge=new_ridge(n_features, self.lam),
            seen=np.zeros(1, np.int64),
            scale=float(self.scale),
            horizon=float(horizon or 0),
        )
