r"""KL-UCB (Garivier and Cappé, 2011).

    index_i = max{q : N_i kl(S_i / N_i, q) <= ln t + c ln ln t}

With the Bernoulli kl, valid for any rewards in [0, 1]; with the Gaussian one, which has a closed form, for
sigma-sub-Gaussian rewards. The analysis takes c = 3, its authors recommend 0 in practice; ln ln t counts from t = e on.

Where we differ: Bernoulli bounds are found by Newton's method, in 3 to 12 steps where bisection takes 30.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.parts.kl import Family, FamilyPolicy
from corebandit.randomness.stream import Stream


@allocating_nothing
class KLUCBState(NamedTuple):
    """What KL-UCB has learnt."""

    counts: FloatArray  # (n_arms,) pulls
    sums: FloatArray  # (n_arms,) total reward
    c: float
    family: Family

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bounds."""
        log_t = math.log(1.0 + self.counts.sum())
        exploration = log_t + self.c * math.log(max(1.0, log_t))
        for arm in range(scores.size):
            n = self.counts[arm]
            scores[arm] = np.inf if n == 0.0 else self.family.upper_bound(self.sums[arm] / n, exploration / n)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        self.sums[arm] += reward


@dataclass(frozen=True)
class KLUCB(FamilyPolicy):
    """Choose by the upper confidence bounds of a family of laws, tighter than UCB1's.

    Parameters
    ----------
    c
        Weight of ln ln t.
    family
        "bernoulli" covers any rewards in [0, 1], "gaussian" sigma-sub-Gaussian ones.
    sigma
        Of the Gaussian family.

    >>> KLUCB(c=3.0).label
    'KLUCB(c=3.0)'
    """

    c: float = 0.0
    family: str = "bernoulli"
    sigma: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("c", self.c, at_least=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> KLUCBState:
        """Return a state that has seen nothing."""
        return KLUCBState(np.zeros(n_arms), np.zeros(n_arms), float(self.c), self.new_family())
