"""Position-based model, PBM (Richardson, Dominowska and Ragno, WWW 2007).

A document is clicked if it attracts and its position is examined, both independent of everything else:

    P(click at k) = v_{a_k} e_k

Estimated by EM. The likelihood knows only the products: attraction times c and examination over c explain a log
as well, and which of them comes out is up to the prior and the start. Compare ratios.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from corebandit.clicks.cells import climb_cells
from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.em import Estimate, Stopping
from corebandit.clicks.models.model import ClickModel, Shapes
from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray


@allocating_nothing
class PositionUser(NamedTuple):
    """Examines each position or not, whatever else happens."""

    attraction: FloatArray  # (n_documents,)
    examination: FloatArray  # (n_ranks,)

    def click(self, ranking: IntArray, chance: FloatArray, clicks: IntArray) -> None:
        """Fill `clicks` `(n_positions,)` for the user whose decisions are the uniforms `chance` `(2, n_documents)`."""
        for rank in range(ranking.size):
            document = ranking[rank]
            is_attractive = chance[0, document] < self.attraction[document]
            clicks[rank] = 1 if is_attractive and chance[1, rank] < self.examination[rank] else 0

    def value(self, ranking: IntArray) -> float:
        """Return the expected number of clicks."""
        expected = 0.0
        for rank in range(ranking.size):
            expected += self.attraction[ranking[rank]] * self.examination[rank]
        return expected

    def fill_click_probabilities(self, ranking: IntArray, probabilities: FloatArray) -> None:
        """Fill the probability of a click at each position."""
        for rank in range(ranking.size):
            probabilities[rank] = self.attraction[ranking[rank]] * self.examination[rank]

    def fill_conditional_probabilities(self, ranking: IntArray, clicks: IntArray, probabilities: FloatArray) -> None:
        """Fill the probability of a click at each position: the clicks above tell nothing."""
        for rank in range(ranking.size):
            probabilities[rank] = self.attraction[ranking[rank]] * self.examination[rank]


@dataclass(frozen=True)
class PBM(ClickModel):
    """Users click attractive documents at the positions they examine.

    >>> PBM([0.5, 0.4], examination=[1.0, 0.5]).value([0, 1])
    0.7
    """

    observes = "all"
    user_class = PositionUser
    shapes: ClassVar[Shapes] = {"attraction": ("document",), "examination": ("rank",)}

    examination: Sequence[float]

    def optimal(self, n_positions: int) -> IntArray:
        """Return the most attractive documents, the best at the position examined most."""
        self.checked_positions(n_positions)
        ranking = np.empty(n_positions, dtype=np.int64)
        positions = np.argsort(-np.array(self.examination[:n_positions]), kind="stable")
        ranking[positions] = np.argsort(-np.array(self.attraction), kind="stable")[:n_positions]
        return ranking

    @classmethod
    def estimate(cls, log: ClickLog, stopping: Stopping) -> Estimate:
        """Climb the likelihood by EM."""
        return climb_cells(cls.blank(log.n_pairs, log.n_positions), log, stopping, fill_ranks)


def fill_ranks(clicks: Any, where: Any) -> None:
    """Fill which examination parameter is in force: that of the rank."""
    where[:] = np.arange(where.shape[1])
