"""Worlds that change: each moves as it says, of itself, and regret is against the best arm of the round."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

import corebandit as cb
from corebandit.checks.sentences import CheckFailed
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.randomness.stream import stream
from often import often

N_ROUNDS = 3000
WORLDS = [
    *(cb.ChangingBandit(motion, 200, n_arms=4) for motion in ("abrupt", "smooth", "season", "improves", "deaths")),
    cb.ChangingBandit("smooth", lasts=200, n_arms=4, rewards="gaussian", low=-3, high=4, sigma=0.1),
    cb.ChangingBandit("season", lasts=200, n_arms=4, rewards="beta"),
    *(cb.ChangedBest(lasts=200), cb.QuietlyBetter(lasts=200), cb.ChangedArms([1, 2], [3, 1], rewards="gaussian")),
]
LINEAR = [
    *(cb.ChangingLinearBandit(motion, lasts=200, n_arms=5, n_features=3) for motion in ("abrupt", "smooth")),
    *(cb.ChangingLinearBandit(motion, 200, 5, 3, contextual=True, rewards="beta") for motion in ("season", "once")),
]


def path(problem: cb.Problem, n_rounds: int = N_ROUNDS, run: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of all arms, or theta, round by round, and which rounds said that they may be new."""
    instance = problem.draw(stream(1, run))
    moving = instance.theta if hasattr(instance, "theta") else instance.means
    values, new = np.empty((n_rounds, moving.values.size)), np.empty(n_rounds, bool)
    for index in range(n_rounds):
        new[index] = instance.begin_round(index + 1)
        values[index] = moving.values
    return values, new


@pytest.mark.parametrize(
    "problem",
    often([WORLDS[0], WORLDS[-1], LINEAR[0]], [*WORLDS, *LINEAR], pytest.mark.heavy),
    ids=lambda problem: problem.label,
)
def test_every_world_keeps_the_contract(problem):
    cb.check_problem(problem, n_pulls=1500)


def test_abrupt_changes_come_at_random_times_as_often_as_it_says():
    values, new = path(cb.ChangingBandit("abrupt", lasts=50), 40_000)
    times = np.flatnonzero(new)
    assert np.array_equal(np.flatnonzero((np.diff(values, axis=0) != 0).any(axis=1)) + 1, times)
    gaps = np.diff(times)
    assert gaps.mean() == pytest.approx(50, rel=0.15)
    assert stats.kstest(gaps - 0.5, stats.expon(scale=50).cdf).pvalue > 1e-3
    assert stats.kstest(values[times].ravel(), stats.uniform(0.25, 0.5).cdf).pvalue > 1e-3


@pytest.mark.parametrize("lasts", [1, 1.5, 3])
def test_however_short_a_world_lasts_changes_come_as_often_as_it_says(lasts):
    _, new = path(cb.ChangingBandit("abrupt", lasts=lasts), 20_000)
    gaps = np.diff(np.flatnonzero(new))
    assert gaps.mean() == pytest.approx(lasts, rel=0.03)
    shares = np.bincount(gaps, minlength=4)[1:4] / gaps.size
    assert shares == pytest.approx([(1 - 1 / lasts) ** waited / lasts for waited in range(3)], abs=0.02)


def test_smooth_worlds_go_on_straight_lines_between_random_states():
    values, new = path(cb.ChangingBandit("smooth", lasts=100))
    assert new.all()
    bends = np.flatnonzero(np.abs(np.diff(values, 2, axis=0)).max(axis=1) > 1e-9) + 1
    assert bends.tolist() == list(range(100, N_ROUNDS - 1, 100))
    assert stats.kstest(values[::100].ravel(), stats.uniform(0.25, 0.5).cdf).pvalue > 1e-3


def test_a_season_comes_back():
    values, _ = path(cb.ChangingBandit("season", lasts=100))
    assert values[200:] == pytest.approx(values[:-200], abs=1e-9)
    share = 0.5 - 0.5 * np.cos(np.pi * np.arange(N_ROUNDS) / 100)
    assert values == pytest.approx(values[0] + np.outer(share, values[100] - values[0]), abs=1e-9)


def test_one_arm_improves_and_no_other_changes():
    problem = cb.ChangingBandit("improves", lasts=100, gap=0.07)
    for run in range(5):
        values, new = path(problem, 300, run)
        assert np.flatnonzero(new).tolist() == [100]
        (arm,) = np.flatnonzero(values[0] != values[-1])
        assert arm != values[0].argmax()
        assert values[-1, arm] == pytest.approx(values[0].max() + 0.07)
        assert values.max() <= 0.75


