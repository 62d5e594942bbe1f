"""Observations gathered by arm, as long as the arm's features stay the same.

With fixed features there is one group for each arm, so what is drawn for every observation costs no more than what is
drawn for every arm; with features that change in every round, a group is one observation. Only the newest row of an arm
is compared, so features that change back and forth make new groups too.
"""

from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.audit import check_equal, check_whole, check_within, demand
from corebandit.contracts.features import LARGEST_FEATURE
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

    def audit(self, n_weights: float, n_most: int) -> None:
        """Raise a DamagedFile unless these are at most so many groups, their weights add up, and chains end."""
        n_used, capacity = int(self.n_used[0]), self.weights.size
        demand(0 <= n_used <= min(n_most, capacity), "there must not be more groups than observations")
        check_within("the features of groups", self.rows[:n_used], -LARGEST_FEATURE, LARGEST_FEATURE)
        check_whole("the weights of groups", self.weights[:n_used], 1, n_weights)
        demand(self.weights[:n_used].sum() == n_weights, "the weights of groups must add up to what was learnt")
        check_equal("room for groups", self.weights[n_used:], 0)
        # Every group is one arm's newest or older than one other, which came later.
        check_whole("the newest groups", self.newest, 0, n_used)
        check_whole("the older groups", self.older[:n_used], 0, np.arange(n_used))
        links = np.bincount(np.concatenate([self.newest, self.older[:n_used]]), minlength=n_used + 1)
        check_equal("the chains of groups", links[1:], 1)


def new_groups(n_arms: int, n_features: int, capacity: int) -> Groups:
    """Return no observations, with room for `capacity`."""
    return Groups(
        rows=np.zeros((capacity, n_features)),
        weights=np.zeros(capacity),
        older=np.zeros(capacity, np.int64),
        newest=np.zeros(n_arms, np.int64),
        n_used=np.zeros(1, np.int64),
    )
