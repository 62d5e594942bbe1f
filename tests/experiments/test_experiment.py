import json
import math
import warnings
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.policies import LinCORe
from corebandit.problems.linear import ContextualBandit, FixedLinear, LinearBandit


class TwoArms(NamedTuple):
    means: np.ndarray

    @property
    def n_arms(self):
        return self.means.size

    def pull(self, arm, rng):
        return self.means[arm] + rng.random() - 0.5

    def mean(self, arm):
        return self.means[arm]

    def best_mean(self):
        return self.means.max()


def test_labels_name_what_is_not_at_its_default():
    experiment = cb.Experiment(cb.BernoulliBandit(), [cb.CORe(), cb.CORe(alpha=0.4, z=0.5)])
    assert list(experiment.policies) == ["CORe", "CORe(alpha=0.4, z=0.5)"]


def test_the_id_changes_when_the_content_does():
    def experiment(**changes):
        return cb.Experiment(cb.BernoulliBandit(), [cb.CORe()], **{"horizon": 100, "runs": 5, **changes})

    others = [experiment(runs=6), experiment(seed=1), experiment(horizon=101), experiment(regret="realised")]
    assert experiment().id == experiment().id
    assert len({experiment().id, *(other.id for other in others)}) == 5


def test_the_description_is_ready_for_json():
    experiment = cb.Experiment(
        cb.FixedArms([cb.Bernoulli(0.3), cb.Gaussian(0.5, sigma=2.0)]), {"mine": cb.UCB1()}, horizon=10, runs=1
    )
    described = json.loads(json.dumps(experiment.describe()))
    assert described["problem"]["laws"][1] == {"name": "gaussian", "mu": 0.5, "sigma": 2.0}
    assert described["policies"] == {"mine": {"name": "UCB1", "sigma": 0.5}}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"runs": 0}, "runs must be a whole number of at least 1, not 0"),
        ({"horizon": 1}, "horizon must be a whole number of at least 2, not 1"),
        ({"horizon": 10.5}, "horizon must be a whole number"),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"regret": "total"}, "regret must be 'expected' or 'realised', not 'total'"),
        ({"policies": []}, "policies must name at least one policy"),
        ({"policies": ["CORe"]}, "policies must be recipes such as CORe"),
        ({"policies": [cb.CORe(), cb.CORe()]}, "different labels"),
        ({"problem": 3}, "a problem must be a recipe such as BernoulliBandit"),
    ],
)
def test_a_mistake_is_named_before_any_work(change, sentence):
    settings = {"problem": cb.BernoulliBandit(), "policies": [cb.CORe()], **change}
    with pytest.raises(ValueError, match=sentence):
        cb.Experiment(**settings)


def test_rewards_a_policy_is_not_made_for_take_a_named_switch():
    with pytest.raises(
        ValueError, match=r"NPTS is made for rewards of at most 1, but gaussian pays .* any_reward=True"
    ):
        cb.Experiment(cb.GaussianBandit(), [cb.NPTS()])
    with pytest.raises(ValueError, match=r"BernoulliTS is made for rewards in \[0, 1\].*choose another policy$"):
        cb.Experiment(cb.GaussianBandit(), [cb.BernoulliTS()])
    cb.Experiment(cb.GaussianBandit(), [cb.NPTS(any_reward=True), cb.UCBV(any_reward=True)])


def test_arms_of_the_users_own_are_played():
    problem = TwoArms(np.array([0.0, 1.0]))
    result = cb.run(cb.Experiment(problem, [cb.CORe(warm_up=0.5), cb.UCB1()], horizon=400, runs=6))
    assert result.frame["problem"].unique().to_list() == ["TwoArms"]
    assert (result.regret("CORe(warm_up=0.5)")[:, -1] < 100).all()
    with pytest.raises(ValueError, match="BernoulliTS is made for"):
        cb.Experiment(problem, [cb.BernoulliTS()])


def test_checkpoints_end_at_the_horizon():
    for horizon in (2, 99, 100, 101, 12345):
        rounds = cb.Experiment(cb.BernoulliBandit(), [cb.CORe()], horizon=horizon).rounds
        assert rounds[-1] == horizon
        assert rounds.size == min(100, horizon)
        assert (np.diff(rounds) > 0).all()
        assert math.isclose(rounds[0], max(1, horizon / 100), abs_tol=1)


def test_a_warm_up_that_never_ends_is_announced():
    with pytest.warns(UserWarning, match="CORe spends all 150 rounds on its warm-up, which would take 181"):
        cb.Experiment(cb.BernoulliBandit(), [cb.CORe()], horizon=150)


@pytest.mark.parametrize("problem", [LinearBandit(), ContextualBandit(n_arms=5), FixedLinear(np.eye(2), [0.1, 0.2])])
def test_a_policy_for_arms_is_refused_where_features_are_offered(problem):
    with pytest.raises(ValueError, match=r"^CORe takes no features, but .* offers them: choose a policy .* LinCORe$"):
        cb.Experiment(problem, [LinCORe(), cb.CORe()])


def test_a_policy_that_chooses_by_features_is_refused_where_none_are_offered():
    sentence = (
        "^LinCORe chooses by features, but {} offers none: choose a problem that does, such as linear, or a policy "
    )
    for problem, name in ((cb.BernoulliBandit(), "bernoulli"), (TwoArms(np.array([0.0, 1.0])), "TwoArms")):
        with pytest.raises(ValueError, match=sentence.format(name)):
            cb.Experiment(problem, [cb.CORe(), LinCORe()])


class Slope(NamedTuple):
    """Arms of the user's own that offer features: two slopes that take turns to be the better one."""

    theta: np.ndarray

    @property
    def n_arms(self):
        return 2

    @property
    def n_features(self):
        return 2

    def offer(self, current_round, rng, features):
        features[0, 0], features[0, 1] = 1.0, rng.random()
        features[1, 0], features[1, 1] = rng.random(), 1.0
        return True

    def pull(self, arm, x, rng):
        return self.mean(arm, x) + 0.1 * rng.standard_normal()

    def mean(self, arm, x):
        return x[0] * self.theta[0] + x[1] * self.theta[1]


def test_features_of_the_users_own_are_played():
    problem = Slope(np.array([1.0, 0.9]))
    policies = {"learns": LinCORe(warm_up=0.5), "warms up": LinCORe(warm_up=1e6)}
    result = cb.run(cb.Experiment(problem, policies, horizon=400, runs=4))
    assert result.frame["problem"].unique().to_list() == ["Slope"]
    assert result.regret("learns")[:, -1].max() < 0.5 * result.regret("warms up")[:, -1].min()
    with pytest.raises(ValueError, match="CORe takes no features, but Slope offers them"):
        cb.Experiment(problem, [cb.CORe()])


def test_a_problem_that_offers_features_must_say_how_many():
    class Incomplete(NamedTuple):
        n_arms: int

        def offer(self, current_round, rng, features):
            return True

    with pytest.raises(ValueError, match="it lacks pull, mean, n_features"):
        cb.Experiment(Incomplete(2), [LinCORe()])


def test_the_warm_up_of_a_policy_with_features_is_announced_by_the_number_of_features():
    with pytest.warns(UserWarning, match="warm_up=0.0.* spends all 10 rounds on its warm-up, which would take 10"):
        cb.Experiment(LinearBandit(), [LinCORe(warm_up=0.0)], horizon=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cb.Experiment(LinearBandit(), [LinCORe(warm_up=0.0)], horizon=11)
