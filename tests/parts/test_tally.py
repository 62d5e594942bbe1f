"""Counts, sums and the best mean of a tally."""

import math

from corebandit.parts.tally import new_tally


def test_a_tally_counts_adds_up_and_knows_the_best_mean():
    tally = new_tally(3)
    assert tally.best_mean() == -math.inf
    for arm, reward in [(0, -1.0), (0, -2.0), (2, -1.75)]:
        tally.push(arm, reward)
    assert tally.counts.tolist() == [2, 0, 1]
    assert tally.sums.tolist() == [-3, 0, -1.75]
    assert tally.total() == 3
    assert tally.best_mean() == -1.5  # arm 1 was never tried: its 0 counts for nothing
