"""Bandits that pay counts: the mean reward is exp(x' theta), and rewards are Poisson."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Problem
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.problems.arms import GAUSSIAN
from corebandit.problems.linear import LinearArms, check_basis, random_features, random_theta
from corebandit.randomness.stream import Stream

LARGEST_RATE = 1e6


@allocating_nothing
class CountArms(NamedTuple):
    """Arms with features that pay Poisson counts."""

    logs: LinearArms  # whose means are the logarithms of ours

    @property
    def n_arms(self) -> int:
        """Return the number of arms."""
        return self.logs.n_arms

    @property
    def n_features(self) -> int:
        """Return the number of features."""
        return self.logs.n_features

    def offer(self, current_round: int, rng: Stream, features: FloatArray) -> bool:
        """Fill `features` for the coming round, and tell whether they are new."""
        return self.logs.offer(current_round, rng, features)

    def mean(self, arm: int, x: FloatArray) -> float:
        """Return the mean reward of an arm with features `x`."""
        return math.exp(self.logs.mean(arm, x))

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
        check_basis(self.n_arms, self.n_features)
        check_number("rate", self.rate, above=0, at_most=LARGEST_RATE)

    def draw(self, rng: Stream) -> CountArms:
        """Return a random instance."""
        features = random_features(self.n_arms, self.n_features, rng)
        theta = random_theta(self.n_features, 1.0, rng)
        theta[-1] = math.log(self.rate)
        return CountArms(LinearArms(features, theta, GAUSSIAN, 0.0, is_contextual=False))

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and infinity."""
        return 0.0, math.inf
