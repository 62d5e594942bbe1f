r"""UCB-GLM: optimism for generalised linear models (Li, Lu and Zhou, ICML 2017, Algorithm 1).

    index = x' theta^ + (sigma / slope) sqrt((d / 2) ln(1 + 2 n / d) + ln(1 / delta)) ||x||_{V^-1}

theta^ is the penalised maximum-likelihood estimate, V = I / sigma0^2 + sum of x_l x_l', slope the least slope of the
mean mu(x' theta) for rows on offer and n the horizon.

Where we differ: the paper chooses at random until V has no eigenvalue below 1; here, as in the code of Kveton et al.
(2020), the penalty takes the place of that. By default the slope is the largest there is, as in that code: the least
one depends on theta and would explore more. Without a horizon the round takes its place, in delta = 1 / n too.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.parts.ridge import predict
from corebandit.policies.glm.glm_policy import Ellipsoid, OptimisticGLM
from corebandit.randomness.stream import Stream


@allocating_nothing
class UCBGLMState(NamedTuple):
    """What UCB-GLM has learnt."""

    known: Ellipsoid
    scale: float  # sigma / slope

    def prepare(self, rng: Stream) -> bool:
        """Fit the model to all rewards, if any is new."""
        return self.known.model.fit_rewards()

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bound of each row's linear predictor."""
        self.known.survey(features)
        radius = self.known.radius_of_ucb_glm(self.scale)
        predict(features, self.known.model.theta, scores)
        for arm in range(scores.size):
            scores[arm] += radius * self.known.widths[arm]

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.known.take_in(arm, x, reward)


@dataclass(frozen=True)
class UCBGLM(OptimisticGLM):
    """Choose by upper confidence bounds of a generalised linear model's predictor.

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
    sigma
        Sub-Gaussian constant of the noise; 1/2 covers everything in [0, 1]. Counts need more: about the square root of
        the largest mean.

    >>> UCBGLM(slope=0.1).label
    'UCBGLM(slope=0.1)'
    """

    sigma: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("sigma", self.sigma, above=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> UCBGLMState:
        """Return a state that has seen nothing."""
        known = self.new_ellipsoid(n_arms, n_features, horizon, capacity)
        return UCBGLMState(known, float(self.sigma) / self.least_slope)
