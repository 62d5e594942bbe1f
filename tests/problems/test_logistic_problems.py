"""Logistic problems: how they are drawn and what they pay."""

import json

import numpy as np
import pytest
from scipy import special, stats

from corebandit.catalogue import problem_from
from corebandit.checks import check_problem
from corebandit.contracts.recipe import UNIT_INTERVAL
from corebandit.problems import LogisticBandit
from corebandit.problems.linear import LinearBandit
from corebandit.randomness.stream import stream


def test_features_are_those_of_the_linear_problem():
    for seed in range(5):
        logistic = LogisticBandit(n_arms=12, n_features=4).draw(stream(seed, "draw"))
        linear = LinearBandit(n_arms=12, n_features=4).draw(stream(seed, "draw"))
        assert np.array_equal(logistic.features, linear.features)


def test_theta_has_norm_three_halves_and_nothing_for_the_constant():
    thetas = np.array([LogisticBandit(n_features=3).draw(stream(seed, "theta")).theta for seed in range(400)])
    np.testing.assert_allclose(np.linalg.norm(thetas, axis=1), 1.5, rtol=1e-14)
    assert np.all(thetas[:, -1] == 0.0)
    angles = np.arctan2(thetas[:, 1], thetas[:, 0])
    assert stats.kstest(angles, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-4


def test_means_are_logistic_and_that_of_arm_d_is_a_half():
    arms = LogisticBandit().draw(stream(1))
    means = np.array([arms.mean(arm, x) for arm, x in enumerate(arms.features)])
    np.testing.assert_allclose(means, special.expit(arms.features @ arms.theta), rtol=1e-12)
    assert means[9] == 0.5
    assert 0.15 < means.min() < 0.5 < means.max() < 0.85  # |x' theta| is at most 1.5


def test_rewards_are_0_or_1_with_the_mean():
    arms, rng = LogisticBandit(n_arms=5, n_features=3).draw(stream(2)), stream(3, "pay")
    for arm, x in enumerate(arms.features):
        paid = [arms.pull(arm, x, rng) for _ in range(1000)]
        assert set(paid) == {0.0, 1.0}
        assert stats.binomtest(int(sum(paid)), 1000, arms.mean(arm, x)).pvalue > 1e-4


def test_it_is_a_problem_like_the_others():
    problem = LogisticBandit(n_arms=6, n_features=3)
    check_problem(problem)
    assert problem.support == UNIT_INTERVAL
    assert problem_from("logistic(n_arms=6, n_features=3)") == problem
    assert problem_from(json.loads(json.dumps(problem.describe()))) == problem


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LogisticBandit(n_features=1), "n_features must be a whole number of at least 2, not 1"),
        (lambda: LogisticBandit(n_arms=9), "n_arms must be at least n_features, 10, since .*, not 9"),
        (lambda: LogisticBandit(n_arms="many"), "n_arms must be a whole number of at least 1, not 'many'"),
    ],
)
def test_bad_parameters_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
