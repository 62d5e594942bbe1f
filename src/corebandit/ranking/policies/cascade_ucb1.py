r"""CascadeUCB1 (Kveton, Szepesvári, Wen and Ashkan, 2015).

    index_i = S_i / N_i + sqrt(1.5 ln t / N_i)

N_i counts how often item i was looked at, S_i its clicks, t the rounds; items never looked at come first. Made for
cascades: what is below the last click was not looked at.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.clicks.feedback import count_examined
from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import RankingPolicy
from corebandit.contracts.state import FloatArray, IntArray, Scratch
from corebandit.parts.choose import best_items
from corebandit.randomness.stream import Stream


@allocating_nothing
class CascadeUCB1State(NamedTuple):
    """What CascadeUCB1 has learnt."""

    counts: FloatArray  # (n_items,) observations
    sums: FloatArray  # (n_items,) clicks
    n_rounds: IntArray  # (1,)
    scores: Scratch  # (n_items,) the indices

    def rank(self, rng: Stream, ranking: IntArray) -> None:
        """Fill `ranking` with the items of the highest upper confidence bounds."""
        width = math.sqrt(1.5 * math.log(self.n_rounds[0] + 1.0))
        for item in range(self.scores.size):
            n = self.counts[item]
            self.scores[item] = np.inf if n == 0.0 else self.sums[item] / n + width / math.sqrt(n)
        best_items(self.scores, rng, ranking)

    def learn(self, ranking: IntArray, clicks: IntArray, rng: Stream) -> None:
        """Learn from the items that were looked at."""
        self.n_rounds[0] += 1
        count_examined(ranking, clicks, self.counts, self.sums)


@dataclass(frozen=True)
class CascadeUCB1(RankingPolicy):
    """Rank by upper confidence bounds of the attraction, as UCB1 does.

    >>> CascadeUCB1().label
    'CascadeUCB1'
    """

    def start(self, n_items: int, n_positions: int, horizon: int | None, capacity: int) -> CascadeUCB1State:
        """Return a state that has seen nothing."""
        return CascadeUCB1State(np.zeros(n_items), np.zeros(n_items), np.zeros(1, np.int64), np.zeros(n_items))
