"""PHE: how many pseudo-rewards, of which law."""

import numpy as np
import pytest
from scipy import stats

from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL
from corebandit.policies import PHE


@pytest.mark.parametrize(("a", "n", "n_pseudo"), [(1.1, 10, 11), (1.1, 3, 4), (0.5, 3, 2), (0.5, 1, 1), (2.0, 4, 8)])
def test_bernoulli_pseudo_rewards_are_ceil_of_a_n_fair_coins(draws_after, a, n, n_pseudo):
    draws = draws_after(PHE(a=a), [0.75] * n)
    heads = draws * (n + n_pseudo) - 0.75 * n
    assert np.abs(heads - np.rint(heads)).max() < 1e-9
    seen = np.bincount(np.rint(heads).astype(int), minlength=n_pseudo + 1)
    assert seen.size == n_pseudo + 1
    expected = stats.binom(n_pseudo, 0.5).pmf(np.arange(n_pseudo + 1)) * draws.size
    assert stats.chisquare(seen, expected).pvalue > 1e-3


def test_a_product_just_above_a_whole_number_is_that_number(draws_after):
    assert 1.1 * 50 > 55
    heads = draws_after(PHE(a=1.1), [0.5] * 50, n_draws=500) * (50 + 55) - 25
    assert np.abs(heads - np.rint(heads)).max() < 1e-9


def test_gaussian_pseudo_rewards_have_mean_a_half_and_deviation_sigma(draws_after):
    draws = draws_after(PHE(a=0.5, pseudo="gaussian", sigma=2.0), [3.0, -1.0, 4.0])  # two pseudo-rewards
    assert stats.kstest(draws, stats.norm((6 + 2 * 0.5) / 5, 2 * 2**0.5 / 5).cdf).pvalue > 1e-3


def test_arms_never_tried_come_first(scores_after):
    assert scores_after(PHE(), [(1, 1.0)])[0] == np.inf


def test_reward_range_follows_the_pseudo_rewards():
    assert PHE().reward_range == UNIT_INTERVAL
    assert PHE(any_reward=True).reward_range == REAL_LINE
    assert PHE(pseudo="gaussian").reward_range == REAL_LINE


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"a": 0.0}, "a must be a number above 0, not 0.0"),
        ({"pseudo": "poisson"}, "pseudo must be 'bernoulli' or 'gaussian', not 'poisson'"),
        ({"sigma": -1.0}, "sigma must be a number above 0, not -1.0"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        PHE(**parameters)
