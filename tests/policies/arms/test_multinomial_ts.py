"""Multinomial Thompson sampling: the posterior and the rounding."""

import numpy as np
import pytest
from scipy import stats

from corebandit.contracts.recipe import UNIT_INTERVAL
from corebandit.policies import MultinomialTS
from corebandit.randomness.stream import stream


def test_scores_are_means_of_laws_drawn_from_the_dirichlet_posterior(draws_after):
    draws = draws_after(MultinomialTS(levels=4), [0.25, 1.0, 1.0, 0.75])
    laws = np.random.default_rng(11).dirichlet([1, 2, 1, 2, 3], 20_000)
    assert stats.ks_2samp(draws, laws @ [0.0, 0.25, 0.5, 0.75, 1.0]).pvalue > 1e-3


def test_with_one_level_it_is_bernoulli_thompson_sampling(draws_after):
    draws = draws_after(MultinomialTS(levels=1), [1.0, 1.0, 0.0])
    assert stats.kstest(draws, stats.beta(3, 2).cdf).pvalue > 1e-3


def test_rounding_goes_to_the_two_neighbours_and_keeps_the_mean():
    n = 20_000
    state, rng = MultinomialTS(levels=10).start(1, None, n), stream(12, "rounding")
    for _ in range(n):
        state.update(0, 0.43, rng)
    seen = state.counts[0] - 1.0
    assert list(np.flatnonzero(seen)) == [4, 5]
    assert abs(seen[5] / n - 0.3) < 4 * np.sqrt(0.3 * 0.7 / n)


@pytest.mark.parametrize(("reward", "level"), [(0.0, 0), (1.0, 10), (0.5, 5), (-0.1, 0), (1.1, 10)])
def test_values_of_the_grid_are_kept_and_nothing_leaves_it(reward, level):
    state, rng = MultinomialTS(levels=10).start(1, None, 1), stream(13, "rounding")
    state.update(0, reward, rng)
    assert list(np.flatnonzero(state.counts[0] - 1.0)) == [level]


def test_made_for_the_unit_interval():
    assert MultinomialTS().reward_range == UNIT_INTERVAL


@pytest.mark.parametrize("levels", [0, 2.5])
def test_bad_parameters_are_refused(levels):
    with pytest.raises(ValueError, match=f"levels must be a whole number of at least 1, not {levels}"):
        MultinomialTS(levels=levels)
