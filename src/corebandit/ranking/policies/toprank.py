r"""TopRank (Lattimore, Kveton, Li and Szepesvári, 2018).

    i beats j  once  N_ij > 0 and S_ij >= sqrt(2 N_ij ln(c sqrt(N_ij) / delta)),   c = 4 sqrt(2 / pi) / erf(sqrt 2)

S_ij sums U = [i clicked] - [j clicked] over the rounds in which both are in the same block, N_ij sums |U|. The first
block are the items that none beats, the next those that none of the rest beats, and so on; blocks are shown in order,
each shuffled. delta = 1 / n for n rounds; without a horizon the current round takes the place of n. Right for every
click model in which exchanging two items in order of attraction never costs clicks.

How soon depends on what is looked at. Regret stops growing under the position-based model and on easy cascades; on a
cascade of ten documents with attractions from 0.9 down to 0.1 the fifth position is looked at with probability 0.002
once the best are on top, and regret still grows, slowly, after two million rounds.

Should the relation ever become cyclic, which has a probability below delta n_items^2, the rest is one block.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import RankingPolicy
from corebandit.contracts.state import FloatArray, IntArray, IntScratch, Scratch
from corebandit.parts.choose import best_items
from corebandit.parts.warm_up import known_log
from corebandit.randomness.stream import Stream

LOG_C = math.log(4.0 * math.sqrt(2.0 / math.pi) / math.erf(math.sqrt(2.0)))


@allocating_nothing
class TopRankState(NamedTuple):
    """What TopRank has learnt."""

    leads: FloatArray  # (n_items, n_items) S_ij
    counts: FloatArray  # (n_items, n_items) N_ij
    beats: IntArray  # (n_items, n_items) 1 if i beats j
    blocks: IntArray  # (n_items,) the block of each item, from 0
    clicked: IntScratch  # (n_items,) this round's clicks
    scores: Scratch  # (n_items,) the order
    n_rounds: IntArray  # (1,)
    log_horizon: float  # negative: not known

    def rank(self, rng: Stream, ranking: IntArray) -> None:
        """Fill `ranking` block by block, each in an order drawn at random."""
        for item in range(self.scores.size):
            self.scores[item] = -float(self.blocks[item])
        best_items(self.scores, rng, ranking)

    def learn(self, ranking: IntArray, clicks: IntArray, rng: Stream) -> None:
        """Compare each clicked item with those of its block that were not clicked."""
        self.n_rounds[0] += 1
        n_items = self.blocks.size
        for item in range(n_items):
            self.clicked[item] = 0
        for position in range(ranking.size):
            self.clicked[ranking[position]] = clicks[position]
        is_new = False
        for position in range(ranking.size):
            winner = ranking[position]
            if clicks[position] == 0:
                continue
            for other in range(n_items):
                if self.clicked[other] == 0 and self.blocks[other] == self.blocks[winner]:
                    self.counts[winner, other] += 1.0
                    self.counts[other, winner] += 1.0
                    self.leads[winner, other] += 1.0
                    self.leads[other, winner] -= 1.0
                    if self.beats[winner, other] == 0 and self.is_ahead(winner, other):
                        self.beats[winner, other] = 1
                        is_new = True
        if is_new:
            self.divide()

    def is_ahead(self, winner: int, other: int) -> bool:
        """Tell whether one item has been clicked so much more than the other that it beats it."""
        n = self.counts[winner, other]
        log_rounds = self.log_horizon if self.log_horizon >= 0.0 else math.log(float(self.n_rounds[0]))
        return bool(self.leads[winner, other] >= math.sqrt(2.0 * n * (LOG_C + 0.5 * math.log(n) + log_rounds)))

    def divide(self) -> None:
        """Divide the items into blocks."""
        n_items = self.blocks.size
        for item in range(n_items):
            self.blocks[item] = n_items  # in no block yet
        n_left, block = n_items, 0
        while n_left > 0:
            n_before = n_left
            for item in range(n_items):
                if self.blocks[item] > block and not self.is_beaten(item, block):
                    self.blocks[item] = block
                    n_left -= 1
            if n_left == n_before:
                for item in range(n_items):
                    self.blocks[item] = min(self.blocks[item], block)
                n_left = 0
            block += 1

    def is_beaten(self, item: int, block: int) -> bool:
        """Tell whether any item of this block or of none beats the item."""
        n_beating = 0
        for other in range(self.blocks.size):
            n_beating += self.blocks[other] >= block and self.beats[other, item] == 1
        return n_beating > 0


@dataclass(frozen=True)
class TopRank(RankingPolicy):
    """Shuffle blocks of items that clicks have not told apart yet; nothing is assumed of how users click.

    >>> TopRank().label
    'TopRank'
    """

    def start(self, n_items: int, n_positions: int, horizon: int | None, capacity: int) -> TopRankState:
        """Return a state that has seen nothing."""
        return TopRankState(
            leads=np.zeros((n_items, n_items)),
            counts=np.zeros((n_items, n_items)),
            beats=np.zeros((n_items, n_items), np.int64),
            blocks=np.zeros(n_items, np.int64),
            clicked=np.zeros(n_items, np.int64),
            scores=np.zeros(n_items),
            n_rounds=np.zeros(1, np.int64),
            log_horizon=known_log(horizon),
        )
