r"""IMED: indexed minimum empirical divergence (Honda and Takemura, JMLR 2015).

    index_i = N_i kl(S_i / N_i, best mean) + ln N_i,   the smallest is chosen

for laws of one parameter: with the Bernoulli kl, for any rewards in [0, 1]; with the Gaussian one, for
sigma-sub-Gaussian rewards. It needs no horizon and counts no rounds. Asymptotically optimal on the family's own laws.

Where we differ: the paper's divergence is that from all laws bounded above, which is this one for rewards of 0 and 1;
every arm is tried once first. The best mean is that of all arms, so if the best arm is retired the rest are compared
with an arm that nobody can choose, and are explored for ever: start a new agent then.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.parts.kl import Family, FamilyPolicy
from corebandit.parts.tally import Tally, new_tally
from corebandit.randomness.stream import Stream


@allocating_nothing
class IMEDState(NamedTuple):
    """What IMED has learnt."""

    tally: Tally
    family: Family

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the indices times -1."""
        best = self.tally.best_mean()
        for arm in range(scores.size):
            n = self.tally.counts[arm]
            if n == 0.0:
                scores[arm] = np.inf
            else:
                scores[arm] = -n * self.family.divergence(self.tally.sums[arm] / n, best) - math.log(n)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.tally.push(arm, reward)


@dataclass(frozen=True)
class IMED(FamilyPolicy):
    """Choose the arm whose rewards speak least against its being the best, seldom tried ones first.

    Parameters
    ----------
    family
        "bernoulli" covers any rewards in [0, 1], "gaussian" sigma-sub-Gaussian ones.
    sigma
        Of the Gaussian family.

    >>> IMED(family="gaussian", sigma=1.0).label
    "IMED(family='gaussian', sigma=1.0)"
    """

    family: str = "bernoulli"
    sigma: float = 0.5

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> IMEDState:
        """Return a state that has seen nothing."""
        return IMEDState(new_tally(n_arms), self.new_family())
