r"""LinRandUCB: LinUCB with bounds of a random width (Vaswani, Mehrabian, Durand and Kveton, AISTATS 2020).

    index = x' theta^ + Z beta ||x||_{G^-1}

with theta^, G and beta as in LinUCB and Z as in RandUCB: drawn in every round, once for all rows ("coupled").

Where we differ: the width is LinUCB's, whichever of its forms is asked for. The authors' code has the "authors" scaling
with a ridge of 1e-4.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray
from corebandit.parts.multiplier import Multiplier, check_multiplier, new_multiplier
from corebandit.policies.linear.linucb import LinUCB, LinUCBState
from corebandit.randomness.stream import Stream


@allocating_nothing
class LinRandUCBState(NamedTuple):
    """What LinRandUCB has learnt."""

    bounds: LinUCBState
    multiplier: Multiplier
    is_coupled: bool

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with estimates moved a random part of the way to their confidence bounds."""
        self.bounds.estimate(features, scores)
        multiple = self.multiplier.multiple(rng)
        for arm in range(scores.size):
            if not self.is_coupled and arm > 0:
                multiple = self.multiplier.multiple(rng)
            scores[arm] += multiple * self.bounds.widths[arm]

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.bounds.update(arm, x, reward, rng)


@dataclass(frozen=True)
class LinRandUCB(FeaturePolicy):
    """Choose by confidence bounds of a random width around a linear model, for sigma-sub-Gaussian rewards.

    Parameters
    ----------
    sigma, lam, delta, theta_norm, row_norm, radius, scaling
        As in `LinUCB`.
    spread
        Standard deviation of the width, as a share of LinUCB's.
    n_points
        How many widths there are.
    optimistic
        Draw bounds above the estimate only.
    coupled
        Draw one width for all rows, not one for each.

    >>> LinRandUCB(optimistic=False).label
    'LinRandUCB(optimistic=False)'
    """

    sigma: float = 0.5
    lam: float = 1.0
    delta: float | None = None
    theta_norm: float | None = None
    row_norm: float | None = None
    radius: str = "trace"
    scaling: str = "textbook"
    spread: float = 0.125
    n_points: int = 20
    optimistic: bool = True
    coupled: bool = True

    def __post_init__(self) -> None:
        self._whole_bounds()
        check_multiplier(self.n_points, self.spread, self.optimistic, self.coupled)

    def _whole_bounds(self) -> LinUCB:
        """Return the policy whose bounds are drawn up to."""
        return LinUCB(
            sigma=self.sigma,
            lam=self.lam,
            delta=self.delta,
            theta_norm=self.theta_norm,
            row_norm=self.row_norm,
            radius=self.radius,
            scaling=self.scaling,
        )

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LinRandUCBState:
        """Return a state that has seen nothing."""
        return LinRandUCBState(
            bounds=self._whole_bounds().start(n_arms, n_features, horizon, capacity),
            multiplier=new_multiplier(self.n_points, self.spread, self.optimistic),
            is_coupled=self.coupled,
        )
