"""Gaussian Thompson sampling: the posterior."""

import pytest
from scipy import stats

from corebandit.contracts.recipe import REAL_LINE
from corebandit.policies import GaussianTS


def test_by_default_the_prior_is_worth_one_observation_of_a_half(draws_after):
    draws = draws_after(GaussianTS(), [1.0, 2.0, 0.5])
    assert stats.kstest(draws, stats.norm((0.5 + 3.5) / 4, 0.5 / 2).cdf).pvalue > 1e-3


def test_any_prior_combines_by_precision(draws_after):
    draws = draws_after(GaussianTS(sigma=2.0, prior_mean=-3.0, prior_sigma=0.5), [10.0, 12.0])
    precision = 1 / 0.25 + 2 / 4
    assert stats.kstest(draws, stats.norm((-3 / 0.25 + 22 / 4) / precision, precision**-0.5).cdf).pvalue > 1e-3


def test_an_arm_never_tried_is_drawn_from_the_prior(draws_after):
    draws = draws_after(GaussianTS(sigma=1.0, prior_mean=7.0, prior_sigma=3.0), [])
    assert stats.kstest(draws, stats.norm(7, 3).cdf).pvalue > 1e-3


def test_any_real_rewards_are_welcome():
    assert GaussianTS().reward_range == REAL_LINE


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"sigma": 0.0}, "sigma must be a number above 0, not 0.0"),
        ({"prior_mean": float("nan")}, "prior_mean must be a number, not nan"),
        ({"prior_sigma": -1.0}, "prior_sigma must be a number above 0, not -1.0"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        GaussianTS(**parameters)
