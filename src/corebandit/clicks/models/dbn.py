"""Dynamic Bayesian network, DBN (Chapelle and Zhang, WWW 2009).

The user reads from the top and clicks what attracts; a click satisfies with probability s, and then he leaves. Unless
satisfied he abandons before the next document with probability 1 - gamma:

    P(examine k + 1) = P(examine k) gamma (1 - v_{a_k} s_{a_k})

Estimated by EM (`top_down`); a user who stopped after a click was satisfied or tired. Where we differ from PyClick: the
probability of no click from some rank on is computed from the documents it is about (its helper starts from the top of
the page), and a session without a click says, as any other, that each document was examined only perhaps (there:
certainly). Attraction is counted for documents that were read, there for all that were shown; the maximum is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.em import Estimate, Stopping, climb_sessions
from corebandit.clicks.models.model import ClickModel, Shapes
from corebandit.clicks.models.top_down import TopDown, most_clicked
from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray


class NetworkParameters(NamedTuple):
    """What a user of the network goes by."""

    attraction: FloatArray  # (n_documents,)
    satisfaction: FloatArray  # (n_documents,)
    abandon: FloatArray  # (1,)


@allocating_nothing
class NetworkUser(NetworkParameters, TopDown):
    """Reads from the top, clicks what attracts, leaves when satisfied or tired."""

    def after_click(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a click."""
        return float((1.0 - self.satisfaction[document]) * (1.0 - self.abandon[0]))

    def after_skip(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a skip."""
        return 1.0 - float(self.abandon[0])

    def add_after_click(self, document: int, rank: int, went_on: float, numerators: Any, denominators: Any) -> None:
        """Count what followed a click; `went_on` is the probability that the user went on, given all clicks."""
        satisfaction, abandon = self.satisfaction[document], self.abandon[0]
        satisfied = (1.0 - went_on) * satisfaction / (satisfaction + (1.0 - satisfaction) * abandon)
        numerators.satisfaction[document] += satisfied
        denominators.satisfaction[document] += 1.0
        numerators.abandon[0] += 1.0 - went_on - satisfied
        denominators.abandon[0] += 1.0 - satisfied

    def add_after_skip(self, examined: float, went_on: float, numerators: Any, denominators: Any) -> None:
        """Count what followed a skip: the probabilities, given all clicks, of reading it and of going on after it."""
        numerators.abandon[0] += examined - went_on
        denominators.abandon[0] += examined


@dataclass(frozen=True)
class DBN(ClickModel):
    """Users leave after the click that satisfies them, and any time when tired.

    >>> DBN([0.5, 0.4], satisfaction=[0.5, 0.5], abandon=0.2).value([0, 1])
    0.74
    """

    user_class = NetworkUser
    shapes: ClassVar[Shapes] = {"attraction": ("document",), "satisfaction": ("document",), "abandon": ()}

    satisfaction: Sequence[float]
    abandon: float

    def optimal(self, n_positions: int) -> IntArray:
        """Return the ranking with the most expected clicks."""
        self.checked_positions(n_positions)
        attraction, satisfaction = np.array(self.attraction), np.array(self.satisfaction)
        return most_clicked(attraction, (1.0 - self.abandon) * (1.0 - attraction * satisfaction), n_positions)

    @classmethod
    def estimate(cls, log: ClickLog, stopping: Stopping) -> Estimate:
        """Climb the likelihood by EM."""
        return climb_sessions(cls.blank(log.n_pairs, log.n_positions), log, stopping)
