"""What becomes of an agent in a forked process, in a copy, and in a pickle; and where its randomness comes from."""

import copy
import json
import pickle
import signal

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents import forks
from forked_agents import forked
from often import often
from same_agents import in_common

ARMS = ["red", "green", "blue"]


@pytest.fixture(scope="module", params=often([60], [60, 1000]))
def said(request, tmp_path_factory):
    """Return what a process that forks has said; one for all tests, as it takes seconds to start."""
    return forked(request.param, tmp_path_factory.mktemp("forks"))


@pytest.mark.heavy
def test_forks_go_on_with_agents_that_threads_were_using(said):
    children = said["threads"]["children"]
    assert {status for _, status in children} == {0}  # none hung or failed
    ids = [decision_id for agents, _ in children for decision_id, _ in agents] + said["threads"]["ids"]
    assert len(set(ids)) == len(ids) == 2 * len(children) + 2
    assert said["threads"]["n_open"] == 1
    choices = {tuple(arms) for agents, _ in children for _, arms in agents}
    assert len(choices) == 2 * len(children)  # random numbers are others in every child


@pytest.mark.heavy
def test_parent_and_child_have_in_common_what_was_decided_before_the_fork(said):
    assert said["told"]["in child"] == ["AlreadyTold", "learned", "LostDecision", "LostDecision"]
    assert said["told"]["in parent"] == ["AlreadyTold", "learned", "LostDecision", "learned"]


@pytest.mark.heavy
def test_a_process_that_is_killed_takes_with_it_what_it_decided_after_its_save(said):
    killed = said["killed"]
    assert killed["ends"] == [signal.SIGKILL] * 3
    assert len(set(killed["ids"])) == len(killed["ids"]) == 14
    assert killed["saved"] == ["learned"] * 6
    assert killed["lost"] == ["LostDecision"] * 6


def test_agents_that_are_gone_are_not_looked_after():
    agent = cb.Agent(cb.UCB1(), ARMS)
    assert agent in forks._agents
    n_agents = len(forks._agents)
    del agent
    assert len(forks._agents) < n_agents


# Copies -----------------------------------------------------------------------------------------------------------


def busy_agents():
    agents = [
        cb.Agent(cb.CORe(warm_up=0.1), ARMS, seed=7, max_share=0.9, window=50.0, clock=lambda: 12.0),
        cb.Agent(cb.LinTS(), ARMS, seed=7),
        cb.RankingAgent(cb.CascadeUCB1(), ARMS, 2, seed=7),
    ]
    for agent in agents:
        play(agent, 50)
    return agents


def play(agent, n_rounds):
    """Return what is chosen; every seventh decision is left to wait."""
    rows, chosen = np.random.default_rng(4).normal(size=(3, 2)), []
    for step in range(n_rounds):
        decision = agent.ask(rows) if isinstance(agent.policy, cb.FeaturePolicy) else agent.ask()
        chosen.append(decision[0])
        if step % 7:
            agent.tell(decision, decision.items[: step % 2] if isinstance(agent, cb.RankingAgent) else step % 3)
    return chosen


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda agent: copy.deepcopy([agent])[0]])
def test_a_copy_is_a_twin_that_shares_nothing(make):
    for agent in busy_agents():
        before = json.dumps(agent.to_dict())
        twin = make(agent)
        assert type(twin) is type(agent)
        assert json.dumps(twin.to_dict()) == before
        chosen = play(twin, 60)
        assert json.dumps(agent.to_dict()) == before
        assert play(agent, 60) == chosen
        assert in_common(agent) == in_common(twin)
        assert set(list(agent.pending)[-5:]).isdisjoint(twin.pending)


def test_a_copy_has_the_clock_of_the_original():
    now = [12.0]
    agent = cb.Agent(cb.UCB1(), ARMS, seed=1, window=10.0, clock=lambda: now[0])
    decision = agent.ask()
    twins = [copy.copy(agent), cb.Agent.from_dict(agent.to_dict(), clock=lambda: now[0])]
    now[0] = 15.0
    for twin in twins:
        twin.ask()
        assert decision.id in twin.pending
    now[0] = 22.0
    for twin in twins:
        with pytest.raises(cb.TooLate):
            twin.tell(decision, 1.0)


def test_a_policy_of_one_s_own_is_copied_too():
    class Mine(cb.UCB1):
        pass

    agent = cb.Agent(Mine(), ARMS, seed=1)
    assert copy.copy(agent).policy is agent.policy


def test_pickles_are_refused_in_a_sentence():
    for agent in busy_agents():
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match=r"Agent cannot be pickled: .* to_dict\(\) says all"):
                pickle.dumps(agent, protocol)


# Seeds and names --------------------------------------------------------------------------------------------------


def test_without_a_seed_agents_differ_and_each_can_be_made_again():
    agents = [cb.Agent(cb.UniformRandom(), ARMS) for _ in range(6)]
    assert len({agent.seed for agent in agents}) == 6
    choices = [tuple(play(agent, 40)) for agent in agents]
    assert len(set(choices)) == 6
    again = cb.Agent(cb.UniformRandom(), ARMS, seed=agents[0].seed)
    assert tuple(play(again, 40)) == choices[0]


def test_dates_of_numpy_stay_what_they_are():
    days = list(np.array(["2026-11-16", "2026-11-17"], "datetime64[ns]"))
    agent = cb.Agent(cb.UCB1(), days, seed=1)
    agent.observe(days[0], 1.0)
    assert agent.ask(arms=days[1:]).arm == days[1]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.str_("red"), "red"),
        (np.bool_(True), True),
        (("a", np.int64(3)), ("a", 3)),
        ((np.str_("a"), (np.float64(2.5), None)), ("a", (2.5, None))),
    ],
)
def test_numbers_and_strings_of_numpy_are_kept_as_python_s(given, kept):
    agent = cb.Agent(cb.UCB1(), [given, "other"], seed=1)
    ranker = cb.RankingAgent(cb.CascadeUCB1(), ["other", "another"], 2, seed=1)
    ranker.add_item(given)
    for name in (agent.arms[0], ranker.items[2]):
        assert name == kept
        assert type(name) is type(kept)
    agent.observe(given, 1.0)
    assert agent.ask(arms=[given]).arm == kept
    assert cb.Agent.from_dict(json.loads(json.dumps(agent.to_dict()))).arms == [kept, "other"]


@pytest.mark.parametrize("arm", [float("nan"), np.float32("nan"), ("a", float("nan")), np.datetime64("NaT")])
def test_what_does_not_equal_itself_is_no_name(arm):
    agent = cb.Agent(cb.UCB1(), ["red"], seed=1)
    before = agent.to_dict()
    with pytest.raises(cb.BadInput, match="arm must be "):
        cb.Agent(cb.UCB1(), ["red", arm])
    with pytest.raises(cb.BadInput, match="arm must be "):
        agent.add_arm(arm)
    assert agent.to_dict() == before
