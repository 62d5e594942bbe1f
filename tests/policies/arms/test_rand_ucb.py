"""RandUCB against its formula, written with NumPy."""

import math

import numpy as np
import pytest
from scipy import stats

from corebandit.policies import UCB1, RandUCB
from corebandit.randomness.stream import stream

HISTORY = [(0, 0.3), (1, 0.9), (0, 0.5), (2, 0.1), (0, 0.2), (1, 0.4)]
COUNTS, MEANS = np.array([3, 2, 1]), np.array([1.0 / 3, 0.65, 0.1])


def scores(policy, n_draws):
    """Return scores `(n_draws, 3)` after the history."""
    state, rng, found = policy.start(3, None, 10), stream(1, "scores"), np.empty((n_draws, 3))
    for arm, reward in HISTORY:
        state.update(arm, reward, rng)
    for draw in found:
        state.score(rng, draw)
    return found


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_scores_are_means_and_a_shared_multiple_of_ucb1_widths(sigma, scores_after):
    widths = 2 * sigma * np.sqrt(2 * math.log(7) / COUNTS)
    assert scores_after(UCB1(sigma=sigma), HISTORY, n_arms=3) == pytest.approx(MEANS + widths)
    multiples = (scores(RandUCB(sigma=sigma), 500) - MEANS) / widths
    assert multiples == pytest.approx(np.tile(multiples[:, :1], 3))
    assert (19 * multiples) == pytest.approx(np.round(19 * multiples), abs=1e-9)
    assert len(np.unique(multiples[:, 0].round(6))) > 4


def test_multiples_are_those_of_half_a_normal_law():
    draws = (scores(RandUCB(), 5000)[:, 0] - MEANS[0]) / math.sqrt(2 * math.log(7) / 3)
    points = np.linspace(0, 1, 20)
    weights = stats.norm.pdf(points, scale=0.125)
    mean = weights @ points / weights.sum()
    deviation = math.sqrt(weights @ points**2 / weights.sum() - mean**2)
    assert draws.mean() == pytest.approx(mean, abs=4 * deviation / math.sqrt(5000))
    assert draws.std() == pytest.approx(deviation, rel=0.05)


def test_uncoupled_arms_have_multiples_of_their_own():
    multiples = scores(RandUCB(coupled=False), 4000) - MEANS
    correlations = np.corrcoef(multiples.T)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 0.07


def test_bounds_below_the_mean_are_drawn_if_it_is_not_optimistic():
    assert (scores(RandUCB(), 200) >= MEANS - 1e-12).all()
    below = (scores(RandUCB(optimistic=False), 2000)[:, 0] < MEANS[0]).mean()
    assert below == pytest.approx(0.5, abs=0.05)


def test_every_arm_is_tried_first(scores_after):
    assert scores_after(RandUCB(), [(0, 1.0)])[1] == math.inf


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="sigma must be a number above 0, not 0"):
        RandUCB(sigma=0)
    with pytest.raises(ValueError, match="n_points must be a whole number of at least 2, not 1"):
        RandUCB(n_points=1)
