r"""MOSS: the minimax optimal strategy in the stochastic case (Audibert and Bubeck, COLT 2009).

    index_i = S_i / N_i + 2 sigma sqrt(max(0, ln(n / (K N_i))) / N_i)

for n rounds, K arms and rewards that are sigma-sub-Gaussian: sigma = 1/2 covers everything in [0, 1] and is the
original formula. Without a horizon this is MOSS-anytime (Degenne and Perchet, ICML 2016), with the current round in
place of n and (1 + alpha) / 2 times the logarithm; its authors take alpha = 1.35.

Where we differ: every arm is tried once first, in any order, and ties are broken at random.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.parts.tally import Tally, new_tally
from corebandit.randomness.stream import Stream


@allocating_nothing
class MOSSState(NamedTuple):
    """What MOSS has learnt."""

    tally: Tally
    sigma: float
    horizon: float  # 0: not known
    stretch: float  # of the logarithm: (1 + alpha) / 2, or 1 with a horizon

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bounds."""
        n_rounds = self.horizon if self.horizon > 0.0 else self.tally.total() + 1.0
        for arm in range(scores.size):
            n = self.tally.counts[arm]
            if n == 0.0:
                scores[arm] = np.inf
            else:
                exploration = self.stretch * max(0.0, math.log(n_rounds / (scores.size * n)))
                scores[arm] = self.tally.sums[arm] / n + 2.0 * self.sigma * math.sqrt(exploration / n)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.tally.push(arm, reward)


@dataclass(frozen=True)
class MOSS(Policy):
    """Choose by bounds that shrink to the mean after horizon / n_arms pulls, for sigma-sub-Gaussian rewards.

    Parameters
    ----------
    sigma
        Sub-Gaussian constant of the rewards; 1/2 covers anything in [0, 1].
    alpha
        How much more the anytime form explores, where nobody knows the horizon.

    >>> MOSS(sigma=1.0).label
    'MOSS(sigma=1.0)'
    """

    sigma: float = 0.5
    alpha: float = 1.35

    def __post_init__(self) -> None:
        check_number("sigma", self.sigma, above=0)
        check_number("alpha", self.alpha, at_least=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> MOSSState:
        """Return a state that has seen nothing."""
        stretch = 0.5 * (1.0 + self.alpha) if horizon is None else 1.0
        return MOSSState(new_tally(n_arms), float(self.sigma), float(horizon or 0), stretch)
