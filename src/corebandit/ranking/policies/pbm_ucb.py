r"""PBM-UCB (Lagrée, Vernade and Cappé, 2016).

    index_i = S_i / M_i + sqrt(N_i / M_i) sqrt(delta_t / (2 M_i)),   M_i = sum of e_k over the displays of item i

S_i are the clicks on item i, N_i its displays, e_k the probability that position k is looked at, and delta_t =
(1 + epsilon) ln t in round t. Items never shown come first.

What is assumed: a click on item i at position k has probability e_k times the attraction of i, whatever else is shown
(the position-based model), and the e_k are known. By default e_k = 1 / k; give those of a fitted model if there is one.
Items are shown best first, which is best if the e_k do not increase.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import RankingPolicy
from corebandit.contracts.state import FloatArray, IntArray, Scratch
from corebandit.contracts.validate import check_number
from corebandit.parts.choose import best_items
from corebandit.randomness.stream import Stream


@allocating_nothing
class PBMUCBState(NamedTuple):
    """What PBM-UCB has learnt."""

    counts: FloatArray  # (n_items,) displays
    looks: FloatArray  # (n_items,) expected number of displays that were looked at
    sums: FloatArray  # (n_items,) clicks
    n_rounds: IntArray  # (1,)
    scores: Scratch  # (n_items,) the indices
    examination: FloatArray  # (n_positions,) probability that a position is looked at
    epsilon: float

    def rank(self, rng: Stream, ranking: IntArray) -> None:
        """Fill `ranking` with the items of the highest upper confidence bounds."""
        delta = (1.0 + self.epsilon) * math.log(self.n_rounds[0] + 1.0)
        for item in range(self.scores.size):
            looks = self.looks[item]
            if looks == 0.0:
                self.scores[item] = np.inf
            else:
                self.scores[item] = (self.sums[item] + math.sqrt(0.5 * delta * self.counts[item])) / looks
        best_items(self.scores, rng, ranking)

    def learn(self, ranking: IntArray, clicks: IntArray, rng: Stream) -> None:
        """Learn from all items shown."""
        self.n_rounds[0] += 1
        for position in range(ranking.size):
            item = ranking[position]
            self.counts[item] += 1.0
            self.looks[item] += self.examination[position]
            self.sums[item] += clicks[position]


@dataclass(frozen=True)
class PBMUCB(RankingPolicy):
    """Rank by upper confidence bounds of the attraction if positions are looked at with known probabilities.

    Parameters
    ----------
    examination
        The probabilities, one for each position, from the top; None is 1, 1/2, 1/3, ...
    epsilon
        The bounds grow with (1 + epsilon) ln t.

    >>> PBMUCB(examination=(1.0, 0.5)).label
    'PBMUCB(examination=[1.0, 0.5])'
    """

    examination: Sequence[float] | None = None
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        """Validate, and freeze the list."""
        check_number("epsilon", self.epsilon, at_least=0)
        if self.examination is not None:
            object.__setattr__(self, "examination", tuple(self.examination))
            for position, probability in enumerate(self.examination, start=1):
                check_number(f"examination of position {position}", probability, above=0, at_most=1)

    def start(self, n_items: int, n_positions: int, horizon: int | None, capacity: int) -> PBMUCBState:
        """Return a state that has seen nothing."""
        examination = 1.0 / np.arange(1.0, n_positions + 1.0)
        if self.examination is not None:
            if len(self.examination) < n_positions:
                raise BadInput(
                    f"examination must hold a probability for each of {n_positions} positions, not {self.examination}"
                )
            examination = np.array(self.examination[:n_positions], dtype=float)
        return PBMUCBState(
            counts=np.zeros(n_items),
            looks=np.zeros(n_items),
            sums=np.zeros(n_items),
            n_rounds=np.zeros(1, np.int64),
            scores=np.zeros(n_items),
            examination=examination,
            epsilon=float(self.epsilon),
        )
