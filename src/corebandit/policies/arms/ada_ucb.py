r"""AdaUCB: bounds that know how far the other arms have been tried (Lattimore, JMLR 2018).

    index_i = S_i / N_i + sigma sqrt(2 log(n / H_i) / N_i),   H_i = sum over all j of min(N_i, sqrt(N_i N_j))

for n rounds and rewards that are sigma-sub-Gaussian; sigma = 1/2 covers everything in [0, 1]. The logarithm of its
analysis is log(x) = ln((x + e) sqrt(ln(x + e))); "plain" takes max(0, ln x) instead, which explores less and ends in
greedy choices.

H_i = sqrt(N_i) M_i with M_i = sum of min(sqrt(N_i), sqrt(N_j)), and M_i is kept up: O(n_arms) a round.

Where we differ: without a horizon the current round takes the place of n, and the bound of the analysis is lost; every
arm is tried once first; ties are broken at random.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_choice, check_number
from corebandit.parts.tally import Tally, new_tally
from corebandit.randomness.stream import Stream

LOGARITHMS = ("refined", "plain")


@allocating_nothing
class AdaUCBState(NamedTuple):
    """What AdaUCB has learnt."""

    tally: Tally
    overlaps: FloatArray  # (n_arms,) M_i
    sigma: float
    horizon: float  # 0: not known
    is_plain: bool

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bounds."""
        n_rounds = self.horizon if self.horizon > 0.0 else self.tally.total() + 1.0
        for arm in range(scores.size):
            n = self.tally.counts[arm]
            if n == 0.0:
                scores[arm] = np.inf
            else:
                exploration = self.logarithm(n_rounds / (math.sqrt(n) * self.overlaps[arm]))
                scores[arm] = self.tally.sums[arm] / n + self.sigma * math.sqrt(2.0 * exploration / n)

    def logarithm(self, x: float) -> float:
        """Return log(x)."""
        if self.is_plain:
            return max(0.0, math.log(x))
        return math.log(x + math.e) + 0.5 * math.log(math.log(x + math.e))

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        counts, overlap = self.tally.counts, 0.0
        before = math.sqrt(counts[arm])
        self.tally.push(arm, reward)
        now = math.sqrt(counts[arm])
        for other in range(counts.size):
            root = math.sqrt(counts[other])
            self.overlaps[other] += min(root, now) - min(root, before)
            overlap += min(root, now)
        self.overlaps[arm] = overlap


@dataclass(frozen=True)
class AdaUCB(Policy):
    """Choose by bounds that know the horizon and how far other arms were tried, for sigma-sub-Gaussian rewards.

    Parameters
    ----------
    sigma
        Sub-Gaussian constant of the rewards; 1/2 covers anything in [0, 1].
    logarithm
        "refined" is that of the analysis, "plain" max(0, ln), which explores less.

    >>> AdaUCB(logarithm="plain").label
    "AdaUCB(logarithm='plain')"
    """

    sigma: float = 0.5
    logarithm: str = "refined"

    def __post_init__(self) -> None:
        check_number("sigma", self.sigma, above=0)
        check_choice("logarithm", self.logarithm, LOGARITHMS)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> AdaUCBState:
        """Return a state that has seen nothing."""
        return AdaUCBState(
            tally=new_tally(n_arms),
            overlaps=np.zeros(n_arms),
            sigma=float(self.sigma),
            horizon=float(horizon or 0),
            is_plain=self.logarithm == "plain",
        )
