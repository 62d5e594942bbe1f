"""Bandits that pay counts: the mean reward is exp(x' theta), and rewards are Poisson."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled import allocating_nothing
from corebandit.problems.linear import check_basis, random_features, random_row
from corebandit.recipe import Problem
from corebandit.state import FloatArray
from corebandit.stream import Stream
from corebandit.validate import check_number

LARGEST_RATE = 1e6


@allocating_nothing
class CountArms(NamedTuple):
    """Arms with fixed features that pay Poisson counts."""

    features: FloatArray  # (n_arms, d)
    theta: FloatArray  # (d,)

    @property
    def n_arms(self) -> int:
        """Return the number of arms."""
        return int(self.features.shape[0])

    @property
    def n_features(self) -> int:
        """Return the number of features."""
        return self.theta.size

    def offer(self, current_round: int, rng: Stream, features: FloatArray) -> bool:
        """Fill `features` in the first round, and tell whether they are new."""
        if current_round > 1:
            return False
        for arm in range(features.shape[0]):
            for j in range(features.shape[1]):
                features[arm, j] = self.features[arm, j]
        return True

    def mean(self, arm: int, x: FloatArray) -> float:
        """Return the mean reward of an arm with features `x`."""
        total = 0.0
        for j in range(x.size):
            total += x[j] * self.theta[j]
        return math.exp(total)

    def pull(self, arm: int, x: FloatArray, rng: Stream) -> float:
        """Draw a reward of an arm with features `x`."""
        return float(rng.poisson(self.mean(arm, x)))


@dataclass(frozen=True)
class PoissonBandit(Problem):
    """Random arms with fixed features that pay counts, with means exp(x' theta).

    Features are those of `LinearBandit`; theta is uniform on the unit sphere, and ln(rate) for the constant.

    Parameters
    ----------
    n_arms, n_features
        How many.
    rate
        Geometric mean of what arms on opposite sides pay; the best pays up to e times as much.

    >>> PoissonBandit(rate=50.0).label
    'poisson(rate=50.0)'
    """

    name = "poisson"
    n_arms: int = 50
    n_features: int = 10
    rate: float = 5.0

    def __post_init__(self) -> None:
        """Validate."""
        check_basis(self.n_arms, self.n_features)
        check_number("rate", self.rate, above=0, at_most=LARGEST_RATE)

    def draw(self, rng: Stream) -> CountArms:
        """Return a random instance."""
        features, theta = random_features(self.n_arms, self.n_features, rng), np.zeros(self.n_features)
        random_row(theta, rng.words)
        theta[-1] = math.log(self.rate)
        return CountArms(features, theta)

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and infinity."""
        return 0.0, math.inf
