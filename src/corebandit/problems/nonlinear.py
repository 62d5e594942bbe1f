"""Bandits whose mean reward is not linear in the features: the three functions of the neural bandit papers."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Problem
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_choice, check_count, check_number
from corebandit.problems.arms import GAUSSIAN, draw_reward
from corebandit.problems.linear import random_direction
from corebandit.randomness.stream import Stream

FUNCTIONS = ("square", "quadratic", "cosine")


@allocating_nothing
class NonlinearArms(NamedTuple):
    """Arms with new features in every round, uniform on the unit sphere, and Gaussian noise."""

    matrix: FloatArray  # (rows, d) M
    size: int  # arms
    is_cosine: bool  # the mean is the sum of cos(3 M_i x), else `scale` times that of (M_i x)^2, over rows M_i
    scale: float
    sigma: float

    @property
    def n_arms(self) -> int:
        """Return the number of arms."""
        return self.size

    @property
    def n_features(self) -> int:
        """Return the number of features."""
        return int(self.matrix.shape[1])

    def offer(self, current_round: int, rng: Stream, features: FloatArray) -> bool:
        """Fill `features` for the coming round and tell that they are new."""
        for arm in range(features.shape[0]):
            random_direction(features[arm], rng.words)
        return True

    def mean(self, arm: int, x: FloatArray) -> float:
        """Return the mean reward of an arm with features `x`."""
        total = 0.0
        for row in range(self.matrix.shape[0]):
            along = 0.0
            for j in range(x.size):
                along += self.matrix[row, j] * x[j]
            total += math.cos(3.0 * along) if self.is_cosine else self.scale * along * along
        return total

    def pull(self, arm: int, x: FloatArray, rng: Stream) -> float:
        """Draw a reward of an arm with features `x`."""
        return draw_reward(GAUSSIAN, self.mean(arm, x), self.sigma, rng.words)


@dataclass(frozen=True)
class NonlinearBandit(Problem):
    """Arms whose mean reward is a non-linear function of features that are new in every round.

    The functions, the features, uniform on the unit sphere, and the standard normal noise are those of Zhou, Li and Gu
    (ICML 2020), who have 4 arms and 20 features.

    Parameters
    ----------
    function
        "square", 10 (x' theta)^2; "quadratic", x' A' A x; or "cosine", cos(3 x' theta). theta is uniform on the unit
        sphere, the entries of A `(d, d)` are standard normal.
    n_arms, n_features
        How many.
    sigma
        Standard deviation of the rewards.

    >>> NonlinearBandit("cosine").label
    "nonlinear(function='cosine')"
    """

    name = "nonlinear"
    function: str = "square"
    n_arms: int = 4
    n_features: int = 20
    sigma: float = 1.0

    def __post_init__(self) -> None:
        check_choice("function", self.function, FUNCTIONS)
        check_count("n_arms", self.n_arms)
        check_count("n_features", self.n_features)
        check_number("sigma", self.sigma, at_least=0)

    def draw(self, rng: Stream) -> NonlinearArms:
        """Return a random instance."""
        d = self.n_features
        if self.function == "quadratic":
            matrix = np.array([[rng.standard_normal() for _ in range(d)] for _ in range(d)])
        else:
            matrix = np.empty((1, d))
            random_direction(matrix[0], rng.words)
        scale = 10.0 if self.function == "square" else 1.0
        return NonlinearArms(matrix, self.n_arms, self.function == "cosine", scale, float(self.sigma))
