r"""BatchRank (Zoghi, Tunys, Ghavamzadeh, Kveton, Szepesvári and Wen, 2017).

    U_i, L_i = max, min{q : n_l kl(c_i / n_l, q) <= ln n + 3 ln ln n},   n_l = ceil(16 4^l ln n)

A batch is a range of positions and the items for them, at first everything. It shows, in random order, the items that
it has observed least, and counts only these, so that all are observed equally often at all positions. In stage l, once
each item has n_l observations: if the s highest lower bounds L exceed all other upper bounds, the batch is split into
these s items and the rest, and both start anew from stage 0; otherwise items whose U is below the L of the last
position are dropped, and stage l + 1 starts, with no observations. Made for cascades and the position-based model; it
needs the horizon n.

Where there is more than one place to split we take the last, as the authors do.

The order is settled only where clicks can tell items apart. Under the position-based model and easy cascades that takes
some ten thousand rounds; on a cascade of ten documents with attractions 0.9, 0.81, ... 0.1 the fifth position is looked
at with probability 0.002 once the best are on top, and regret still grows after two million rounds.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import RankingPolicy
from corebandit.contracts.state import FloatArray, IntArray, IntScratch, Scratch
from corebandit.parts.choose import best_items
from corebandit.parts.kl import bernoulli_upper_bound
from corebandit.randomness.stream import Stream

DROPPED = -1


@allocating_nothing
class BatchRankState(NamedTuple):
    """What BatchRank has learnt. A batch is known by its first position."""

    lengths: IntArray  # (n_positions,) positions of the batch that starts here
    stages: IntArray  # (n_positions,) its stage
    batches: IntArray  # (n_items,) which batch an item is in
    counts: IntArray  # (n_items,) observations in this stage
    clicks: FloatArray  # (n_items,) clicks in this stage
    scores: Scratch  # (n_items,) an order
    lower: Scratch  # (n_items,) bounds
    upper: Scratch  # (n_items,)
    order: IntScratch  # (n_items,) items in order
    log_horizon: float

    def rank(self, rng: Stream, ranking: IntArray) -> None:
        """Fill the positions of each batch with the items it has observed least, in random order."""
        first = 0
        while first < self.lengths.size:
            for item in range(self.scores.size):
                self.scores[item] = -float(self.counts[item]) if self.batches[item] == first else -np.inf
            shown = ranking[first : first + self.lengths[first]]
            best_items(self.scores, rng, shown)
            for position in range(shown.size - 1, 0, -1):
                other = rng.integers(position + 1)
                shown[position], shown[other] = shown[other], shown[position]
            first += self.lengths[first]

    def learn(self, ranking: IntArray, clicks: IntArray, rng: Stream) -> None:
        """Count the items that their batch has observed least, and see whether a stage is complete."""
        first = 0
        while first < self.lengths.size:
            length = self.lengths[first]
            least = self.least_observed(first)
            for position in range(first, first + length):
                item = ranking[position]
                if self.batches[item] == first and self.counts[item] == least:
                    self.counts[item] += 1
                    self.clicks[item] += clicks[position]
            if self.least_observed(first) >= math.ceil(16.0 * 4.0 ** self.stages[first] * self.log_horizon):
                self.complete(first, rng)
            first += length

    def least_observed(self, first: int) -> int:
        """Return the smallest number of observations of an item in the batch."""
        least = -1
        for item in range(self.batches.size):
            if self.batches[item] == first and (least < 0 or self.counts[item] < least):
                least = self.counts[item]
        return int(least)

    def complete(self, first: int, rng: Stream) -> None:
        """Split the batch if its observations allow it; otherwise drop items and begin the next stage."""
        n_members = self.sort_by_lower_bounds(first, rng)
        length = self.lengths[first]
        n_better, most = 0, -np.inf
        for place in range(n_members - 1, 0, -1):
            most = max(most, self.upper[self.order[place]])
            if n_better == 0 and place < length and self.lower[self.order[place - 1]] > most:
                n_better = place
        if n_better > 0:
            for place in range(n_better, n_members):
                self.batches[self.order[place]] = first + n_better
            self.lengths[first], self.lengths[first + n_better] = n_better, length - n_better
            self.stages[first], self.stages[first + n_better] = 0, 0
        else:
            needed = self.lower[self.order[length - 1]]
            for place in range(n_members):
                if self.upper[self.order[place]] < needed:
                    self.batches[self.order[place]] = DROPPED
            self.stages[first] += 1
        for place in range(n_members):
            self.counts[self.order[place]] = 0
            self.clicks[self.order[place]] = 0.0

    def sort_by_lower_bounds(self, first: int, rng: Stream) -> int:
        """Compute the bounds of the batch's items, order them, highest lower bound first, and return their number."""
        exploration = self.log_horizon + 3.0 * math.log(max(1.0, self.log_horizon))
        n_members = 0
        for item in range(self.batches.size):
            if self.batches[item] == first:
                n = self.counts[item]
                mean = self.clicks[item] / n
                self.upper[item] = bernoulli_upper_bound(mean, exploration / n)
                self.lower[item] = 1.0 - bernoulli_upper_bound(1.0 - mean, exploration / n)
                self.scores[item] = self.lower[item]
                n_members += 1
            else:
                self.scores[item] = -np.inf
        best_items(self.scores, rng, self.order[:n_members])
        return n_members


@dataclass(frozen=True)
class BatchRank(RankingPolicy):
    """Show batches of items equally often, then split them or drop items by confidence bounds.

    >>> BatchRank().label
    'BatchRank'
    """

    items_may_change = False  # what a batch has dropped or settled it never looks at again

    def start(self, n_items: int, n_positions: int, horizon: int | None, capacity: int) -> BatchRankState:
        """Return a state that has seen nothing."""
        if horizon is None:
            raise BadInput("horizon must be given: BatchRank needs to know how many rounds there will be")
        lengths = np.zeros(n_positions, np.int64)
        lengths[0] = n_positions
        return BatchRankState(
            lengths=lengths,
            stages=np.zeros(n_positions, np.int64),
            batches=np.zeros(n_items, np.int64),
            counts=np.zeros(n_items, np.int64),
            clicks=np.zeros(n_items),
            scores=np.zeros(n_items),
            lower=np.zeros(n_items),
            upper=np.zeros(n_items),
            order=np.zeros(n_items, np.int64),
            log_horizon=math.log(max(horizon, 2)),  # above 0, so that every stage observes something
        )
