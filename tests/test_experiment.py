import json
import math
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb


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
        ValueError, match=r"NPTS is made for rewards in \[-inf, 1\], but gaussian pays .* any_reward=True"
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
