"""Simplified dynamic Bayesian network, SDBN (Chapelle and Zhang, WWW 2009, section 5).

The user reads from the top and clicks what attracts; a click satisfies with probability s, and then he leaves:

    P(examine k + 1) = P(examine k) (1 - v_{a_k} s_{a_k})

Estimated by EM, from the paper's counts on. Those take the last click for the one that satisfied (documents down to it
were examined, all if there was no click), which is not the likelihood: a user who reads on and finds nothing more is
counted as satisfied. Satisfaction comes out too high, and so do attractions, however long the log; PyClick does the
same, and `fit(..., method="counts")`. A click at the last rank says nothing about satisfaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.em import Estimate, Stopping, climb_sessions
from corebandit.clicks.models.model import ClickModel, Shapes
from corebandit.clicks.models.top_down import LeavesByClick, most_clicked
from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray


class AttractionsAndSatisfactions(NamedTuple):
    """What a user of the simplified network goes by."""

    attraction: FloatArray  # (n_documents,)
    satisfaction: FloatArray  # (n_documents,)


@allocating_nothing
class SatisfiedUser(AttractionsAndSatisfactions, LeavesByClick):
    """Reads from the top, clicks what attracts, and leaves when satisfied."""

    def after_click(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a click."""
        return 1.0 - float(self.satisfaction[document])

    def add_after_click(self, document: int, rank: int, went_on: float, numerators: Any, denominators: Any) -> None:
        """Count what followed a click; `went_on` is the probability that the user went on, given all clicks."""
        numerators.satisfaction[document] += 1.0 - went_on
        denominators.satisfaction[document] += 1.0


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
        """Climb the likelihood by EM, from the counts on."""
        return climb_sessions(cls.count(log).user, log, stopping)
