r"""CascadeKL-UCB (Kveton, Szepesvári, Wen and Ashkan, 2015).

    index_i = max{q : N_i kl(S_i / N_i, q) <= ln t + 3 ln ln t}

N_i counts how often item i was looked at, S_i its clicks, t the rounds; items never looked at come first, and ln ln t
counts from t = e on. Made for cascades: what is below the last click was not looked at.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.clicks.feedback import count_examined
from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import RankingPolicy
from corebandit.contracts.state import FloatArray, IntArray, Scratch
from corebandit.contracts.validate import check_number
from corebandit.parts.choose import best_items
from corebandit.parts.kl import bernoulli_upper_bound
from corebandit.randomness.stream import Stream


@allocating_nothing
class CascadeKLUCBState(NamedTuple):
    """What CascadeKL-UCB has learnt."""

    counts: FloatArray  # (n_items,) observations
    sums: FloatArray  # (n_items,) clicks
    n_rounds: IntArray  # (1,)
    scores: Scratch  # (n_items,) the indices
    c: float

    def rank(self, rng: Stream, ranking: IntArray) -> None:
        """Fill `ranking` with the items of the highest upper confidence bounds."""
        log_t = math.log(self.n_rounds[0] + 1.0)
        exploration = log_t + self.c * math.log(max(1.0, log_t))
        for item in range(self.scores.size):
            n = self.counts[item]
            self.scores[item] = np.inf if n == 0.0 else bernoulli_upper_bound(self.sums[item] / n, exploration / n)
        best_items(self.scores, rng, ranking)

    def learn(self, ranking: IntArray, clicks: IntArray, rng: Stream) -> None:
        """Learn from the items that were looked at."""
        self.n_rounds[0] += 1
        count_examined(ranking, clicks, self.counts, self.sums)


@dataclass(frozen=True)
class CascadeKLUCB(RankingPolicy):
    """Rank by the upper confidence bounds of KL-UCB; `c` is the weight of ln ln t.

    >>> CascadeKLUCB().label
    'CascadeKLUCB'
    """

    c: float = 3.0

    def __post_init__(self) -> None:
        check_number("c", self.c, at_least=0)

    def start(self, n_items: int, n_positions: int, horizon: int | None, capacity: int) -> CascadeKLUCBState:
        """Return a state that has seen nothing."""
        counts, sums, scores = np.zeros(n_items), np.zeros(n_items), np.zeros(n_items)
        return CascadeKLUCBState(counts, sums, np.zeros(1, np.int64), scores, float(self.c))
