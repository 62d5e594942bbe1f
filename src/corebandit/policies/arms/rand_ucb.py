r"""RandUCB: confidence bounds of a random width (Vaswani, Mehrabian, Durand and Kveton, AISTATS 2020).

    index_i = S_i / N_i + Z 2 sigma sqrt(2 ln t / N_i)

Z is drawn in every round, once for all arms ("coupled"), from `n_points` equally spaced points on [0, 1], or on [-1, 1]
if it is not optimistic, with the weights of N(0, spread^2) there; the last point, UCB1's whole width, has 3e-7 of the
largest weight, which is 1e-6 in place of that density for the default spread. Made for rewards that are
sigma-sub-Gaussian: sigma = 1/2 covers everything in [0, 1].

Where we differ: every arm is tried once first, and ties are broken at random.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.parts.multiplier import Multiplier, check_multiplier, new_multiplier
from corebandit.policies.arms.ucb1 import width_after_one_pull
from corebandit.randomness.stream import Stream


@allocating_nothing
class RandUCBState(NamedTuple):
    """What RandUCB has learnt."""

    counts: FloatArray  # (n_arms,) pulls
    sums: FloatArray  # (n_arms,) total reward
    multiplier: Multiplier
    sigma: float
    is_coupled: bool

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with means moved a random part of the way to their confidence bounds."""
        width = width_after_one_pull(self.sigma, self.counts)
        multiple = self.multiplier.multiple(rng)
        for arm in range(scores.size):
            if not self.is_coupled and arm > 0:
                multiple = self.multiplier.multiple(rng)
            n = self.counts[arm]
            scores[arm] = np.inf if n == 0.0 else self.sums[arm] / n + multiple * width / math.sqrt(n)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        self.sums[arm] += reward


@dataclass(frozen=True)
class RandUCB(Policy):
    """Choose by confidence bounds of a random width, for sigma-sub-Gaussian rewards.

    Parameters
    ----------
    sigma
        Sub-Gaussian constant of the rewards; 1/2 covers anything in [0, 1].
    spread
        Standard deviation of the width, as a share of UCB1's.
    n_points
        How many widths there are.
    optimistic
        Draw bounds above the mean only.
    coupled
        Draw one width for all arms, not one for each.

    >>> RandUCB(coupled=False).label
    'RandUCB(coupled=False)'
    """

    sigma: float = 0.5
    spread: float = 0.125
    n_points: int = 20
    optimistic: bool = True
    coupled: bool = True

    def __post_init__(self) -> None:
        check_number("sigma", self.sigma, above=0)
        check_multiplier(self.n_points, self.spread, self.optimistic, self.coupled)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> RandUCBState:
        """Return a state that has seen nothing."""
        return RandUCBState(
            counts=np.zeros(n_arms),
            sums=np.zeros(n_arms),
            multiplier=new_multiplier(self.n_points, self.spread, self.optimistic),
            sigma=float(self.sigma),
            is_coupled=self.coupled,
        )
