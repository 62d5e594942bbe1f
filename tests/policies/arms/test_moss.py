"""MOSS against its formula."""

import numpy as np
import pytest

from corebandit.policies import MOSS

HISTORY = [(0, 0.3)] * 40 + [(1, 0.9), (0, 0.5), (2, 0.1), (1, 0.4), (1, 0.2)]
COUNTS, MEANS = np.array([41, 3, 1]), np.array([12.5 / 41, 0.5, 0.1])


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_scores_are_the_index_of_audibert_and_bubeck(sigma, scores_after):
    exploration = np.maximum(0.0, np.log(100 / (3 * COUNTS)))
    assert exploration[0] == 0  # an arm with its share of the horizon is scored by its mean
    scores = scores_after(MOSS(sigma=sigma), HISTORY, n_arms=3, horizon=100)
    assert scores == pytest.approx(MEANS + 2 * sigma * np.sqrt(exploration / COUNTS))


def test_without_a_horizon_it_is_moss_anytime(scores_after):
    exploration = 0.5 * (1 + 1.35) * np.maximum(0.0, np.log(46 / (3 * COUNTS)))
    scores = scores_after(MOSS(), HISTORY, n_arms=3, horizon=None)
    assert scores == pytest.approx(MEANS + np.sqrt(exploration / COUNTS))
    with_one, known = (scores_after(MOSS(alpha=1.0), HISTORY, n_arms=3, horizon=horizon) for horizon in (None, 46))
    assert with_one == pytest.approx(known)


def test_every_arm_is_tried_first(scores_after):
    assert scores_after(MOSS(), [(0, 1.0)])[1] == np.inf


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="sigma must be a number above 0, not -1"):
        MOSS(sigma=-1)
    with pytest.raises(ValueError, match="alpha must be a number of at least 0, not -1"):
        MOSS(alpha=-1)
