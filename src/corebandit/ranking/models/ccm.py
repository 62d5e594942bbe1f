"""Click chain model, CCM (Guo, Liu, Kannan, Minka, Taylor, Wang and Faloutsos, WWW 2009).

The user reads from the top and clicks a document with probability R, its relevance. He goes on with probability
alpha_1 after a skip, and after a click with

    alpha_2 (1 - R) + alpha_3 R

Estimated by EM: after a click the document turns out relevant with probability R, and then alpha_3 decides, else
alpha_2. The paper integrates R out; here it is a parameter, as in PyClick. The last rank says nothing about going on.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from corebandit.compiled import allocating_nothing
from corebandit.ranking.em import Estimate, Stopping, climb_sessions
from corebandit.ranking.log import ClickLog
from corebandit.ranking.models.model import ClickModel, Shapes
from corebandit.ranking.models.top_down import TopDown, last_click, most_clicked
from corebandit.state import FloatArray, IntArray


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

    def expect(
        self, ranking: IntArray, clicks: IntArray, numerators: Any, denominators: Any, no_more: FloatArray
    ) -> float:
        """Add the expected counts of one session and return its log-likelihood."""
        n, last, on_skip = ranking.size, last_click(clicks), self.continue_no_click[0]
        # no_more[k]: the probability of no click from rank k on for a user who examines k
        no_more[n] = 1.0
        for rank in range(n - 1, last, -1):
            no_more[rank] = (1.0 - self.attraction[ranking[rank]]) * (1.0 - on_skip + on_skip * no_more[rank + 1])
        log_likelihood, likelihood, examined = 0.0, 1.0, 1.0
        for rank in range(last + 1):
            document = ranking[rank]
            denominators.attraction[document] += 1.0
            if clicks[rank]:
                numerators.attraction[document] += 1.0
                likelihood *= self.attraction[document]
                if rank < n - 1:
                    seen = self.turn_out(document, rank < last, no_more[rank + 1], numerators, denominators)
                    likelihood *= seen
                    if rank == last:
                        examined = self.after_click(document, rank) * no_more[rank + 1] / seen
            else:
                likelihood *= (1.0 - self.attraction[document]) * on_skip
                numerators.continue_no_click[0] += 1.0
                denominators.continue_no_click[0] += 1.0
            if likelihood < 1e-200:
                log_likelihood += math.log(likelihood)
                likelihood = 1.0
        if last < 0:
            likelihood *= no_more[0]
        for rank in range(last + 1, n):
            document = ranking[rank]
            denominators.attraction[document] += 1.0
            numerators.attraction[document] += (1.0 - examined) * self.attraction[document]
            if rank < n - 1:
                went_on = on_skip * no_more[rank + 1]
                denominators.continue_no_click[0] += examined
                examined *= went_on / (1.0 - on_skip + went_on)
                numerators.continue_no_click[0] += examined
        return log_likelihood + math.log(likelihood)

    def turn_out(self, document: int, has_more: bool, no_more: float, numerators: Any, denominators: Any) -> float:
        """Add the expected counts of what followed a click and return its probability.

        Either there were more clicks, so the user went on, or none: he stopped, or went on to no more (`no_more`).
        """
        relevance = self.attraction[document]
        if has_more:
            stopped, went_on = 0.0, 1.0
        else:
            stopped, went_on = 1.0, no_more
        on_relevant, on_other = self.continue_click_relevant[0], self.continue_click_nonrelevant[0]
        relevant = relevance * ((1.0 - on_relevant) * stopped + on_relevant * went_on)
        other = (1.0 - relevance) * ((1.0 - on_other) * stopped + on_other * went_on)
        seen = relevant + other
        numerators.attraction[document] += relevant / seen
        denominators.attraction[document] += 1.0
        numerators.continue_click_relevant[0] += relevance * on_relevant * went_on / seen
        denominators.continue_click_relevant[0] += relevant / seen
        numerators.continue_click_nonrelevant[0] += (1.0 - relevance) * on_other * went_on / seen
        denominators.continue_click_nonrelevant[0] += other / seen
        return float(seen)


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
