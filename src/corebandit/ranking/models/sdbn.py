"""Simplified dynamic Bayesian network, SDBN (Chapelle and Zhang, WWW 2009, section 5).

The user reads from the top and clicks what attracts; a click satisfies with probability s, and then he leaves:

    P(examine k + 1) = P(examine k) (1 - v_{a_k} s_{a_k})

Estimated by counting as in the paper: documents down to the last click were examined (all, if there was no click), and
the last click is taken for the one that satisfied. That is not the likelihood: a user who reads on and finds nothing
more counts as satisfied, so satisfaction comes out too high. DBN estimates the same without that shortcut.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from corebandit.compiled import allocating_nothing
from corebandit.ranking.em import Estimate, Stopping, tally
from corebandit.ranking.feedback import n_examined
from corebandit.ranking.log import ClickLog
from corebandit.ranking.models.model import ClickModel, Shapes
from corebandit.ranking.models.top_down import TopDown, last_click, most_clicked
from corebandit.state import FloatArray, IntArray


class AttractionsAndSatisfactions(NamedTuple):
    """What a user of the simplified network goes by."""

    attraction: FloatArray  # (n_documents,)
    satisfaction: FloatArray  # (n_documents,)


@allocating_nothing
class SatisfiedUser(AttractionsAndSatisfactions, TopDown):
    """Reads from the top, clicks what attracts, and leaves when satisfied."""

    def after_click(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a click."""
        return 1.0 - float(self.satisfaction[document])

    def after_skip(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a skip: everyone does."""
        return 1.0

    def count_session(self, ranking: IntArray, clicks: IntArray, numerators: Any, denominators: Any) -> None:
        """Count one session: documents down to the last click (all if none) were examined, the last click satisfied."""
        last = last_click(clicks)
        for rank in range(n_examined(clicks)):
            denominators.attraction[ranking[rank]] += 1.0
            if clicks[rank]:
                numerators.attraction[ranking[rank]] += 1.0
                denominators.satisfaction[ranking[rank]] += 1.0
        if last >= 0:
            numerators.satisfaction[ranking[last]] += 1.0


@dataclass(frozen=True)
class SDBN(ClickModel):
    """Users leave after the click that satisfies them.

    >>> SDBN([0.5, 0.4], satisfaction=[1.0, 0.0]).value([1, 0])
    0.9
    """

    user_class = SatisfiedUser
    shapes: ClassVar[Shapes] = {"attraction": ("document",), "satisfaction": ("document",)}

    satisfaction: Sequence[float]

    def optimal(self, n_positions: int) -> IntArray:
        """Return the ranking with the most expected clicks: documents that satisfy come late."""
        self.checked_positions(n_positions)
        attraction, satisfaction = np.array(self.attraction), np.array(self.satisfaction)
        return most_clicked(attraction, 1.0 - attraction * satisfaction, n_positions)

    @classmethod
    def estimate(cls, log: ClickLog, stopping: Stopping) -> Estimate:
        """Count."""
        return tally(cls.blank(log.n_pairs, log.n_positions), log)
