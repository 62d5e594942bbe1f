"""Dependent click model, DCM (Guo, Liu and Wang, WSDM 2009).

The user reads from the top and clicks what attracts; after a click at rank k he stops with probability s_k:

    P(examine k + 1) = P(examine k) (1 - s_k v_{a_k})

Estimated by EM, from the paper's counts on. Those take the last click for the stop (documents down to it were examined,
all if there was no click), which maximises a bound and not the likelihood: a user who reads on and finds nothing more
counts as one who stopped. Stop probabilities come out too high, and so do attractions, however long the log; PyClick
does the same, and `fit(..., method="counts")`. Stopping at the last rank changes nothing that could be seen: EM leaves
it at its prior, counts bring it near 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.em import Estimate, Stopping, climb_sessions
from corebandit.clicks.models.model import ClickModel, Shapes
from corebandit.clicks.models.search import FEW_DOCUMENTS, best_by_subsets, best_ranking
from corebandit.clicks.models.top_down import LeavesByClick
from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray


class AttractionsAndStops(NamedTuple):
    """What a user of the dependent click model goes by."""

    attraction: FloatArray  # (n_documents,)
    stop_after_click_by_rank: FloatArray  # (n_ranks,)


@allocating_nothing
class DependentClickUser(AttractionsAndStops, LeavesByClick):
    """Reads from the top, clicks what attracts, and may stop after a click, depending on the rank."""

    def after_click(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a click."""
        return 1.0 - float(self.stop_after_click_by_rank[rank])

    def chance_of(self, document: int, rank: int) -> int:
        """Return the rank: stopping depends on nothing else."""
        return rank

    def add_after_click(self, document: int, rank: int, went_on: float, numerators: Any, denominators: Any) -> None:
        """Count what followed a click; `went_on` is the probability that the user went on, given all clicks."""
        numerators.stop_after_click_by_rank[rank] += 1.0 - went_on
        denominators.stop_after_click_by_rank[rank] += 1.0


@dataclass(frozen=True)
class DCM(ClickModel):
    """Users may stop after a click, with a probability that depends on the rank.

    >>> DCM([0.5, 0.4], stop_after_click_by_rank=[0.5, 1.0]).value([0, 1])
    0.8
    """

    user_class = DependentClickUser
    shapes: ClassVar[Shapes] = {"attraction": ("document",), "stop_after_click_by_rank": ("rank",)}

    stop_after_click_by_rank: Sequence[float]

    def optimal(self, n_positions: int) -> IntArray:
        """Return the ranking with the most expected clicks.

        An attractive document costs the clicks below it where stopping is likely, so this need not be the order of
        attraction. Exact for up to 20 documents, and for more if there are at most four million rankings; otherwise
        found by exchanges from that order, which may miss the best.
        """
        user, n_positions = self.user(), self.checked_positions(n_positions)
        if self.n_documents <= FEW_DOCUMENTS:
            return best_by_subsets(user.attraction, user.stop_after_click_by_rank, n_positions)
        return best_ranking(user, n_positions)

    @classmethod
    def estimate(cls, log: ClickLog, stopping: Stopping) -> Estimate:
        """Climb the likelihood by EM, from the counts on."""
        return climb_sessions(cls.count(log).user, log, stopping)
