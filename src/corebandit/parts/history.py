"""Every arm's observations in order, in pages, so that memory follows the observations and not arms times rounds."""

from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.audit import check_equal, check_whole, check_within, demand
from corebandit.contracts.state import FloatArray, IntArray

PAGE = 64


@allocating_nothing
class History(NamedTuple):
    """One growing list of numbers for each arm. Make one with `new_history`."""

    pages: FloatArray  # (n_pages, 64)
    table: IntArray  # (n_arms, pages of an arm) which page
    counts: IntArray  # (n_arms,) numbers of each arm
    n_used: IntArray  # (1,) pages in use

    def append(self, arm: int, value: float) -> None:
        """Add a number at the end of the arm's list."""
        page, place = self.counts[arm] // PAGE, self.counts[arm] % PAGE
        if place == 0:
            self.table[arm, page] = self.n_used[0]
            self.n_used[0] += 1
        self.pages[self.table[arm, page], place] = value
        self.counts[arm] += 1

    def value(self, arm: int, index: int) -> float:
        """Return the arm's number at `index`, counted from 0."""
        return float(self.pages[self.table[arm, index // PAGE], index % PAGE])

    def audit(self, largest: float) -> int:
        """Return how many numbers there are, or raise a DamagedFile unless every page is one arm's, once."""
        n_pages = self.pages.shape[0]
        check_whole("the counts of a history", self.counts, 0, self.table.shape[1] * PAGE)
        arms, orders = self._pages_in_use()
        check_equal("the number of pages", self.n_used, arms.size)
        demand(arms.size <= n_pages, "a history must have room for its pages")
        used = self.table[arms, orders]
        check_whole("the pages of a history", used, 0, arms.size - 1)
        demand(np.unique(used).size == arms.size, "each page must be used once")
        check_within("the numbers of a history", self.pages, -largest, largest)
        return int(self.counts.sum())

    def listed(self) -> tuple[IntArray, FloatArray]:
        """Return the arm of each number and all numbers, arm by arm."""
        arms, orders = self._pages_in_use()
        is_used = orders[:, None] * PAGE + np.arange(PAGE) < self.counts[arms, None]
        return np.repeat(np.arange(self.counts.size), self.counts), self.pages[self.table[arms, orders]][is_used]

    def _pages_in_use(self) -> tuple[IntArray, IntArray]:
        """Return the arm of each page that is in use, and which of the arm's it is."""
        n_each = -(-self.counts // PAGE)
        arms = np.repeat(np.arange(self.counts.size), n_each)
        return arms, np.arange(arms.size) - np.repeat(np.cumsum(n_each) - n_each, n_each)


def new_history(n_arms: int, capacity: int) -> History:
    """Return empty lists with room for `capacity` numbers in all."""
    return History(
        pages=np.zeros((capacity // PAGE + n_arms, PAGE)),
        table=np.zeros((n_arms, capacity // PAGE + 1), np.int64),
        counts=np.zeros(n_arms, np.int64),
        n_used=np.zeros(1, np.int64),
    )
