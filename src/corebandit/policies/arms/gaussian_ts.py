r"""Thompson sampling for Gaussian rewards of known variance (Thompson, 1933; Agrawal and Goyal, 2013).

    index_i ~ N((w m_0 + S_i) / (w + N_i), sigma^2 / (w + N_i)),   w = sigma^2 / prior_sigma^2

Valid for sigma-sub-Gaussian rewards whose means the prior N(m_0, prior_sigma^2) covers. By default the prior is worth
one observation of 1/2, as in the CORe paper.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.randomness.stream import Stream


@allocating_nothing
class GaussianTSState(NamedTuple):
    """What Gaussian Thompson sampling has learnt."""

    counts: FloatArray  # (n_arms,) pulls
    sums: FloatArray  # (n_arms,) total reward
    sigma: float
    prior_mean: float
    prior_weight: float  # how many observations the prior is worth

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with draws from the posterior of each arm's mean."""
        for arm in range(scores.size):
            weight = self.prior_weight + self.counts[arm]
            mean = (self.prior_weight * self.prior_mean + self.sums[arm]) / weight
            scores[arm] = mean + self.sigma / math.sqrt(weight) * rng.standard_normal()

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        self.sums[arm] += reward


@dataclass(frozen=True)
class GaussianTS(Policy):
    """Choose by a draw from the posterior of each arm's mean, the noise sigma being known.

    Parameters
    ----------
    sigma
        Standard deviation of a reward.
    prior_mean, prior_sigma
        Of the arms' means; a `prior_sigma` of None is as large as `sigma`.

    >>> GaussianTS(sigma=1.0).label
    'GaussianTS(sigma=1.0)'
    """

    sigma: float = 0.5
    prior_mean: float = 0.5
    prior_sigma: float | None = None

    def __post_init__(self) -> None:
        check_number("sigma", self.sigma, above=0)
        check_number("prior_mean", self.prior_mean)
        if self.prior_sigma is not None:
            check_number("prior_sigma", self.prior_sigma, above=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> GaussianTSState:
        """Return a state that has seen nothing."""
        return GaussianTSState(
            counts=np.zeros(n_arms),
            sums=np.zeros(n_arms),
            sigma=float(self.sigma),
            prior_mean=float(self.prior_mean),
            prior_weight=1.0 if self.prior_sigma is None else (self.sigma / self.prior_sigma) ** 2,
        )
