"""Linear problems: how they are drawn, what they pay, that every policy meets the same, and what is refused."""

import json
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from corebandit import Experiment, run
from corebandit.catalogue import problem_from
from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL, FeaturePolicy, offers_features
from corebandit.problems.linear import LEAST_BETA_MEAN, ContextualBandit, FixedLinear, LinearBandit
from corebandit.randomness.stream import stream

# How instances are drawn ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_arms", "d"), [(50, 10), (12, 12), (7, 2), (100, 20)])
def test_the_first_arms_are_the_basis_and_the_rest_lie_on_the_sphere(n_arms, d):
    for seed in range(5):
        arms = LinearBandit(n_arms=n_arms, n_features=d).draw(stream(seed, "draw"))
        assert (arms.n_arms, arms.n_features) == (n_arms, d)
        basis = np.eye(d)
        basis[:, -1] = 1.0
        assert np.array_equal(arms.features[:d], basis)
        assert np.all(arms.features[:, -1] == 1.0)
        np.testing.assert_allclose(np.linalg.norm(arms.features[d:], axis=1), np.sqrt(2.0), rtol=1e-14)
        assert np.linalg.norm(arms.theta[:-1]) == pytest.approx(0.5, rel=1e-14)
        assert arms.theta[-1] == 0.5


@pytest.mark.parametrize("d", [2, 5, 10])
def test_means_lie_between_0_and_1_and_that_of_arm_d_is_a_half(d):
    for seed in range(50):
        arms = LinearBandit(n_features=d).draw(stream(seed, "means"))
        means = np.array([arms.mean(arm, x) for arm, x in enumerate(arms.features)])
        np.testing.assert_allclose(means, arms.features @ arms.theta, atol=1e-15)
        assert means[d - 1] == 0.5
        assert means.min() > -1e-15
        assert means.max() < 1.0 + 1e-15


def test_the_extreme_means_are_those_of_the_papers_problems():
    instances = [LinearBandit().draw(stream(seed, "extremes")) for seed in range(1000)]
    means = np.array([arms.features @ arms.theta for arms in instances])
    assert means.min(axis=1).mean() == pytest.approx(0.15, abs=0.015)
    assert means.max(axis=1).mean() == pytest.approx(0.84, abs=0.015)


@pytest.mark.parametrize("d", [3, 10])
def test_rows_and_theta_are_uniform_on_their_spheres(d):
    instances = [LinearBandit(n_features=d).draw(stream(seed, "uniform")) for seed in range(400)]
    law = stats.beta((d - 2) / 2, (d - 2) / 2, loc=-1.0, scale=2.0)  # of one coordinate of a point on the unit sphere
    for j in range(d - 1):
        rows = np.concatenate([arms.features[d:, j] for arms in instances])
        thetas = np.array([2.0 * arms.theta[j] for arms in instances])
        assert stats.kstest(rows, law.cdf).pvalue > 1e-4
        assert stats.kstest(thetas, law.cdf).pvalue > 1e-4
    rows, thetas = np.vstack([arms.features[d:-1, :-1] for arms in instances]), [arms.theta[:-1] for arms in instances]
    np.testing.assert_allclose(np.corrcoef(rows.T), np.eye(d - 1), atol=5 / np.sqrt(len(rows)))
    np.testing.assert_allclose(np.corrcoef(np.transpose(thetas)), np.eye(d - 1), atol=5 / np.sqrt(len(thetas)))


def test_instances_differ_and_come_again_from_the_same_stream():
    first, again, other = (LinearBandit().draw(stream(seed, "again")) for seed in (1, 1, 2))
    assert np.array_equal(first.features, again.features)
    assert np.array_equal(first.theta, again.theta)
    assert not np.array_equal(first.features[10:], other.features[10:])
    assert not np.array_equal(first.theta, other.theta)


