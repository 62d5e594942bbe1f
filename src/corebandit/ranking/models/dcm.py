"""Dependent click model, DCM (Guo, Liu and Wang, WSDM 2009).

The user reads from the top and clicks what attracts; after a click at rank k he stops with probability s_k:

    P(examine k + 1) = P(examine k) (1 - s_k v_{a_k})

Estimated by counting as in the paper: documents down to the last click were examined (all, if there was no click), and
the last click is taken for the stop. That is a bound and not the likelihood: a user who reads on and finds nothing more
counts as one who stopped, so the stop probabilities come out too high, and so do attractions after the first click.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from corebandit.compiled import allocating_nothing
from corebandit.ranking.em import Estimate, Stopping, tally
from corebandit.ranking.feedback import n_examined
from corebandit.ranking.log import ClickLog
from corebandit.ranking.models.model import ClickModel, Shapes
from corebandit.ranking.models.search import best_ranking
from corebandit.ranking.models.top_down import TopDown, last_click
from corebandit.state import FloatArray, IntArray


class AttractionsAndStops(NamedTuple):
    """What a user of the dependent click model goes by."""

    attraction: FloatArray  # (n_documents,)
    stop_after_click_by_rank: FloatArray  # (n_ranks,)


@allocating_nothing
class DependentClickUser(AttractionsAndStops, TopDown):
    """Reads from the top, clicks what attracts, and may stop after a click, depending on the rank."""

    def after_click(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a click."""
        return 1.0 - float(self.stop_after_click_by_rank[rank])

    def after_skip(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a skip: everyone does."""
        return 1.0

    def chance_of(self, document: int, rank: int) -> int:
        """Return the rank: stopping depends on nothing else."""
        return rank

    def count_session(self, ranking: IntArray, clicks: IntArray, numerators: Any, denominators: Any) -> None:
        """Count one session: documents down to the last click (all if none) were examined, the last click stopped."""
        last = last_click(clicks)
        for rank in range(n_examined(clicks)):
            denominators.attraction[ranking[rank]] += 1.0
            if clicks[rank]:
                numerators.attraction[ranking[rank]] += 1.0
                denominators.stop_after_click_by_rank[rank] += 1.0
        if last >= 0:
            numerators.stop_after_click_by_rank[last] += 1.0


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
        attraction. Found by trying everything, or by exchanges from that order if there are too many rankings.
        """
        return best_ranking(self.user(), self.checked_positions(n_positions))

    @classmethod
    def estimate(cls, log: ClickLog, stopping: Stopping) -> Estimate:
        """Count."""
        return tally(cls.blank(log.n_pairs, log.n_positions), log)
