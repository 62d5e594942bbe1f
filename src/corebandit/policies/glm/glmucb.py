r"""GLM-UCB: optimism on the scale of rewards (Filippi, Cappé, Garivier and Szepesvári, NeurIPS 2010).

    index = mu(x' theta^) + rho ||x||_{V^-1},   V = I / sigma0^2 + sum of x_l x_l'
    rho = (2 k kappa r / c) sqrt(2 d ln(n) ln(2 d n / delta)),   kappa = sqrt(3 + 2 ln(1 + 2 L^2 sigma0^2))

with k the largest and c the least slope of the mean mu, rewards of at most r, rows no longer than L, and n the horizon.
theta^ is the penalised maximum-likelihood estimate.

Where we differ: the paper has theta^ projected onto an admissible set, and d first rounds in place of the penalty; its
smallest eigenvalue of V is here that of the penalty, 1 / sigma0^2. By default c is the largest slope too, as in the
code of Kveton et al. (2020): the least one depends on theta and would explore even more. L is the longest row among
those chosen so far and those on offer. Without a horizon the round takes its place, in delta = 1 / n too.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_flag, check_number
from corebandit.parts.glm import STEEPEST
from corebandit.parts.likelihood import mean_reward
from corebandit.parts.ridge import longest_squared, predict, squared_length
from corebandit.policies.glm.glm_policy import Ellipsoid, OptimisticGLM
from corebandit.randomness.stream import Stream


@allocating_nothing
class GLMUCBState(NamedTuple):
    """What GLM-UCB has learnt."""

    known: Ellipsoid
    furthest: FloatArray  # (1,) the squared length of the longest row chosen
    scale: float  # 2 k r / c

    def prepare(self, rng: Stream) -> bool:
        """Fit the model to all rewards, if any is new."""
        return self.known.model.fit_rewards()

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bound of each row's mean reward."""
        self.known.survey(features)
        rho = self.rho(features)
        predict(features, self.known.model.theta, scores)
        for arm in range(scores.size):
            scores[arm] = mean_reward(self.known.model.link, scores[arm]) + rho * self.known.widths[arm]

    def rho(self, features: FloatArray) -> float:
        """Return what widths are multiplied with."""
        d, n = self.known.model.theta.size, self.known.last_round()
        length = longest_squared(features, self.furthest[0]) / self.known.model.precision
        kappa = math.sqrt(3.0 + 2.0 * math.log1p(2.0 * length))
        log_errors = math.log(2.0 * d * n) + self.known.log_inverse_delta()
        return self.scale * kappa * math.sqrt(2.0 * d * math.log(n) * log_errors)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.known.take_in(arm, x, reward)
        self.furthest[0] = max(self.furthest[0], squared_length(x))


@dataclass(frozen=True)
class GLMUCB(OptimisticGLM):
    """Choose by upper confidence bounds of a generalised linear model's mean reward.

    Parameters
    ----------
    link
        "logistic" for rewards in [0, 1], "poisson" for rewards of at least 0, "identity" for any.
    slope
        Least slope of the mean reward over x' theta; None is the largest: 1/4 if logistic, else 1 (Poisson: of means
        up to 1).
    delta
        Probability of an error; None is 1 / horizon, or 1 / round without one.
    sigma0
        Standard deviation of each entry of theta under its prior.
    largest_reward
        Bound on the rewards, in size; others are refused. Counts need a larger one than 1.
    any_reward
        Take rewards beyond the bound all the same.

    >>> GLMUCB(slope=0.1).label
    'GLMUCB(slope=0.1)'
    """

    largest_reward: float = 1.0
    any_reward: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("largest_reward", self.largest_reward, above=0)
        check_flag("any_reward", self.any_reward)

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        low, high = super().reward_range
        if self.any_reward:
            return low, high
        return max(low, -float(self.largest_reward)), min(high, float(self.largest_reward))

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> GLMUCBState:
        """Return a state that has seen nothing."""
        known = self.new_ellipsoid(n_arms, n_features, horizon, capacity)
        return GLMUCBState(known, np.zeros(1), 2.0 * STEEPEST[self.link] * self.largest_reward / self.least_slope)