def test_contextual_features_are_new_in_every_round_and_fixed_ones_only_in_the_first():
    rng, features = stream(3, "offer"), np.zeros((6, 4))
    contextual = ContextualBandit(n_arms=6, n_features=4).draw(stream(3))
    seen = []
    for current_round in range(1, 301):
        assert contextual.offer(current_round, rng, features)
        np.testing.assert_allclose(np.linalg.norm(features[:, :-1], axis=1), 1.0, rtol=1e-14)
        assert np.all(features[:, -1] == 1.0)
        seen.append(features.copy())
    coordinates = np.array(seen)[:, :, :-1].reshape(-1, 3)
    assert len(np.unique(coordinates, axis=0)) == 1800
    for j in range(3):
        assert stats.kstest(coordinates[:, j], stats.uniform(-1, 2).cdf).pvalue > 1e-4  # Archimedes' hat box
    fixed = LinearBandit(n_arms=6, n_features=4).draw(stream(3))
    assert fixed.offer(1, rng, features)
    assert np.array_equal(features, fixed.features)
    assert not fixed.offer(2, rng, features)
    assert np.array_equal(features, fixed.features)


# What is paid -----------------------------------------------------------------------------------------------------


FEATURES, THETA = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.0]], [0.3, 0.6]


@pytest.mark.parametrize(
    ("rewards", "law"),
    [
        ({"rewards": "beta"}, lambda mu: stats.beta(4 * mu, 4 * (1 - mu))),
        ({"rewards": "beta", "v": 10.0}, lambda mu: stats.beta(10 * mu, 10 * (1 - mu))),
        ({"rewards": "gaussian"}, lambda mu: stats.norm(mu, 0.5)),
        ({"rewards": "gaussian", "sigma": 0.2}, lambda mu: stats.norm(mu, 0.2)),
    ],
)
def test_rewards_have_the_law_with_mean_x_theta(rewards, law):
    arms, rng = FixedLinear(FEATURES, THETA, **rewards).draw(None), stream(4, "pay", str(rewards))
    for arm, mean in enumerate([0.3, 0.6, 0.9, 0.15]):
        paid = [arms.pull(arm, arms.features[arm], rng) for _ in range(5000)]
        assert stats.kstest(paid, law(mean).cdf).pvalue > 1e-4
        assert np.mean(paid) == pytest.approx(mean, abs=4.5 * law(mean).std() / np.sqrt(5000))
        assert np.var(paid) == pytest.approx(law(mean).var(), rel=0.12)


def test_bernoulli_rewards_are_0_or_1_with_mean_x_theta():
    arms, rng = FixedLinear(FEATURES, THETA).draw(None), stream(5, "pay")
    for arm, mean in enumerate([0.3, 0.6, 0.9, 0.15]):
        paid = [arms.pull(arm, arms.features[arm], rng) for _ in range(5000)]
        assert set(paid) == {0.0, 1.0}
        assert stats.binomtest(int(sum(paid)), 5000, mean).pvalue > 1e-4


def test_the_features_of_the_round_decide_what_is_paid():
    arms, rng = ContextualBandit(n_features=2, rewards="gaussian", sigma=0.0).draw(stream(6)), stream(6, "pay")
    x = np.array([0.3, 1.0])
    assert arms.pull(7, x, rng) == arms.mean(7, x) == pytest.approx(x @ arms.theta)


def test_beta_rewards_of_mean_0_and_1_are_nearly_constant():
    arms, rng = FixedLinear([[1, 0], [0, 1]], [0, 1], rewards="beta").draw(None), stream(7, "clamp")
    for arm in range(2):
        paid = np.array([arms.pull(arm, arms.features[arm], rng) for _ in range(2000)])
        assert np.isfinite(paid).all()
        assert (np.abs(paid - arm) < 1e-9).mean() > 1.0 - 100.0 * LEAST_BETA_MEAN - 1e-3


def test_the_support_is_that_of_the_rewards():
    for problem in (LinearBandit(), ContextualBandit(rewards="beta"), FixedLinear(FEATURES, THETA)):
        assert problem.support == UNIT_INTERVAL
        assert offers_features(problem.draw(stream(0)))
    assert LinearBandit(rewards="gaussian").support == REAL_LINE


# Common random numbers --------------------------------------------------------------------------------------------


