"""Every arm's observations in order, in pages, so that memory follows the observations and not arms times rounds."""

from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
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


def new_history(n_arms: int, capacity: int) -> History:
    """Return empty lists with room for `capacity` numbers in all."""
    return History(
        pages=np.zeros((capacity // PAGE + n_arms, PAGE)),
        table=np.zeros((n_arms, capacity // PAGE + 1), np.int64),
        counts=np.zeros(n_arms, np.int64),
        n_used=np.zeros(1, np.int64),
    )
