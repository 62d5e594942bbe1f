"""UCB1 against numbers worked out by hand."""

import math

import numpy as np
import pytest

from corebandit.policies import UCB1


def test_original_formula_covers_the_unit_interval(scores_after):
    scores = scores_after(UCB1(), [(0, 1.0), (0, 0.5), (1, 0.25)])  # round 4
    assert scores == pytest.approx([0.75 + math.sqrt(2 * 1.3862943611198906 / 2), 0.25 + math.sqrt(2 * math.log(4))])


def test_width_grows_with_sigma(scores_after):
    scores = scores_after(UCB1(sigma=2.0), [(0, 1.0), (0, 0.5), (1, 0.25)])
    assert scores == pytest.approx([0.75 + 4 * math.sqrt(math.log(4)), 0.25 + 4 * math.sqrt(2 * math.log(4))])


def test_arms_never_tried_come_first(scores_after):
    assert scores_after(UCB1(), [(1, 1.0)])[0] == np.inf


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="sigma must be a number above 0, not 0"):
        UCB1(sigma=0)
