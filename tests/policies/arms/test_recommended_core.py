"""The recommended setting: what the study of exploration has chosen; what was saved under the name before goes on."""

import numpy as np
import pytest

import corebandit as cb
from corebandit.reproduction.studies.exploration_study import LINEAR_SETTING, SETTING

OLD = {"alpha": 0.6, "warm_up": 0.5, "extra": 0}  # until version 0.4
OLD_FOR_ARMS = OLD | {"growth": 0.0}
POLICIES = (cb.RecommendedCORe, cb.RecommendedLinCORe)


def old(policy):
    return policy(**(OLD_FOR_ARMS if policy is cb.RecommendedCORe else OLD))


def test_it_is_the_setting_that_the_study_judges_and_the_papers_stays_the_default():
    for recommended, setting in ((cb.RecommendedCORe(), SETTING), (cb.RecommendedLinCORe(), LINEAR_SETTING)):
        assert all(getattr(recommended, name) == getattr(setting, name) for name in ("alpha", "warm_up", "extra"))
    assert cb.RecommendedCORe().growth == SETTING.growth
    assert cb.CORe().growth == LINEAR_SETTING.growth == 0.0
    assert (cb.CORe().alpha, cb.CORe().warm_up, cb.CORe().extra) == (0.6, 4.0, 0)
    assert (cb.LinCORe().alpha, cb.LinCORe().warm_up, cb.LinCORe().extra) == (0.6, 4.0, 0)


def test_it_needs_no_horizon():
    runs = [
        cb.run(cb.Experiment(cb.GaussianBandit(n_arms=3), [policy], horizon=200, runs=2, seed=5)).regret(policy.label)
        for policy in (cb.RecommendedCORe(), SETTING)
    ]
    assert runs[0].tolist() == runs[1].tolist()
    choices = []
    for horizon in (None, 1000):
        agent = cb.Agent(cb.RecommendedCORe(), ["left", "right"], seed=7, horizon=horizon)
        choices.append([])
        for turn in range(100):
            decision = agent.ask()
            agent.tell(decision.id, turn % 3)
            choices[-1].append(decision.arm)
    assert choices[0] == choices[1]


def test_a_warm_up_that_is_asked_for_is_without_a_horizon_that_of_ten_thousand_rounds():
    arms, linear = (policy(warm_up=0.5) for policy in POLICIES)
    assert arms.start(10, 10_000, 10).log_horizon == arms.start(10, None, 10).log_horizon
    assert linear.start(10, 3, 10_000, 10).log_horizon == linear.start(10, 3, None, 10).log_horizon


@pytest.mark.parametrize("policy", [made for policy in POLICIES for made in (policy(), old(policy), policy(extra=0))])
def test_descriptions_say_how_many_extra_draws_there_are(policy):
    problem = cb.LinearBandit() if isinstance(policy, cb.LinCORe) else cb.GaussianBandit()
    assert "extra" in policy.describe()
    assert ("growth" in policy.describe()) == isinstance(policy, cb.CORe)
    again = cb.Experiment.from_dict(cb.Experiment(problem, {"it": policy}, horizon=10, runs=1).to_dict())
    assert again.policies["it"] == policy


def test_a_durable_agent_with_the_old_setting_says_how_to_change_it(tmp_path):
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    with cb.open_agent(url, "banner", old(cb.RecommendedCORe), ["red", "green"]) as agent:
        agent.tell(agent.ask().id, 1.0)
    with pytest.raises(ValueError, match=r"alpha was 0\.6, is 0\.4.*change=True"):
        cb.open_agent(url, "banner", cb.RecommendedCORe(), ["red", "green"])
    with cb.open_agent(url, "banner", cb.RecommendedCORe(), change=True) as agent:
        assert agent.policy == cb.RecommendedCORe()


@pytest.mark.parametrize("policy", [cb.RecommendedLinCORe(), cb.GLMCORe(alpha=0.7, warm_up=0.0, extra=8)])
def test_many_columns_are_no_warm_up(policy):
    """Two rows among 60 features are tried once each; then what they paid counts, not how many columns there are."""
    rows = np.zeros((2, 60))
    rows[0, :30], rows[1, 30:] = 1.0, 1.0
    agent = cb.Agent(policy, ["left", "right"], seed=7)
    chosen = []
    for _ in range(60):
        decision = agent.ask(rows)
        agent.tell(decision, float(decision.arm == "left"))
        chosen.append(decision.arm)
    assert set(chosen[:2]) == {"left", "right"}
    assert chosen.count("left") > 45
    assert policy.warm_up_rounds(60, 1000) == 1
    assert policy.changed(extra=0).warm_up_rounds(60, 1000) == 60


def test_an_experiment_that_was_described_before_is_of_the_old_setting():
    before = old(cb.RecommendedCORe)
    description = cb.Experiment(cb.GaussianBandit(), {"it": before}, horizon=10, runs=1).to_dict()
    assert description["policies"]["it"].pop("extra") == 0
    assert description["policies"]["it"].pop("growth") == 0.0
    assert cb.Experiment.from_dict(description).policies["it"] == before


def test_a_description_without_growth_is_of_a_setting_whose_noise_did_not_grow():
    before = cb.RecommendedCORe(alpha=0.7, extra=8, growth=0.0)  # for some days, before there was growth
    description = cb.Experiment(cb.GaussianBandit(), {"it": before}, horizon=10, runs=1).to_dict()
    assert description["policies"]["it"].pop("growth") == 0.0
    assert cb.Experiment.from_dict(description).policies["it"] == before
    description["policies"]["it"] = {"name": "RecommendedCORe", "alpha": 0.5}  # written by hand, for today
    assert cb.Experiment.from_dict(description).policies["it"] == cb.RecommendedCORe(alpha=0.5)


class Mine(cb.RecommendedCORe):
    pass


def test_an_agent_with_a_policy_derived_from_it_goes_on():
    content = cb.Agent(Mine(**OLD_FOR_ARMS), ["red", "green"]).to_dict()
    assert (content["policy"].pop("extra"), content["policy"].pop("growth")) == (0, 0.0)
    content.pop("digest", None)
    assert cb.Agent.from_dict(content, Mine(**OLD_FOR_ARMS)).policy == Mine(**OLD_FOR_ARMS)
    with pytest.raises(ValueError, match=r"extra was 0, is 1; growth was 0\.0, is 1\.0"):
        cb.Agent.from_dict(content, Mine(alpha=0.6, warm_up=0.5))
