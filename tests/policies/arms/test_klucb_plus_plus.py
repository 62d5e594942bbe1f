"""kl-UCB++ solves the equation of its paper."""

import numpy as np
import pytest

from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL
from corebandit.policies import KLUCBPlusPlus

HISTORY = [(0, 0.25)] * 40 + [(1, 0.9), (2, 0.1), (1, 0.4), (1, 0.2)]
COUNTS, MEANS = np.array([40, 3, 1]), np.array([0.25, 0.5, 0.1])


def exploration_after(n_rounds):
    """Return g of Ménard and Garivier for each arm."""
    x = n_rounds / (3 * COUNTS)
    log_plus = np.maximum(0.0, np.log(x))
    return np.maximum(0.0, np.log(x * (1 + log_plus**2)))


@pytest.mark.parametrize("horizon", [None, 100, 5000])
def test_bernoulli_bounds_spend_their_exploration(horizon, scores_after):
    scores = scores_after(KLUCBPlusPlus(), HISTORY, n_arms=3, horizon=horizon)
    spent = COUNTS * (MEANS * np.log(MEANS / scores) + (1 - MEANS) * np.log((1 - MEANS) / (1 - scores)))
    assert spent == pytest.approx(exploration_after(horizon or 45), rel=1e-5, abs=1e-9)
    assert (scores >= MEANS).all()
    assert (scores[0] == MEANS[0]) == (horizon != 5000)


@pytest.mark.parametrize("horizon", [None, 100, 5000])
def test_gaussian_bounds_are_the_closed_form(horizon, scores_after):
    scores = scores_after(KLUCBPlusPlus(family="gaussian", sigma=2.0), HISTORY, n_arms=3, horizon=horizon)
    assert scores == pytest.approx(MEANS + 2 * np.sqrt(2 * exploration_after(horizon or 45) / COUNTS))


def test_every_arm_is_tried_first(scores_after):
    assert scores_after(KLUCBPlusPlus(), [(0, 1.0)])[1] == np.inf


def test_rewards_are_those_of_the_family():
    assert KLUCBPlusPlus().reward_range == UNIT_INTERVAL
    assert KLUCBPlusPlus(family="gaussian").reward_range == REAL_LINE
    with pytest.raises(ValueError, match="family must be 'bernoulli' or 'gaussian', not 'beta'"):
        KLUCBPlusPlus(family="beta")
