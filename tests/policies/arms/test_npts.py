"""NP-TS: merged values and listed ones have the law of the plain Dirichlet weights."""

import math

import numpy as np
import pytest
from scipy import stats

from corebandit.contracts.recipe import REAL_LINE
from corebandit.policies import NPTS


def dirichlet_means(rewards: list[float], upper: float, n_draws: int) -> np.ndarray:
    """Weigh the upper bound and each single reward as the paper says."""
    values = np.array([upper, *rewards])
    return np.random.default_rng(8).dirichlet(np.ones(values.size), n_draws) @ values


def test_on_0_and_1_the_scores_are_beta(draws_after):
    draws = draws_after(NPTS(), [1.0, 0.0, 0.0, 1.0, 1.0])
    assert stats.kstest(draws, stats.beta(1 + 3, 2).cdf).pvalue > 1e-3


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("rewards", "upper"),
    [
        ([0.25] * 3 + [0.5, 0.0, 0.5], 1.0),  # few values, with repeats
        (list(np.random.default_rng(9).random(150)), 1.0),  # 15 in the table, 135 on three pages
        ([*np.random.default_rng(10).normal(-3.0, 5.0, 30), 20.0, *[2.0] * 5], 20.0),  # a repeated value comes late
    ],
)
def test_scores_have_the_law_of_dirichlet_weights(draws_after, rewards, upper):
    draws = draws_after(NPTS(upper=upper), rewards, n_draws=1500)
    assert stats.ks_2samp(draws, dirichlet_means(rewards, upper, 20_000)).pvalue > 1e-3


def test_arms_that_paid_nothing_below_the_upper_bound_tie_exactly(scores_after):
    scores = scores_after(NPTS(upper=0.3), [(0, 0.3), (0, 0.3), (1, 0.3)], n_arms=3)
    assert list(scores) == [0.3, 0.3, 0.3]


def test_few_values_need_no_list():
    state = NPTS().start(1, None, 1000)
    for index in range(1000):
        state.update(0, index % 15 / 15, None)
    assert state.values.others.counts[0] == 0
    assert state.values.repeats[0].sum() == 1001


def test_reward_range_ends_at_the_upper_bound():
    assert NPTS(upper=5.0).reward_range == (-math.inf, 5.0)
    assert NPTS(any_reward=True).reward_range == REAL_LINE


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="upper must be a number, not inf"):
        NPTS(upper=math.inf)
