"""Uniform choice."""

from corebandit.policies import UniformRandom


def test_scores_are_equal_whatever_was_paid(scores_after):
    assert list(scores_after(UniformRandom(), [(0, 5.0), (1, -5.0)], n_arms=3)) == [0.0, 0.0, 0.0]
