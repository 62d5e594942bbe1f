r"""Has an arm changed? Its newest rewards are compared with those before, for many lengths of "newest" at once.

For each split of an arm's n rewards into the newest m and the n - m before them,

    m (n - m) / n * (mean of the newest - mean before)^2 / (2 v) > ln(n^(3/2) / delta)

is the generalised likelihood ratio test for a jump of the mean under Gaussian noise of variance v, with the threshold
that Besson, Kaufmann, Maillard and Seznec (JMLR 2022) run it with; v is the variance of the arm's own rewards, so no
scale need be known. Rewards are kept as means of blocks of 1, 2, 4, ... of them, at most four of each size, and splits
are tried between blocks only: memory and time grow like ln n instead of n (as in ADWIN, Bifet and Gavaldà, 2007). Both
parts of a split must be large enough that their means are nearly normal: 30 rewards, or ten for each unit of their
kurtosis, which is 333 for rewards of which three in a thousand are 1. Every 8th reward of an arm is tested.

Rewards are taken for independent. Of rewards with an autocorrelation of 0.3 the variance of long means is almost twice
what v says, and 28 % of runs raise a false alarm.
"""

import math
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray

N_LEVELS, N_ALIKE = 40, 4  # blocks of up to 2^40 rewards, so many of each size
FEWEST, FEWEST_BY_KURTOSIS, EVERY = 30.0, 10.0, 8.0
COUNT, MEAN, M2, M4 = range(4)  # what `moments` holds where


@allocating_nothing
class Alarm(NamedTuple):
    """The rewards of each arm since it was last forgotten, as blocks. Make one with `new_alarm`."""

    blocks: FloatArray  # (n_arms, levels, 4) means of 2^level rewards each, the oldest first
    n_blocks: IntArray  # (n_arms, levels)
    moments: FloatArray  # (n_arms, 4) count, mean, sum of squared deviations, and about that of their squares
    newest: (
        FloatArray  # (3,) of the likeliest change: how many rewards came since, their mean, and what it explains of M2
    )
    log_delta: float

    def is_on(self) -> bool:
        """Tell whether anything is watched."""
        return bool(self.n_blocks.shape[1] > 0)

    def rings(self, arm: int, reward: float) -> bool:
        """Take in a reward of an arm, and tell whether the arm seems to have changed; `newest` tells since when."""
        self.add_block(arm, reward)
        moments = self.moments[arm]
        moments[COUNT] += 1.0
        gap = reward - moments[MEAN]
        moments[MEAN] += gap / moments[COUNT]
        square = gap * (reward - moments[MEAN])
        moments[M2] += square
        moments[M4] += square * square
        n = moments[COUNT]
        if n < 2.0 * FEWEST or n % EVERY != 0.0 or not moments[M2] > 0.0:
            return False
        least = 2.0 * (1.5 * math.log(n) - self.log_delta) * moments[M2] / n
        return bool(self.find_change(arm) > least)

    def add_block(self, arm: int, reward: float) -> None:
        """Add a block of one reward; where a size has no place left, its two oldest become one of the next."""
        mean, level = reward, 0
        while level < self.n_blocks.shape[1]:
            place = self.n_blocks[arm, level]
            if place < N_ALIKE:
                self.blocks[arm, level, place] = mean
                self.n_blocks[arm, level] = place + 1
                return
            merged = 0.5 * self.blocks[arm, level, 0] + 0.5 * self.blocks[arm, level, 1]
            for kept in range(2, N_ALIKE):
                self.blocks[arm, level, kept - 2] = self.blocks[arm, level, kept]
            self.blocks[arm, level, N_ALIKE - 2] = mean
            self.n_blocks[arm, level] = N_ALIKE - 1
            mean = merged
            level += 1

    def find_change(self, arm: int) -> float:
        """Return the largest m (n - m) / n (difference of means)^2 over all splits that are tested.

        The split at which it is largest of all, however few are newest, goes to `newest`: nothing older is kept.
        """
        n, mean = self.moments[arm, COUNT], self.moments[arm, MEAN]
        fewest = self.fewest(arm)
        tested, most, m, size = 0.0, 0.0, 0.0, 1.0
        above = 0.0  # sum of what the newest m are above the mean of all
        for level in range(self.n_blocks.shape[1]):
            for place in range(self.n_blocks[arm, level] - 1, -1, -1):
                m += size
                above += size * (self.blocks[arm, level, place] - mean)
                if n - m < fewest:
                    return tested
                found = above * above / m * (n / (n - m))
                if m >= fewest:
                    tested = max(tested, found)
                if found > most:
                    most = found
                    self.newest[0] = m
                    self.newest[1] = mean + above / m
                    self.newest[2] = found
            size *= 2.0
        return tested

    def fewest(self, arm: int) -> float:
        """Return how many rewards of an arm make a mean that is nearly normal."""
        n, m2, m4 = self.moments[arm, COUNT], self.moments[arm, M2], self.moments[arm, M4]
        return float(max(FEWEST, FEWEST_BY_KURTOSIS * (m4 / m2) * (n / m2)))

    def variance_within(self, arm: int) -> float:
        """Return the variance of an arm's rewards before and after the likeliest change, without the change itself."""
        return float(max(0.0, self.moments[arm, M2] - self.newest[2]) / self.moments[arm, COUNT])

    def forget(self) -> None:
        """Forget all arms."""
        for place in range(self.newest.size):
            self.newest[place] = 0.0
        for arm in range(self.moments.shape[0]):
            for place in range(self.moments.shape[1]):
                self.moments[arm, place] = 0.0
            for level in range(self.n_blocks.shape[1]):
                self.n_blocks[arm, level] = 0


def new_alarm(n_arms: int, delta: float | None) -> Alarm:
    """Return an alarm that has heard nothing; without `delta` it is off, and takes no room."""
    n_levels = 0 if delta is None else N_LEVELS
    return Alarm(
        blocks=np.zeros((n_arms, n_levels, N_ALIKE)),
        n_blocks=np.zeros((n_arms, n_levels), np.int64),
        moments=np.zeros((n_arms, 4)),
        newest=np.zeros(3),
        log_delta=0.0 if delta is None else math.log(delta),
    )
