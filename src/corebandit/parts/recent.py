"""The last rounds, of which a policy with a window keeps the sums: a reward that leaves the window leaves them too."""

from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray

MOST_LOST = 1e6  # times what is left of a sum, may leave it


@allocating_nothing
class Recent(NamedTuple):
    """Counts and sums of the rewards of the last rounds, by arm. Make one with `new_recent`."""

    counts: FloatArray  # (n_arms,) pulls in the window
    sums: FloatArray  # (n_arms,) total reward in the window
    arms: IntArray  # (window,) who was chosen, in the order of the rounds, the newest in the place of the oldest
    rewards: FloatArray  # (window,) what came of it
    seen: IntArray  # (1,) rewards ever
    window: int

    def push(self, arm: int, reward: float) -> None:
        """Learn a reward, and forget the one that leaves the window."""
        n_seen = self.seen[0]
        self.seen[0] = n_seen + 1
        place = n_seen % self.window
        is_worn = n_seen >= self.window and place == 0
        if n_seen >= self.window:
            old, left = self.arms[place], self.rewards[place]
            self.counts[old] -= 1.0
            self.sums[old] -= left
            is_worn |= abs(left) > MOST_LOST * abs(self.sums[old])
        self.arms[place] = arm
        self.rewards[place] = reward
        self.counts[arm] += 1.0
        self.sums[arm] += reward
        if is_worn:  # what leaves does not take its rounding errors with it, least of all what was most of a sum
            self.add_up()

    def add_up(self) -> None:
        """Compute the sums of a full window afresh."""
        for arm in range(self.sums.size):
            self.sums[arm] = 0.0
        for place in range(self.window):
            self.sums[self.arms[place]] += self.rewards[place]


def new_recent(n_arms: int, window: int, capacity: int) -> Recent:
    """Return a window of so many rounds that has seen nothing; with room for `capacity` of them if that is less."""
    room = min(window, capacity)
    return Recent(
        counts=np.zeros(n_arms),
        sums=np.zeros(n_arms),
        arms=np.zeros(room, np.int64),
        rewards=np.zeros(room),
        seen=np.zeros(1, np.int64),
        window=int(window),
    )