def test_arms_die_one_by_one_and_the_last_lives_on():
    values, _ = path(cb.ChangingBandit("deaths", lasts=20, n_arms=6))
    n_alive = (values > 0).sum(axis=1)
    assert n_alive[0] == 6
    assert np.all(np.diff(n_alive) >= -1)
    assert n_alive[-1] == 1
    assert all(len(set(values[values[:, arm] > 0, arm])) == 1 for arm in range(6))


def test_named_worlds_change_at_half_time():
    for problem in (cb.ChangedBest(), cb.QuietlyBetter()):
        values, new = path(problem, 20_005)
        assert np.flatnonzero(new).tolist() == [20_000]
        assert values[19_999].tolist() == list(problem.before)
        assert values[20_000].tolist() == list(problem.after)


def test_theta_stays_where_means_are_probabilities():
    for motion in ("abrupt", "smooth", "season", "once"):
        values, new = path(cb.ChangingLinearBandit(motion, lasts=100, n_features=4))
        lengths = np.linalg.norm(values[:, :-1], axis=1)
        assert lengths.max() <= 0.5 + 1e-9
        assert np.all(np.abs(values[:, -1] - 0.5) < 1e-9)
        if motion in ("abrupt", "once"):
            assert lengths == pytest.approx(np.full(N_ROUNDS, 0.5))
            assert 0 < new.sum() < N_ROUNDS / 10


def test_regret_is_against_the_best_arm_of_the_round():
    problem = cb.ChangedArms([0.9, 0.1], [0.1, 0.9], lasts=50)
    rounds = cb.run(cb.Experiment(problem, [cb.UniformRandom()], horizon=100, runs=400, seed=3), jobs=1)
    regret = rounds.regret("UniformRandom")
    assert regret[:, -1].mean() == pytest.approx(40, abs=2)  # 0.8 in every other round, before and after
    assert np.all(np.diff(regret, axis=1) >= 0)


def test_worlds_are_the_same_whoever_plays_and_however_the_runs_are_cut():
    problem = cb.ChangingBandit("abrupt", lasts=30, n_arms=3)
    alone, together = (
        cb.run(cb.Experiment(problem, policies, horizon=300, runs=6, seed=4), jobs=jobs).regret("UCB1")
        for policies, jobs in (([cb.UCB1()], 1), ([cb.UniformRandom(), cb.UCB1()], 2))
    )
    assert np.array_equal(alone, together)


class Secretive(NamedTuple):
    """Arms that change in a round which they do not tell."""

    means: FloatArray
    told: IntArray

    @property
    def n_arms(self):
        return self.means.size

    def begin_round(self, current_round):
        if current_round == 70:
            self.means[0] = 0.9
        return False

    def mean(self, arm):
        return self.means[arm]

    def best_mean(self):
        return self.means.max()

    def pull(self, arm, rng):
        return 1.0 if rng.random() < self.means[arm] else 0.0


class Capricious(Secretive):
    """Arms that change by chance from elsewhere."""

    def begin_round(self, current_round):
        self.means[0] = np.random.default_rng().random()
        return True


@pytest.mark.parametrize(
    ("world", "sentence"),
    [(Secretive, "changed, but begin_round did not return True"), (Capricious, "not what another one drawn from the")],
)
def test_a_world_that_changes_otherwise_than_it_says_is_told(world, sentence):
    with pytest.raises(CheckFailed, match=sentence):
        cb.check_problem(world(np.array([0.2, 0.4]), np.zeros(1, np.int64)), n_pulls=200)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: cb.ChangingBandit("sudden"), "motion must be 'abrupt' or 'smooth' or 'season' or 'improves' or"),
        (lambda: cb.ChangingBandit(lasts=0), "lasts must be a number of at least 1, not 0"),
        (lambda: cb.ChangingBandit(lasts=1e300), "lasts must be a number of rounds that somebody could play"),
        (lambda: cb.ChangingBandit(high=1.5), "high must be a number of at least 0 and of at most 1, not 1.5"),
        (lambda: cb.ChangingBandit(low=0.8), "high must be a number of at least 0.8, not 0.75"),
        (lambda: cb.ChangingBandit("improves", gap=0.6), "gap must be at most high - low, 0.5, not 0.6"),
        (lambda: cb.ChangingBandit("improves", n_arms=1), "n_arms must be a whole number of at least 2, not 1"),
        (lambda: cb.ChangedArms([0.1], [0.2, 0.3]), "the same number of both, not 1 and 2"),
        (lambda: cb.ChangedArms([0.1], [1.2]), "after must be a number of at least 0 and of at most 1, not 1.2"),
        (lambda: cb.ChangingLinearBandit("deaths"), "motion must be 'abrupt' or 'smooth' or 'season' or 'once'"),
        (lambda: cb.ChangingLinearBandit(n_arms=3), "n_arms must be at least n_features, 10"),
        (lambda: cb.ChangingLinearBandit(contextual=1), "contextual must be True or False, not 1"),
    ],
)
def test_bad_parameters_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