class Diary(NamedTuple):
    """Chooses arms by a rule that looks at nothing, and writes everything down."""

    offered: np.ndarray  # (capacity, n_arms, d)
    chosen: np.ndarray  # (capacity,)
    rewards: np.ndarray  # (capacity,)
    clock: np.ndarray  # (1,)
    step: int

    def score(self, features, rng, scores):
        now = self.clock[0]
        for arm in range(scores.size):
            scores[arm] = -abs(float(arm - now * self.step % scores.size))
            for j in range(features.shape[1]):
                self.offered[now, arm, j] = features[arm, j]
        for _ in range(self.step):
            rng.random()

    def update(self, arm, x, reward, rng):
        now = self.clock[0]
        self.chosen[now], self.rewards[now] = arm, reward
        self.clock[0] = now + 1


WRITTEN: list[Diary] = []


@dataclass(frozen=True)
class Writer(FeaturePolicy):
    step: int = 1

    def start(self, n_arms, n_features, horizon, capacity):
        whole = np.zeros((capacity, n_arms, n_features)), np.zeros(capacity, np.int64), np.zeros(capacity)
        WRITTEN.append(Diary(*whole, np.zeros(1, np.int64), self.step))
        return WRITTEN[-1]


def diaries(problem):
    """Return what two policies that choose differently have met in the same three runs."""
    experiment = Experiment(problem, [Writer(1), Writer(2)], horizon=60, runs=3, seed=8)
    WRITTEN.clear()
    run(experiment, jobs=1)
    written = [diary for diary in WRITTEN if diary.clock[0] == 60][-6:]  # those before them were rehearsals
    assert [diary.step for diary in written] == [1, 1, 1, 2, 2, 2]
    return list(zip(written[:3], written[3:], strict=True))


def pulls(diary, arm):
    """Return the rounds in which an arm was chosen."""
    return np.flatnonzero(diary.chosen == arm)


@pytest.mark.parametrize("problem", [LinearBandit(5, 3), ContextualBandit(5, 3)], ids=lambda problem: problem.name)
def test_all_policies_are_offered_the_same_and_every_run_something_else(problem):
    runs = diaries(problem)
    for one, other in runs:
        assert not np.array_equal(one.chosen, other.chosen)
        assert np.array_equal(one.offered, other.offered)
    assert not np.array_equal(runs[0][0].offered, runs[1][0].offered)


@pytest.mark.parametrize("rewards", ["bernoulli", "beta", "gaussian"])
def test_the_next_pull_of_an_arm_pays_the_same_whoever_pulls_it(rewards):
    for one, other in diaries(LinearBandit(5, 3, rewards=rewards)):
        for arm in range(5):
            n_both = min(pulls(one, arm).size, pulls(other, arm).size)
            assert n_both >= 10
            assert np.array_equal(one.rewards[pulls(one, arm)[:n_both]], other.rewards[pulls(other, arm)[:n_both]])


def test_with_features_of_the_round_the_noise_of_the_next_pull_is_the_same():
    for one, other in diaries(ContextualBandit(5, 3, rewards="gaussian")):
        rows, gaps = [], []
        for arm in range(5):
            for here, there in zip(pulls(one, arm), pulls(other, arm), strict=False):
                rows.append(one.offered[here, arm] - other.offered[there, arm])
                gaps.append(one.rewards[here] - other.rewards[there])
        theta = np.linalg.lstsq(np.array(rows)[:, :-1], np.array(gaps))[
            0
        ]  # the gap is (x - x')' theta: no noise is left
        np.testing.assert_allclose(np.array(rows)[:, :-1] @ theta, gaps, atol=1e-12)
        assert np.linalg.norm(theta) == pytest.approx(0.5)


# Descriptions and refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "problem",
    [
        LinearBandit(),
        LinearBandit(n_arms=20, n_features=5, rewards="beta", v=2.0),
        ContextualBandit(n_arms=4, rewards="gaussian", sigma=0.2),
        FixedLinear([[1, 0], [0, 0.5]], theta=[0.2, 0.4], rewards="beta"),
        FixedLinear(np.eye(3), theta=np.array([-2.0, 0.0, 7.0]), rewards="gaussian"),
    ],
    ids=lambda problem: problem.label,
)
def test_descriptions_and_labels_make_the_same_problem_again(problem):
    assert problem_from(json.loads(json.dumps(problem.describe()))) == problem
    assert problem_from(problem.label) == problem


