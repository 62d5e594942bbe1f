"""KL-UCB puts the right numbers into the equation of its bounds."""

import math

import numpy as np
import pytest

from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL
from corebandit.policies import KLUCB


def plain_kl(p: float, q: float) -> float:
    """Write the divergence down as in the textbook, for p and q strictly between 0 and 1."""
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def test_bernoulli_bound_spends_ln_t_plus_c_ln_ln_t_over_the_pulls(scores_after):
    history = [(0, 1.0), (0, 0.0), (1, 0.25), (0, 0.5), (0, 0.5)]  # arm 0: 2 of 4; arm 1: 0.25 of 1; round 6
    scores = scores_after(KLUCB(c=3.0), history)
    exploration = 1.791759469228055 + 3 * math.log(1.791759469228055)
    assert 4 * plain_kl(0.5, scores[0]) == pytest.approx(exploration, rel=1e-6)
    assert 1 * plain_kl(0.25, scores[1]) == pytest.approx(exploration, rel=1e-6)
    assert scores[0] > 0.5
    assert scores[1] > 0.25


def test_ln_ln_t_counts_for_nothing_before_it_is_positive(scores_after):
    with_it, without = (scores_after(KLUCB(c=c), [(0, 0.5)], n_arms=1) for c in (3.0, 0.0))  # round 2, ln ln 2 < 0
    assert with_it == without


def test_gaussian_bound_is_the_closed_form(scores_after):
    history = [(0, 2.0), (0, 4.0), (1, -1.0)]  # round 4
    scores = scores_after(KLUCB(family="gaussian", sigma=2.0), history)
    assert scores == pytest.approx([3 + 2 * math.sqrt(2 * math.log(4) / 2), -1 + 2 * math.sqrt(2 * math.log(4))])


def test_arms_never_tried_come_first(scores_after):
    assert scores_after(KLUCB(), [(1, 1.0)])[0] == np.inf


def test_reward_range_follows_the_family():
    assert KLUCB().reward_range == UNIT_INTERVAL
    assert KLUCB(family="gaussian").reward_range == REAL_LINE


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"c": -0.5}, "c must be a number of at least 0, not -0.5"),
        ({"family": "poisson"}, "family must be 'bernoulli' or 'gaussian', not 'poisson'"),
        ({"sigma": 0.0}, "sigma must be a number above 0, not 0.0"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        KLUCB(**parameters)
