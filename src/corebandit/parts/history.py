"""Every arm's observations in order, each arm's in one piece, so that memory follows the observations alone.

An arm's numbers lie in a block that holds 1, 2, 4, ... of them. When it is full they move to a new block of twice the
size behind all others. The blocks left behind are together smaller than the new one, which is at least half full once
something is added: n numbers never take more than 4 n places.
"""

from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray

PLACES = 4  # for each number


@allocating_nothing
class History(NamedTuple):
    """One growing list of numbers for each arm. Make one with `new_history`."""

    values: FloatArray  # (4 capacity,) the blocks of all arms
    starts: IntArray  # (n_arms,) where each arm's block begins
    counts: IntArray  # (n_arms,) numbers of each arm
    n_used: IntArray  # (1,) places in use

    def append(self, arm: int, value: float) -> None:
        """Add a number at the end of the arm's list."""
        n = self.counts[arm]
        if n & (n - 1) == 0:  # none yet, or a power of 2: the block is full
            self.move(arm)
        self.values[self.starts[arm] + n] = value
        self.counts[arm] = n + 1

    def move(self, arm: int) -> None:
        """Move the arm's numbers to a new block of twice the size."""
        n, old, new = self.counts[arm], self.starts[arm], self.n_used[0]
        for index in range(n):
            self.values[new + index] = self.values[old + index]
            self.values[old + index] = 0.0  # nobody reads it again, and a saved file is the shorter for it
        self.starts[arm] = new
        self.n_used[0] = new + max(2 * n, 1)

    def value(self, arm: int, index: int) -> float:
        """Return the arm's number at `index`, counted from 0."""
        return float(self.values[self.starts[arm] + index])

    def total(self, arm: int, n: int) -> float:
        """Return the arm's n-th number, or 0 for n = 0: of running totals, the total of the first n."""
        return self.value(arm, n - 1) if n > 0 else 0.0

    def window(self, arm: int, start: int, length: int) -> float:
        """Return, of running totals, the total of `length` in a row."""
        return self.total(arm, start + length) - self.total(arm, start)


def new_history(n_arms: int, capacity: int) -> History:
    """Return empty lists with room for `capacity` numbers in all."""
    return History(
        values=np.zeros(PLACES * capacity),
        starts=np.zeros(n_arms, np.int64),
        counts=np.zeros(n_arms, np.int64),
        n_used=np.zeros(1, np.int64),
    )
