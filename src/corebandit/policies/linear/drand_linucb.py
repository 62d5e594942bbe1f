r"""D-RandLinUCB: D-LinUCB with bounds of a random width (Kim and Tewari, UAI 2020).

    index = x' theta^ + |Z| beta sqrt(x' V^-1 V~ V^-1 x),   Z ~ N(0, spread^2), drawn in every round, once for all rows

with theta^, V, V~ and beta as in D-LinUCB. Z keeps its sign if it is not optimistic. The authors' code has a spread of
0.4, and both forms.

Where we differ: nothing has to be known, as in `DLinUCB`. Rewards, too, are as there: of sigma-sub-Gaussian noise.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_flag, check_number
from corebandit.policies.linear.dlinucb import DLinUCB, DLinUCBState
from corebandit.randomness.stream import Stream


@allocating_nothing
class DRandLinUCBState(NamedTuple):
    """What D-RandLinUCB remembers."""

    bounds: DLinUCBState
    spread: float
    is_optimistic: bool

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with estimates moved a random multiple of the way to their confidence bounds."""
        self.bounds.estimate(features, scores)
        multiple = self.spread * rng.standard_normal()
        if self.is_optimistic:
            multiple = abs(multiple)
        for arm in range(scores.size):
            scores[arm] += multiple * self.bounds.widths[arm]

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.bounds.update(arm, x, reward, rng)


@dataclass(frozen=True)
class DRandLinUCB(FeaturePolicy):
    """Choose by confidence bounds of a random width around a linear model whose memory fades.

    Parameters
    ----------
    discount, sigma, lam, delta, theta_norm, row_norm
        As in `DLinUCB`.
    spread
        Standard deviation of the width, as a share of D-LinUCB's.
    optimistic
        Draw bounds above the estimate only.

    >>> DRandLinUCB(discount=0.99).label
    'DRandLinUCB(discount=0.99)'
    """

    discount: float = 0.9995
    sigma: float = 0.5
    lam: float = 1.0
    delta: float | None = None
    theta_norm: float | None = None
    row_norm: float | None = None
    spread: float = 0.4
    optimistic: bool = True

    def __post_init__(self) -> None:
        self._whole_bounds()
        check_number("spread", self.spread, above=0)
        check_flag("optimistic", self.optimistic)

    def _whole_bounds(self) -> DLinUCB:
        """Return the policy whose bounds are drawn up to."""
        return DLinUCB(self.discount, self.sigma, self.lam, self.delta, self.theta_norm, self.row_norm)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> DRandLinUCBState:
        """Return a state that has seen nothing."""
        bounds = self._whole_bounds().start(n_arms, n_features, horizon, capacity)
        return DRandLinUCBState(bounds, float(self.spread), self.optimistic)
