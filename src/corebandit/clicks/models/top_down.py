"""Users who read from the top: after every document they go on with some probability, or leave.

Five of the seven models are of this kind and differ only in that probability: `after_click(document, rank)` and
`after_skip(document, rank)`. Whether a document attracts is decided by row 0 of `chance`, by document; whether the user
goes on by row 1, by document if that probability depends on it and by rank if not (`chance_of(document, rank)`).

Fitting them is one EM as well (`expect`). Clicks hide only where the user left. Everything down to the last click was
read; below it the posterior follows from the probability of no click from some rank on. A model says which parameters
a decision to go on is counted for: `add_after_click` and `add_after_skip`. Whether a document attracts is counted when
it is read, and going on when something is left to read: the last rank says nothing about it.
"""

import math
from typing import Any

import numpy as np

from corebandit.clicks.feedback import n_examined
from corebandit.compiled.bridge import inlined
from corebandit.contracts.state import FloatArray, IntArray

TINY = 1e-200  # smaller products lose digits soon; 1 - p of a float p is 0 or larger than this


class TopDown:
    """What users who read from the top have in common."""

    attraction: FloatArray  # (n_documents,)

    def after_click(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a click."""
        raise NotImplementedError

    def after_skip(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a document that was not clicked."""
        raise NotImplementedError

    def chance_of(self, document: int, rank: int) -> int:
        """Return which number of row 1 of `chance` decides about reading on."""
        return document

    def click(self, ranking: IntArray, chance: FloatArray, clicks: IntArray) -> None:
        """Fill `clicks` `(n_positions,)` for the user whose decisions are the uniforms `chance` `(2, n_documents)`."""
        is_reading = True
        for rank in range(ranking.size):
            clicks[rank] = 0
            if is_reading:
                document = ranking[rank]
                if chance[0, document] < self.attraction[document]:
                    clicks[rank] = 1
                    goes_on = self.after_click(document, rank)
                else:
                    goes_on = self.after_skip(document, rank)
                is_reading = chance[1, self.chance_of(document, rank)] < goes_on

    def value(self, ranking: IntArray) -> float:
        """Return the expected number of clicks."""
        examined, expected = 1.0, 0.0
        for rank in range(ranking.size):
            document = ranking[rank]
            attraction = self.attraction[document]
            expected += examined * attraction
            examined *= attraction * self.after_click(document, rank) + (1.0 - attraction) * self.after_skip(
                document, rank
            )
        return expected

    def fill_click_probabilities(self, ranking: IntArray, probabilities: FloatArray) -> None:
        """Fill the probability of a click at each position."""
        examined = 1.0
        for rank in range(ranking.size):
            document = ranking[rank]
            attraction = self.attraction[document]
            probabilities[rank] = examined * attraction
            examined *= attraction * self.after_click(document, rank) + (1.0 - attraction) * self.after_skip(
                document, rank
            )

    def fill_conditional_probabilities(self, ranking: IntArray, clicks: IntArray, probabilities: FloatArray) -> None:
        """Fill the probability of a click at each position given the clicks above it."""
        examined = 1.0
        for rank in range(ranking.size):
            document = ranking[rank]
            attraction = self.attraction[document]
            probabilities[rank] = examined * attraction
            if clicks[rank]:
                examined = self.after_click(document, rank)
            elif examined * attraction < 1.0:
                skipped = examined * (1.0 - attraction) / (1.0 - examined * attraction)
                examined = skipped * self.after_skip(document, rank)
            else:
                examined = 0.0  # a click was certain and did not happen: nothing is known

    def add_after_click(self, document: int, rank: int, went_on: float, numerators: Any, denominators: Any) -> None:
        """Count what followed a click; `went_on` is the probability that the user went on, given all clicks."""
        raise NotImplementedError

    def add_after_skip(self, examined: float, went_on: float, numerators: Any, denominators: Any) -> None:
        """Count what followed a skip: the probabilities, given all clicks, of reading it and of going on after it."""
        raise NotImplementedError

    def expect(
        self, ranking: IntArray, clicks: IntArray, numerators: Any, denominators: Any, no_more: FloatArray
    ) -> float:
        """Add the expected counts of one session and return its log-likelihood."""
        n, last = ranking.size, last_click(clicks)
        # no_more[k]: the probability of no click from rank k on for a user who examines k
        no_more[n] = 1.0
        for rank in range(n - 1, last, -1):
            goes_on = self.after_skip(ranking[rank], rank)
            no_more[rank] = (1.0 - self.attraction[ranking[rank]]) * (1.0 - goes_on + goes_on * no_more[rank + 1])
        log_likelihood, likelihood = 0.0, 1.0
        if last < 0:
            first = 0
            while no_more[first] < TINY:  # a page so long that its product leaves the range of floats: add logarithms
                log_likelihood += math.log(1.0 - self.attraction[ranking[first]])
                first += 1
            likelihood = no_more[first]
        examined = 1.0  # the probability, given all clicks, that this rank was examined
        for rank in range(n):
            document = ranking[rank]
            denominators.attraction[document] += examined
            if clicks[rank]:
                numerators.attraction[document] += 1.0
                goes_on, seen = self.after_click(document, rank), self.attraction[document]
            else:
                goes_on, seen = self.after_skip(document, rank), 1.0 - self.attraction[document]
            if rank < last:
                went_on = 1.0
                likelihood *= seen * goes_on
            else:
                in_vain = goes_on * no_more[rank + 1]
                # Where both are tiny, leaving is impossible: whoever read this went on.
                went_on = examined
                if 1.0 - goes_on + in_vain >= TINY:
                    went_on = examined * in_vain / (1.0 - goes_on + in_vain)
                if rank == last:
                    likelihood *= seen * (1.0 - goes_on + in_vain)
            if likelihood < TINY:
                log_likelihood += math.log(likelihood)
                likelihood = 1.0
            if rank < n - 1:
                if clicks[rank]:
                    self.add_after_click(document, rank, went_on, numerators, denominators)
                else:
                    self.add_after_skip(examined, went_on, numerators, denominators)
            examined = went_on
        return log_likelihood + math.log(likelihood)


class LeavesByClick(TopDown):
    """What users who leave only after a click have in common."""

    def after_skip(self, document: int, rank: int) -> float:
        """Return the probability of reading on after a skip: everyone does."""
        return 1.0

    def add_after_skip(self, examined: float, went_on: float, numerators: Any, denominators: Any) -> None:
        """Count nothing: everyone goes on after a skip."""

    def count_session(self, ranking: IntArray, clicks: IntArray, numerators: Any, denominators: Any) -> None:
        """Count one session as if nothing were hidden: the user left after the last click, if there is one."""
        n = n_examined(clicks)
        for rank in range(n):
            document = ranking[rank]
            denominators.attraction[document] += 1.0
            if clicks[rank]:
                numerators.attraction[document] += 1.0
                self.add_after_click(document, rank, 1.0 if rank < n - 1 else 0.0, numerators, denominators)


@inlined
def last_click(clicks: IntArray) -> int:
    """Return the rank of the last click, -1 if there is none."""
    last = -1
    for rank in range(clicks.size):
        if clicks[rank]:
            last = rank
    return last


def most_clicked(attraction: FloatArray, goes_on: FloatArray, n_positions: int) -> IntArray:
    """Return the ranking with the most expected clicks if reading on depends on the document and not on the rank.

    Two neighbours x, y with the probabilities c of going on past them are in the better order if
    x + c_x y >= y + c_y x, whatever follows: documents go by increasing (1 - c) / attraction. Which to show is then
    dynamic programming from the last document of that order: show it, or leave it out. Ties go to the attractive.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = np.where(attraction > 0.0, (1.0 - goes_on) / attraction, np.inf)
    order = np.lexsort((-attraction, np.round(cost, 12)))  # rounded, so that ties are ties
    # best[j, m]: the value of m documents chosen from order[j:], from where the user reaches them
    best = np.full((order.size + 1, n_positions + 1), -np.inf)
    best[:, 0] = 0.0
    is_shown = np.zeros(best.shape, dtype=bool)
    for j in range(order.size - 1, -1, -1):
        for m in range(1, min(n_positions, order.size - j) + 1):
            shown = attraction[order[j]] + goes_on[order[j]] * best[j + 1, m - 1]
            is_shown[j, m] = shown >= best[j + 1, m]
            best[j, m] = max(shown, best[j + 1, m])
    ranking, wanted = np.empty(n_positions, dtype=np.int64), n_positions
    for j, document in enumerate(order):
        if is_shown[j, wanted]:
            ranking[n_positions - wanted] = document
            wanted -= 1
    return ranking
