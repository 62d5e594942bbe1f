"""The weighted bootstrap against weights drawn one by one with NumPy."""

import numpy as np
import pytest
from scipy import stats

from corebandit.policies import WeightedBootstrap

HISTORIES = [
    [],
    [0.25] * 3 + [0.5, 0.0, 0.5],  # few values, with repeats
    list(np.random.default_rng(9).random(80)),  # 14 in the table, 66 on two pages
    [*np.random.default_rng(10).normal(-3.0, 5.0, 30), *[2.0] * 5],
]


def weighted_means(rewards, low, high, weights, n_draws=20_000):
    values, rng = np.array([low, high, *rewards]), np.random.default_rng(8)
    if weights == "exponential":
        drawn = rng.standard_exponential((n_draws, values.size))
        return drawn @ values / drawn.sum(axis=1)
    drawn = rng.normal(1.0, 1.0, (n_draws, values.size))
    return values.mean() + (drawn - 1.0) @ (values - values.mean()) / values.size


@pytest.mark.heavy
@pytest.mark.parametrize("rewards", HISTORIES)
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-10.0, 20.0)])
@pytest.mark.parametrize("weights", ["exponential", "gaussian"])
def test_scores_have_the_law_of_weighted_means(draws_after, rewards, low, high, weights):
    draws = draws_after(WeightedBootstrap(weights=weights, low=low, high=high), rewards, n_draws=1500)
    assert stats.ks_2samp(draws, weighted_means(rewards, low, high, weights)).pvalue > 1e-3


def test_on_0_and_1_the_scores_are_those_of_thompson_sampling(draws_after):
    draws = draws_after(WeightedBootstrap(), [1.0, 0.0, 0.0, 1.0, 1.0])
    assert stats.kstest(draws, stats.beta(1 + 3, 1 + 2).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"weights": "poisson"}, "weights must be 'exponential' or 'gaussian', not 'poisson'"),
        ({"high": -1.0}, "high must be a number above 0, not -1.0"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        WeightedBootstrap(**parameters)
