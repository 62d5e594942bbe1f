"""Cascade model, CM (Craswell, Zoeter, Taylor and Ramsey, WSDM 2008).

The user reads from the top, clicks the first attractive document and leaves:

    P(click at k) = v_{a_k} (1 - v_{a_1}) ... (1 - v_{a_{k-1}})

Estimated by counting: clicks on a document among the times no click was above it, with one click in two added.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.em import Estimate, Stopping
from corebandit.clicks.models.model import ClickModel, Shapes
from corebandit.clicks.models.top_down import LeavesByClick
from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray


class Attractions(NamedTuple):
    """What a cascade user goes by."""

    attraction: FloatArray  # (n_documents,)


@allocating_nothing
class CascadeUser(Attractions, LeavesByClick):
    """Reads from the top, clicks the first attractive document and leaves."""

    def after_click(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a click: none does."""
        return 0.0

    def count_session(self, ranking: IntArray, clicks: IntArray, numerators: Any, denominators: Any) -> None:
        """Count one session: every document down to the first click was examined."""
        for rank in range(ranking.size):
            denominators.attraction[ranking[rank]] += 1.0
            if clicks[rank]:
                numerators.attraction[ranking[rank]] += 1.0
                break


@dataclass(frozen=True)
class CM(ClickModel):
    """Users click the first attractive document and leave.

    >>> CM([0.2, 0.5]).click_probabilities([1, 0]).tolist()
    [0.5, 0.1]
    """

    user_class = CascadeUser
    shapes: ClassVar[Shapes] = {"attraction": ("document",)}

    def optimal(self, n_positions: int) -> IntArray:
        """Return the most attractive documents, best first (their order changes nothing)."""
        self.checked_positions(n_positions)
        return np.argsort(-np.array(self.attraction), kind="stable")[:n_positions]

    @classmethod
    def estimate(cls, log: ClickLog, stopping: Stopping) -> Estimate:
        """Count: that is the maximum."""
        return cls.count(log)
