"""Observations gathered by arm, as long as the arm's features stay the same.

With fixed features there is one group for each arm, so what is drawn for every observation costs no more than what is
drawn for every arm; with features that change in every round, a group is one observation. Only the newest row of an arm
is compared, so features that change back and forth make new groups too.
"""

from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray


@allocating_nothing
class Groups(NamedTuple):
    """Rows of features and how much each counts, as a chain for each arm, newest first. Make one with `new_groups`.

    Links count from 1, so that 0, which new room is filled with, means none.
    """

    rows: FloatArray  # (capacity, d)
    weights: FloatArray  # (capacity,)
    older: IntArray  # (capacity,) the arm's group before this one
    newest: IntArray  # (n_arms,)
    n_used: IntArray  # (1,)

    def add(self, arm: int, x: FloatArray, weight: float) -> int:
        """Count an observation of the arm with features `x`, and return its group."""
        group = self.newest[arm] - 1
        is_same = group >= 0
        for j in range(x.size):
            is_same = is_same and self.rows[group, j] == x[j]
        if not is_same:
            group = self.n_used[0]
            self.n_used[0] = group + 1
            for j in range(x.size):
                self.rows[group, j] = x[j]
            self.older[group] = self.newest[arm]
            self.newest[arm] = group + 1
        self.weights[group] += weight
        return int(group)

    def add_to(self, total: FloatArray, group: int, scale: float) -> None:
        """Add `scale` times the row of `group` to `total` `(d,)`."""
        for j in range(total.size):
            total[j] += scale * self.rows[group, j]


def new_groups(n_arms: int, n_features: int, capacity: int) -> Groups:
    """Return no observations, with room for `capacity`."""
    return Groups(
        rows=np.zeros((capacity, n_features)),
        weights=np.zeros(capacity),
        older=np.zeros(capacity, np.int64),
        newest=np.zeros(n_arms, np.int64),
        n_used=np.zeros(1, np.int64),
    )
