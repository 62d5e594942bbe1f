"""User browsing model, UBM (Dupret and Piwowarski, SIGIR 2008).

A document is clicked if it attracts and its position is examined, which depends on the rank k' of the click before:

    P(click at k | previous click at k') = v_{a_k} e_{k, k'}

The last column of the matrix e stands for no previous click (no click at the last rank can be a previous one).
Estimated by EM; as in PBM the likelihood leaves one common factor open. The other entries on and above the diagonal,
which no log can tell anything about, stay at their prior.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from corebandit.clicks.cells import climb_cells
from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.em import Estimate, Stopping
from corebandit.clicks.models.model import ClickModel, Shapes
from corebandit.clicks.models.search import best_ranking
from corebandit.compiled.bridge import kernel
from corebandit.contracts.state import FloatArray, IntArray


class BrowsingUser(NamedTuple):
    """Examines a position depending on where the previous click was."""

    attraction: FloatArray  # (n_documents,)
    examination_rank_prevclick: FloatArray  # (n_ranks, n_ranks), last column: no previous click

    def click(self, ranking: IntArray, chance: FloatArray, clicks: IntArray) -> None:
        """Fill `clicks` `(n_positions,)` for the user whose decisions are the uniforms `chance` `(2, n_documents)`."""
        previous = self.examination_rank_prevclick.shape[1] - 1
        for rank in range(ranking.size):
            document = ranking[rank]
            is_attractive = chance[0, document] < self.attraction[document]
            if is_attractive and chance[1, rank] < self.examination_rank_prevclick[rank, previous]:
                clicks[rank] = 1
                previous = rank
            else:
                clicks[rank] = 0

    def value(self, ranking: IntArray) -> float:
        """Return the expected number of clicks."""
        probabilities = np.empty(ranking.size)
        self.fill_click_probabilities(ranking, probabilities)
        return float(probabilities.sum())

    def fill_click_probabilities(self, ranking: IntArray, probabilities: FloatArray) -> None:
        """Fill the probability of a click at each position: the sum over where the previous click was."""
        probabilities[:] = 0.0
        for previous in range(-1, ranking.size):
            # the probability of a click at `previous` (of the start, for -1) and none since
            waiting = 1.0 if previous < 0 else probabilities[previous]
            for rank in range(previous + 1, ranking.size):
                # a negative column counts from the end: -1 is "no previous click"
                examination = self.examination_rank_prevclick[rank, previous]
                click = waiting * self.attraction[ranking[rank]] * examination
                probabilities[rank] += click
                waiting -= click

    def fill_conditional_probabilities(self, ranking: IntArray, clicks: IntArray, probabilities: FloatArray) -> None:
        """Fill the probability of a click at each position given the clicks above it."""
        previous = self.examination_rank_prevclick.shape[1] - 1
        for rank in range(ranking.size):
            probabilities[rank] = self.attraction[ranking[rank]] * self.examination_rank_prevclick[rank, previous]
            if clicks[rank]:
                previous = rank


@dataclass(frozen=True)
class UBM(ClickModel):
    """Users examine a position depending on where they clicked before.

    >>> UBM([0.5, 0.4], examination_rank_prevclick=[[0.5, 1.0], [0.5, 1.0]]).click_probabilities([0, 1]).tolist()
    [0.5, 0.30000000000000004]
    """

    observes = "all"
    user_class = BrowsingUser
    shapes: ClassVar[Shapes] = {"attraction": ("document",), "examination_rank_prevclick": ("rank", "rank")}

    examination_rank_prevclick: Sequence[Sequence[float]]

    def optimal(self, n_positions: int) -> IntArray:
        """Return the ranking with the most expected clicks.

        Exact if there are at most four million rankings (ten documents); otherwise found by exchanges from the order
        of attraction, which may miss the best.
        """
        return best_ranking(self.user(), self.checked_positions(n_positions))

    @classmethod
    def estimate(cls, log: ClickLog, stopping: Stopping) -> Estimate:
        """Climb the likelihood by EM."""
        return climb_cells(cls.blank(log.n_pairs, log.n_positions), log, stopping, fill_ranks_and_previous)


@kernel
def fill_ranks_and_previous(clicks: Any, where: Any) -> None:
    """Fill which examination parameter is in force: that of the rank and the previous click."""
    n_positions = where.shape[1]
    for session in range(where.shape[0]):
        previous = n_positions - 1
        for rank in range(n_positions):
            where[session, rank] = rank * n_positions + previous
            if clicks[session, rank]:
                previous = rank