def test_a_spec_names_a_linear_problem():
    assert problem_from("linear(rewards='gaussian', sigma=0.2)") == LinearBandit(rewards="gaussian", sigma=0.2)
    assert problem_from("contextual(n_arms=3)") == ContextualBandit(n_arms=3)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LinearBandit(rewards="poisson"), "rewards must be 'bernoulli' or 'beta' or 'gaussian'"),
        (lambda: LinearBandit(sigma=-1), "sigma must be a number of at least 0, not -1"),
        (lambda: ContextualBandit(v=0), "v must be a number above 0, not 0"),
        (lambda: LinearBandit(n_features=1), "n_features must be a whole number of at least 2, not 1"),
        (lambda: ContextualBandit(n_features=1), "n_features must be a whole number of at least 2, not 1"),
        (lambda: ContextualBandit(n_arms=0), "n_arms must be a whole number of at least 1, not 0"),
        (lambda: LinearBandit(n_arms=9), "n_arms must be at least n_features, 10, since .*, not 9"),
        (lambda: FixedLinear([1, 2], [1]), r"features must have the shape \(n_arms, d\), not \(2,\)"),
        (lambda: FixedLinear([], []), r"features must have the shape \(n_arms, d\), not \(0,\)"),
        (lambda: FixedLinear(np.zeros((0, 2)), [0, 1]), r"features must have the shape \(n_arms, d\), not \(0, 2\)"),
        (lambda: FixedLinear([[1, 0], [1]], [1, 0]), r"features must be numbers of shape \(n_arms, d\)"),
        (lambda: FixedLinear([["a", 0], [0, 1]], [1, 0]), r"features must be numbers of shape \(n_arms, d\)"),
        (lambda: FixedLinear(np.eye(2), [[1, 0]]), r"theta must have the shape \(d,\), not \(1, 2\)"),
        (lambda: FixedLinear(np.eye(2), [1, 0, 0]), "theta must have 2 numbers, one for each feature, not 3"),
        (lambda: FixedLinear([[1, 0], [0, np.nan]], [1, 0]), "features must be finite, but hold nan"),
        (lambda: FixedLinear(np.eye(2), [0, np.inf]), "theta must be finite, but hold inf"),
        (lambda: FixedLinear([[1, 0, 1], [0, 1, 1]], [0, 0, 0]), "features must span all 3 dimensions, but span 2"),
        (lambda: FixedLinear([[1, 0], [2, 0]], [0.1, 0]), "features must span all 2 dimensions, but span 1"),
        (lambda: FixedLinear([[0, 0], [0, 0]], [0.1, 0]), "features must span all 2 dimensions, but span 0"),
        (lambda: FixedLinear(np.eye(2), [0.5, 1.1]), r"in \[0, 1\] for bernoulli rewards, but that of arm 1 is 1.1"),
        (lambda: FixedLinear(np.eye(2), [-0.5, 1], rewards="beta"), "for beta rewards, but that of arm 0 is -0.5"),
        (lambda: FixedLinear(1e200 * np.eye(2), [1e200, 0], rewards="gaussian"), "mean rewards .* must be finite"),
    ],
)
def test_bad_parameters_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence) as refusal:
        make()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "features",
    [
        [[1, 0], [0, 1e-30]],
        [[1, 1], [1e-30, 2e-30]],
        [[1e30, 1e30], [1e-5, 2e-5]],
        [[1.0, 1e-30], [1.0, 2e-30]],
        [[0, 0], [1, 0], [0, 1]],
    ],
)
def test_features_of_any_scale_span_if_they_do(features):
    assert FixedLinear(features, [0.0, 0.0]).draw(None).n_arms == len(features)


def test_means_that_rounding_puts_just_outside_are_welcome():
    problem = FixedLinear([[1, -3], [1, 0]], [0.3, 0.1])  # 0.3 - 3 * 0.1 is -5.6e-17
    arms, rng = problem.draw(None), stream(9)
    assert arms.mean(0, arms.features[0]) < 0.0
    assert not any(arms.pull(0, arms.features[0], rng) for _ in range(100))


def test_gaussian_rewards_may_have_any_mean():
    assert FixedLinear(np.eye(2), [-30.0, 5.0], rewards="gaussian").support == REAL_LINE
