"""Dynamic Bayesian network, DBN (Chapelle and Zhang, WWW 2009).

The user reads from the top and clicks what attracts; a click satisfies with probability s, and then he leaves. Unless
satisfied he abandons before the next document with probability 1 - gamma:

    P(examine k + 1) = P(examine k) gamma (1 - v_{a_k} s_{a_k})

Estimated by EM. Everything down to the last click was certainly examined; below it the posterior follows from the
probability of no click from some rank on. Where we differ from PyClick: that probability is computed from the documents
it is about (its helper starts from the top of the page), and a session without a click says, as any other, that each
document was examined only perhaps (there: certainly). The last rank says nothing about abandoning.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from corebandit.compiled import allocating_nothing
from corebandit.ranking.em import Estimate, Stopping, climb_sessions
from corebandit.ranking.log import ClickLog
from corebandit.ranking.models.model import ClickModel, Shapes
from corebandit.ranking.models.top_down import TopDown, last_click, most_clicked
from corebandit.state import FloatArray, IntArray


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

    def expect(
        self, ranking: IntArray, clicks: IntArray, numerators: Any, denominators: Any, no_more: FloatArray
    ) -> float:
        """Add the expected counts of one session and return its log-likelihood."""
        n, last, abandon = ranking.size, last_click(clicks), self.abandon[0]
        # no_more[k]: the probability of no click from rank k on for a user who examines k
        no_more[n] = 1.0
        for rank in range(n - 1, last, -1):
            no_more[rank] = (1.0 - self.attraction[ranking[rank]]) * (abandon + (1.0 - abandon) * no_more[rank + 1])
        likelihood, n_abandoned, n_could = 1.0, 0.0, 0.0
        log_likelihood = 0.0
        for rank in range(last):
            document = ranking[rank]
            denominators.attraction[document] += 1.0
            if clicks[rank]:
                numerators.attraction[document] += 1.0
                denominators.satisfaction[document] += 1.0
                likelihood *= self.attraction[document] * (1.0 - self.satisfaction[document])
            else:
                likelihood *= 1.0 - self.attraction[document]
            likelihood *= 1.0 - abandon
            n_could += 1.0
            if likelihood < 1e-200:
                log_likelihood += math.log(likelihood)
                likelihood = 1.0
        examined = 1.0  # the posterior probability that the next document was examined
        if last >= 0:
            document = ranking[last]
            satisfaction = self.satisfaction[document]
            went_on = (1.0 - satisfaction) * (1.0 - abandon) * no_more[last + 1]
            tired = (1.0 - satisfaction) * abandon
            ended = satisfaction + tired + went_on
            denominators.attraction[document] += 1.0
            numerators.attraction[document] += 1.0
            denominators.satisfaction[document] += 1.0
            numerators.satisfaction[document] += satisfaction / ended
            likelihood *= self.attraction[document] * ended
            examined = went_on / ended
            if last < n - 1:
                n_could += (tired + went_on) / ended
                n_abandoned += tired / ended
        else:
            likelihood *= no_more[0]
        for rank in range(last + 1, n):
            document = ranking[rank]
            denominators.attraction[document] += 1.0
            numerators.attraction[document] += (1.0 - examined) * self.attraction[document]
            if rank < n - 1:
                went_on = (1.0 - abandon) * no_more[rank + 1]
                n_could += examined
                n_abandoned += examined * abandon / (abandon + went_on)
                examined *= went_on / (abandon + went_on)
        numerators.abandon[0] += n_abandoned
        denominators.abandon[0] += n_could
        return log_likelihood + math.log(likelihood)


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
