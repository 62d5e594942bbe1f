"""UCB-V against numbers worked out by hand."""

import math

import numpy as np
import pytest

from corebandit.contracts.recipe import REAL_LINE
from corebandit.policies import UCBV

HISTORY = [(0, 0.0), (1, 0.5), (0, 1.0), (0, 1.0)]  # arm 0: mean 2/3, variance 2/9 of 3; arm 1: 1/2, 0 of 1


def test_horizon_form_is_the_formula_with_ln_3_plus_2_ln_n(scores_after):
    scores = scores_after(UCBV(), HISTORY, horizon=100)
    e = 1.0986122886681098 + 2 * 4.605170185988092
    assert scores == pytest.approx([2 / 3 + math.sqrt(2 * (2 / 9) * e / 3) + 3 * e / 3, 0.5 + 3 * e])


def test_anytime_form_explores_by_zeta_ln_of_the_current_round(scores_after):
    scores = scores_after(UCBV(exploration="anytime", zeta=1.2), HISTORY, horizon=None)
    e = 1.2 * math.log(5)
    assert scores == pytest.approx([2 / 3 + math.sqrt(2 * (2 / 9) * e / 3) + 3 * e / 3, 0.5 + 3 * e])


def test_c_and_width_scale_the_last_term_only(scores_after):
    scores = scores_after(UCBV(c=0.5, width=4.0), HISTORY, horizon=100)
    e = math.log(3) + 2 * math.log(100)
    assert scores[0] == pytest.approx(2 / 3 + math.sqrt(2 * (2 / 9) * e / 3) + 3 * 0.5 * 4 * e / 3)


def test_variance_survives_rewards_far_from_zero(scores_after):
    rewards = [0.0, 1.0, 1.0, 0.0, 1.0]
    near = scores_after(UCBV(), [(0, reward) for reward in rewards], n_arms=1)
    far = scores_after(UCBV(any_reward=True), [(0, reward + 1e9) for reward in rewards], n_arms=1)
    assert far - 1e9 == pytest.approx(near, abs=1e-5)


def test_arms_never_tried_come_first(scores_after):
    assert scores_after(UCBV(), [(1, 1.0)])[0] == np.inf


def test_horizon_form_without_a_horizon_says_what_to_do():
    with pytest.raises(ValueError, match="give one, or use exploration='anytime'"):
        UCBV().start(2, None, 10)


def test_reward_range_is_as_wide_as_the_width():
    assert UCBV(width=3.0).reward_range == (0.0, 3.0)
    assert UCBV(width=3.0, any_reward=True).reward_range == REAL_LINE


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"exploration": "always"}, "exploration must be 'horizon' or 'anytime', not 'always'"),
        ({"zeta": 0.0}, "zeta must be a number above 0, not 0.0"),
        ({"c": -1.0}, "c must be a number of at least 0, not -1.0"),
        ({"width": 0.0}, "width must be a number above 0, not 0.0"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        UCBV(**parameters)
