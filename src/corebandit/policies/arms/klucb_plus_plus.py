r"""kl-UCB++: minimax and asymptotically optimal at once (Ménard and Garivier, ALT 2017).

    index_i = max{q : N_i kl(S_i / N_i, q) <= g(n / (K N_i))},   g(x) = ln+(x (1 + ln+(x)^2)),   ln+ = max(0, ln)

for n rounds and K arms. With the Bernoulli kl, for any rewards in [0, 1]; with the Gaussian one, for sigma-sub-Gaussian
rewards.

Where we differ: without a horizon the current round takes the place of n, as in the anytime form of KL-UCB-switch
(Garivier, Hadiji, Ménard and Stoltz, JMLR 2022); every arm is tried once first; ties are broken at random.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, inlined
from corebandit.contracts.state import FloatArray
from corebandit.parts.kl import Family, FamilyPolicy
from corebandit.parts.tally import Tally, new_tally
from corebandit.randomness.stream import Stream


@inlined
def exploration_of(x: float) -> float:
    """Return g(x)."""
    log_plus = max(0.0, math.log(x))
    return max(0.0, math.log(x * (1.0 + log_plus * log_plus)))


@allocating_nothing
class KLUCBPlusPlusState(NamedTuple):
    """What kl-UCB++ has learnt."""

    tally: Tally
    family: Family
    horizon: float  # 0: not known

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bounds."""
        n_rounds = self.horizon if self.horizon > 0.0 else self.tally.total() + 1.0
        for arm in range(scores.size):
            n = self.tally.counts[arm]
            if n == 0.0:
                scores[arm] = np.inf
            else:
                exploration = exploration_of(n_rounds / (scores.size * n))
                scores[arm] = self.family.upper_bound(self.tally.sums[arm] / n, exploration / n)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.tally.push(arm, reward)


@dataclass(frozen=True)
class KLUCBPlusPlus(FamilyPolicy):
    """Choose by the confidence bounds of a family of laws that shrink to the mean after horizon / n_arms pulls.

    Parameters
    ----------
    family
        "bernoulli" covers any rewards in [0, 1], "gaussian" sigma-sub-Gaussian ones.
    sigma
        Of the Gaussian family.

    >>> KLUCBPlusPlus(family="gaussian").label
    "KLUCBPlusPlus(family='gaussian')"
    """

    family: str = "bernoulli"
    sigma: float = 0.5

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> KLUCBPlusPlusState:
        """Return a state that has seen nothing."""
        return KLUCBPlusPlusState(new_tally(n_arms), self.new_family(), float(horizon or 0))
