"""Click chain model, CCM (Guo, Liu, Kannan, Minka, Taylor, Wang and Faloutsos, WWW 2009).

The user reads from the top and clicks a document with probability R, its relevance. He goes on with probability
alpha_1 after a skip, and after a click with

    alpha_2 (1 - R) + alpha_3 R

Estimated by EM (`top_down`): after a click the document turns out relevant with probability R, and then alpha_3
decides, else alpha_2. The paper integrates R out; here it is a parameter, as in PyClick.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.em import Estimate, Stopping, climb_sessions
from corebandit.clicks.models.model import ClickModel, Shapes
from corebandit.clicks.models.top_down import TopDown, most_clicked
from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray


class ChainParameters(NamedTuple):
    """What a user of the chain goes by."""

    attraction: FloatArray  # (n_documents,)
    continue_no_click: FloatArray  # (1,)
    continue_click_nonrelevant: FloatArray  # (1,)
    continue_click_relevant: FloatArray  # (1,)


@allocating_nothing
class ChainUser(ChainParameters, TopDown):
    """Reads from the top, clicks what attracts, and goes on depending on whether it was relevant."""

    def after_click(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a click."""
        relevance = self.attraction[document]
        return float(
            (1.0 - relevance) * self.continue_click_nonrelevant[0] + relevance * self.continue_click_relevant[0]
        )

    def after_skip(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a skip."""
        return float(self.continue_no_click[0])

    def add_after_click(self, document: int, rank: int, went_on: float, numerators: Any, denominators: Any) -> None:
        """Count what followed a click; `went_on` is the probability that the user went on, given all clicks."""
        relevance, goes_on = self.attraction[document], self.after_click(document, rank)
        on_relevant = self.continue_click_relevant[0]
        relevant_and_on = went_on * relevance * on_relevant / goes_on
        relevant = relevant_and_on + (1.0 - went_on) * relevance * (1.0 - on_relevant) / (1.0 - goes_on)
        numerators.attraction[document] += relevant
        denominators.attraction[document] += 1.0
        numerators.continue_click_relevant[0] += relevant_and_on
        denominators.continue_click_relevant[0] += relevant
        numerators.continue_click_nonrelevant[0] += went_on - relevant_and_on
        denominators.continue_click_nonrelevant[0] += 1.0 - relevant

    def add_after_skip(self, examined: float, went_on: float, numerators: Any, denominators: Any) -> None:
        """Count what followed a skip: the probabilities, given all clicks, of reading it and of going on after it."""
        numerators.continue_no_click[0] += went_on
        denominators.continue_no_click[0] += examined


@dataclass(frozen=True)
class CCM(ClickModel):
    """Users go on after a click depending on whether the document was relevant.

    >>> round(CCM([0.5, 0.4], 0.8, 1.0, 0.5).value([0, 1]), 3)
    0.81
    """

    user_class = ChainUser
    shapes: ClassVar[Shapes] = {
        "attraction": ("document",),
        "continue_no_click": (),
        "continue_click_nonrelevant": (),
        "continue_click_relevant": (),
    }

    continue_no_click: float
    continue_click_nonrelevant: float
    continue_click_relevant: float

    def optimal(self, n_positions: int) -> IntArray:
        """Return the ranking with the most expected clicks."""
        self.checked_positions(n_positions)
        relevance = np.array(self.attraction)
        on_click = (1.0 - relevance) * self.continue_click_nonrelevant + relevance * self.continue_click_relevant
        return most_clicked(relevance, relevance * on_click + (1.0 - relevance) * self.continue_no_click, n_positions)

    @classmethod
    def estimate(cls, log: ClickLog, stopping: Stopping) -> Estimate:
        """Climb the likelihood by EM."""
        return climb_sessions(cls.blank(log.n_pairs, log.n_positions), log, stopping)
