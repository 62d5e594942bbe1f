import json
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.policies import all_policies

VARIANTS = [
    cb.CORe(sampler="exact"),
    cb.CORe(pool_size=30),
    cb.CORe(warm_up=0.0, alpha=2.0),
    cb.UCBV(exploration="anytime"),
    cb.KLUCB(family="gaussian"),
    cb.PHE(pseudo="gaussian"),
    cb.SSMC(window="last"),
    cb.NPTS(any_reward=True),
    cb.EpsilonGreedy(epsilon=0.3),
]


@pytest.mark.parametrize("policy", [*(cls() for cls in all_policies().values()), *VARIANTS], ids=lambda p: p.label)
def test_every_policy_keeps_the_contract(policy):
    cb.check_policy(policy)


@pytest.mark.parametrize(
    "policy", [cb.CORe(), cb.EpsilonGreedy(), cb.UCBV(exploration="anytime")], ids=lambda p: p.label
)
def test_policies_keep_the_contract_without_a_horizon(policy):
    cb.check_policy(policy, horizon=None)


@pytest.mark.parametrize(
    "problem",
    [
        cb.BernoulliBandit(),
        cb.BetaBandit(v=0.5),
        cb.GaussianBandit(sigma=2.0),
        cb.MixedBandit(),
        cb.FixedArms([cb.Bernoulli(0.3), cb.Beta(0.5, 0.2), cb.Gaussian(1e9), cb.Uniform(-1, 3), cb.Exponential(2.0)]),
    ],
    ids=lambda problem: problem.name,
)
def test_every_problem_keeps_the_contract(problem):
    cb.check_problem(problem)


class State(NamedTuple):
    counts: np.ndarray

    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = -self.counts[arm]

    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0


@dataclass(frozen=True)
class Good(cb.Policy):
    def start(self, n_arms, horizon, capacity):
        return State(np.zeros(n_arms))


def test_a_users_policy_is_accepted():
    cb.check_policy(Good())


class NanState(State):
    def score(self, rng, scores):
        scores[0] = 1.0


class FavouriteState(State):
    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = -float(arm)


class ForgetfulState(State):
    def update(self, arm, reward):
        self.counts[arm] += 1.0


class NoUpdate(NamedTuple):
    counts: np.ndarray

    def score(self, rng, scores):
        scores[:] = 0.0


SHARED = np.zeros(100)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda n, c: NanState(np.zeros(n)), "score left NaN in"),
        (lambda n, c: FavouriteState(np.zeros(n)), "depend on the order of the arms"),
        (lambda n, c: ForgetfulState(np.zeros(n)), r"update must take \(arm, reward, rng\), not \(arm, reward\)"),
        (lambda n, c: NoUpdate(np.zeros(n)), r"its state has no method update\(arm, reward, rng\)"),
        (lambda n, c: State(SHARED[:n]), "two states share an array"),
        (lambda n, c: [np.zeros(n)], "start must return a NamedTuple"),
    ],
)
def test_a_broken_state_is_told_what_is_wrong(make, sentence):
    @dataclass(frozen=True)
    class Broken(cb.Policy):
        def start(self, n_arms, horizon, capacity):
            return make(n_arms, capacity)

    with pytest.raises(cb.CheckFailed, match=f"Broken: .*{sentence}"):
        cb.check_policy(Broken())


def test_a_recipe_that_is_not_ready_for_json_is_told_so():
    @dataclass(frozen=True)
    class Odd(Good):
        parameter: object = object()

    with pytest.raises(cb.CheckFailed, match="Odd: its parameters must be ready for JSON"):
        cb.check_policy(Odd())
    assert json.dumps(Good().describe())


class Liar(NamedTuple):
    means: np.ndarray
    shift: float

    @property
    def n_arms(self):
        return 2

    @property
    def support(self):
        return 0.0, 1.0

    def pull(self, arm, rng):
        return self.means[arm] + self.shift

    def mean(self, arm):
        return self.means[arm]

    def best_mean(self):
        return self.means[0]


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (Liar(np.array([0.5, 0.2]), 0.1), "arm 0 paid 0.6 on average, but says its mean is 0.5"),
        (Liar(np.array([0.2, 0.5]), 0.0), r"best_mean\(\) is 0.2, but the highest mean is 0.5"),
        (Liar(np.array([2.0, 0.5]), 0.0), r"arm 0 paid 2.0 to 2.0, outside \[0, 1\]"),
        (State(np.zeros(2)), "it lacks n_arms, pull, mean, best_mean"),
    ],
)
def test_a_broken_problem_is_told_what_is_wrong(problem, sentence):
    with pytest.raises(cb.CheckFailed, match=sentence):
        cb.check_problem(problem)
