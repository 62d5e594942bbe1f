r"""UCB1 (Auer, Cesa-Bianchi and Fischer, 2002).

    index_i = S_i / N_i + 2 sigma sqrt(2 ln t / N_i)

Made for rewards that are sigma-sub-Gaussian: sigma = 1/2 covers everything in [0, 1] and is the original formula.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, inlined
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.randomness.stream import Stream


@inlined
def width_after_one_pull(sigma: float, counts: FloatArray) -> float:
    """Return 2 sigma sqrt(2 ln t), how far above its mean the bound of an arm pulled once is."""
    return 2.0 * sigma * math.sqrt(2.0 * math.log(1.0 + counts.sum()))


@allocating_nothing
class UCB1State(NamedTuple):
    """What UCB1 has learnt."""

    counts: FloatArray  # (n_arms,) pulls
    sums: FloatArray  # (n_arms,) total reward
    sigma: float

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bounds."""
        width = width_after_one_pull(self.sigma, self.counts)
        for arm in range(scores.size):
            n = self.counts[arm]
            scores[arm] = np.inf if n == 0.0 else self.sums[arm] / n + width / math.sqrt(n)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        self.sums[arm] += reward


@dataclass(frozen=True)
class UCB1(Policy):
    """Choose by upper confidence bounds for sigma-sub-Gaussian rewards (sigma = 1/2: anything in [0, 1]).

    >>> UCB1().label
    'UCB1'
    """

    sigma: float = 0.5

    def __post_init__(self) -> None:
        check_number("sigma", self.sigma, above=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> UCB1State:
        """Return a state that has seen nothing."""
        return UCB1State(np.zeros(n_arms), np.zeros(n_arms), float(self.sigma))
