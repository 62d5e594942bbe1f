"""IMED chooses the smallest index of Honda and Takemura."""

import numpy as np
import pytest

from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL
from corebandit.policies import IMED

HISTORY = [(0, 0.25)] * 40 + [(1, 0.9), (2, 0.1), (1, 0.4), (1, 0.2)]
COUNTS, MEANS = np.array([40, 3, 1]), np.array([0.25, 0.5, 0.1])


def test_bernoulli_scores_are_its_index(scores_after):
    divergences = MEANS * np.log(MEANS / 0.5) + (1 - MEANS) * np.log((1 - MEANS) / 0.5)
    scores = scores_after(IMED(), HISTORY, n_arms=3)
    assert -scores == pytest.approx(COUNTS * divergences + np.log(COUNTS))
    assert scores.argmax() == 2  # tried once, 0.1: before the best one, whose index is ln 3


def test_gaussian_scores_are_its_index(scores_after):
    scores = scores_after(IMED(family="gaussian", sigma=0.1), HISTORY, n_arms=3)
    assert -scores == pytest.approx(COUNTS * (0.5 - MEANS) ** 2 / 0.02 + np.log(COUNTS))


def test_an_arm_that_always_paid_1_rules_out_all_that_did_not(scores_after):
    scores = scores_after(IMED(), [(0, 1.0), (1, 0.0), (0, 1.0)])
    assert scores.tolist() == [-np.log(2), -np.inf]


def test_every_arm_is_tried_first(scores_after):
    assert scores_after(IMED(), [(0, 1.0)])[1] == np.inf


def test_rewards_are_those_of_the_family():
    assert IMED().reward_range == UNIT_INTERVAL
    assert IMED(family="gaussian").reward_range == REAL_LINE
    with pytest.raises(ValueError, match="sigma must be a number above 0, not 0"):
        IMED(family="gaussian", sigma=0)
