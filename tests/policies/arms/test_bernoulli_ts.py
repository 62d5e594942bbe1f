"""Bernoulli Thompson sampling: the posterior and the rounding."""

import numpy as np
import pytest
from scipy import stats

from corebandit.contracts.recipe import UNIT_INTERVAL
from corebandit.policies import BernoulliTS
from corebandit.randomness.stream import stream


@pytest.mark.heavy
def test_scores_come_from_the_beta_posterior(draws_after):
    draws = draws_after(BernoulliTS(), [1.0, 0.0, 1.0, 1.0])
    assert stats.kstest(draws, stats.beta(1 + 3, 1 + 1).cdf).pvalue > 1e-3


def test_an_arm_never_tried_is_drawn_from_the_uniform_prior(draws_after):
    assert stats.kstest(draws_after(BernoulliTS(), []), stats.uniform.cdf).pvalue > 1e-3


@pytest.mark.parametrize(("scale", "weight"), [(0.5, 4.0), (2.0, 0.25)])
def test_scale_divides_both_parameters_by_its_square(draws_after, scale, weight):
    draws = draws_after(BernoulliTS(scale=scale), [1.0, 0.0, 1.0])
    assert stats.kstest(draws, stats.beta(3 * weight, 2 * weight).cdf).pvalue > 1e-3


def test_a_reward_inside_counts_as_a_success_with_its_own_probability():
    n = 20_000
    state, rng = BernoulliTS().start(1, None, n), stream(3, "rounding")
    for _ in range(n):
        state.update(0, 0.3, rng)
    assert state.successes[0] + state.failures[0] == n
    assert abs(state.successes[0] / n - 0.3) < 4 * np.sqrt(0.3 * 0.7 / n)


def test_rewards_of_0_and_1_are_never_rounded():
    state, rng = BernoulliTS().start(1, None, 2000), stream(4, "rounding")
    for _ in range(1000):
        state.update(0, 1.0, rng)
        state.update(0, 0.0, rng)
    assert (state.successes[0], state.failures[0]) == (1000, 1000)


def test_made_for_the_unit_interval():
    assert BernoulliTS().reward_range == UNIT_INTERVAL


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="scale must be a number above 0, not 0"):
        BernoulliTS(scale=0)
