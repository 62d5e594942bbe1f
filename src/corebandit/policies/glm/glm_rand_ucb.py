r"""GLMRandUCB: UCB-GLM whose width is multiplied with a random number (Vaswani, Mehrabian, Durand and Kveton, 2020).

    index = x' theta^ + Z w ||x||_{V^-1},   w the radius of UCB-GLM

Z is drawn as in RandUCB, in every round, one for all rows ("coupled"): from `n_points` equally spaced points of [0, 1]
with chances proportional to the density of N(0, spread^2), but for the last one, which has 3e-7 of the largest weight,
so that the width of the theory keeps a chance.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.parts.multiplier import Multiplier, check_multiplier, new_multiplier
from corebandit.parts.ridge import predict
from corebandit.policies.glm.glm_policy import Ellipsoid, OptimisticGLM
from corebandit.randomness.stream import Stream


@allocating_nothing
class GLMRandUCBState(NamedTuple):
    """What GLMRandUCB has learnt."""

    known: Ellipsoid
    multiplier: Multiplier
    scale: float  # sigma / slope
    is_coupled: bool

    def prepare(self, rng: Stream) -> bool:
        """Fit the model to all rewards, if any is new."""
        return self.known.model.fit_rewards()

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with each row's linear predictor and a random multiple of its width."""
        self.known.survey(features)
        radius = self.known.radius_of_ucb_glm(self.scale)
        predict(features, self.known.model.theta, scores)
        multiple = self.multiplier.multiple(rng)
        for arm in range(scores.size):
            if not self.is_coupled and arm > 0:
                multiple = self.multiplier.multiple(rng)
            scores[arm] += multiple * radius * self.known.widths[arm]

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.known.take_in(arm, x, reward)


@dataclass(frozen=True)
class GLMRandUCB(OptimisticGLM):
    """Choose by confidence bounds of a random width around a generalised linear model.

    Parameters
    ----------
    link
        "logistic" for rewards in [0, 1], "poisson" for rewards of at least 0, "identity" for any.
    slope, delta, sigma0, sigma
        As in `UCBGLM`.
    spread
        Standard deviation of the width, as a share of UCB-GLM's.
    n_points
        How many widths there are.
    optimistic
        Draw bounds above the estimate only.
    coupled
        Draw one width for all rows, not one for each.

    >>> GLMRandUCB(spread=0.25).label
    'GLMRandUCB(spread=0.25)'
    """

    sigma: float = 0.5
    spread: float = 0.125
    n_points: int = 20
    optimistic: bool = True
    coupled: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("sigma", self.sigma, above=0)
        check_multiplier(self.n_points, self.spread, self.optimistic, self.coupled)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> GLMRandUCBState:
        """Return a state that has seen nothing."""
        return GLMRandUCBState(
            known=self.new_ellipsoid(n_arms, n_features, horizon, capacity),
            multiplier=new_multiplier(self.n_points, self.spread, self.optimistic),
            scale=float(self.sigma) / self.least_slope,
            is_coupled=self.coupled,
        )
