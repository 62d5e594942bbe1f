"""Agents notice that the world seems to have changed, whatever their policy."""

import logging

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents.noticing import BLOCK, MOST_BLOCKS, Watch


def told(agent: cb.Agent, arm: str, rewards) -> None:
    """Tell an agent rewards of an arm."""
    for reward in rewards:
        agent.observe(arm, float(reward))


@pytest.mark.parametrize("policy", [cb.UCB1(), cb.RecommendedCORe(), cb.DriftingCORe()], ids=lambda policy: policy.name)
def test_a_change_is_in_the_table_and_in_the_log(policy, caplog):
    rng = np.random.default_rng(1)
    agent = cb.Agent(policy, ["red", "green"], seed=1)
    with caplog.at_level(logging.WARNING, logger="corebandit"):
        told(agent, "green", rng.random(1000) < 0.5)
        told(agent, "red", rng.random(1000) < 0.6)
        assert not caplog.records
        told(agent, "red", rng.random(300) < 0.2)
    (record,) = caplog.records
    assert "the world seems to have changed: the last" in record.getMessage()
    assert "rewards of arm 'red' are 0." in record.getMessage()
    red, green = agent.table().to_dicts()
    assert red["before"] == pytest.approx(0.6, abs=0.05)
    assert red["after"] == pytest.approx(0.2, abs=0.1)
    assert (green["before"], green["after"]) == (None, None)


def warnings_in(caplog) -> int:
    return sum("seems to have changed" in record.getMessage() for record in caplog.records)


def test_a_change_of_who_is_asked_about_is_none_of_the_world(caplog):
    features, ranking = (
        cb.Agent(cb.LinTS(), ["red", "green"], seed=1),
        cb.RankingAgent(cb.CascadeUCB1(), list("abc"), 2),
    )
    with caplog.at_level(logging.WARNING, logger="corebandit"):
        for index in range(900):
            features.observe("red", float(index < 600 and index % 2), x=[1.0, float(index < 600)])
            ranking.observe(["a", "b"], ["a"] if index < 600 and index % 2 else [])
    assert warnings_in(caplog) == 0


@pytest.mark.parametrize("nightly", [False, True])
def test_rewards_that_come_late_are_no_change(caplog, nightly):
    """Clicks are told at once, all others are nothing later on: by default, or told in the night."""
    now, rng = [0.0], np.random.default_rng(5)
    settings = {} if nightly else {"window": 1800, "default_reward": 0}
    agent = cb.Agent(cb.UniformRandom(), ["red", "green"], seed=1, clock=lambda: now[0], **settings)
    with caplog.at_level(logging.WARNING, logger="corebandit"):
        for _ in range(5):
            waiting = []
            for _ in range(1500):
                now[0] += 10.0
                decision = agent.ask()
                if rng.random() < 0.1:
                    agent.tell(decision, 1.0)
                else:
                    waiting.append(decision)
            for decision in waiting if nightly else ():
                agent.tell(decision, 0.0)
    assert warnings_in(caplog) == 0


def test_a_change_is_told_once_however_often_an_agent_is_opened(caplog, tmp_path):
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    with caplog.at_level(logging.WARNING, logger="corebandit"):
        with cb.open_agent(url, "banner", cb.UCB1(), ["red", "green"], synchronous="normal") as agent:
            told(agent, "red", [0.0, 1.0] * 384 + [1.0] * 128)
        for _ in range(2):
            cb.open_agent(url, "banner").close()
    assert warnings_in(caplog) == 1


@pytest.mark.heavy
def test_a_world_that_stays_the_same_is_left_in_peace():
    rng = np.random.default_rng(2)
    purchases = np.where(rng.random((20, 20_000)) < 0.01, rng.exponential(size=(20, 20_000)), 0.0)
    rare = rng.random((20, 20_000)) < 0.003
    for rewards in (rng.random(40_000) < 0.01, rng.standard_t(4, 40_000), np.ones(5000), np.full(5000, 1e99)):
        watch = Watch()
        assert not any([watch.hears(float(reward)) for reward in rewards])
    for rewards in (*purchases, *rare):
        watch = Watch()
        assert not any([watch.hears(float(reward)) for reward in rewards])


def test_memory_is_bounded_and_nothing_is_lost():
    watch, rewards = Watch(), np.random.default_rng(3).normal(5.0, 2.0, 30_000)
    for reward in rewards:
        watch.hears(float(reward))
    assert len(watch.blocks) <= MOST_BLOCKS
    assert len(watch.newest) < BLOCK
    n = sum(block[0] for block in watch.blocks)
    assert n + len(watch.newest) == 30_000
    assert sum(block[0] * block[1] for block in watch.blocks) == pytest.approx(rewards[:n].sum())


def test_one_change_after_another_is_noticed():
    rng, watch, noticed = np.random.default_rng(4), Watch(), []
    for level in (0.0, 1.0, 0.0):
        for reward in rng.normal(level, 0.5, 640):
            if watch.hears(float(reward)):
                noticed.append(watch.change)
    assert [round(change.after) for change in noticed] == [1, 0]
    assert [change.n_before for change in noticed] == pytest.approx([640, 640], abs=64)


def test_nothing_is_decided_otherwise_for_it_and_a_loaded_agent_begins_anew():
    agent = cb.Agent(cb.UCB1(), ["red", "green"], seed=1)
    told(agent, "red", [0.0, 1.0] * 384 + [1.0] * 128)
    assert agent.table()["after"][0] == 1.0
    twin = cb.Agent.from_dict(agent.to_dict())
    assert twin.table()["after"][0] is None
    assert twin.ask().arm == agent.ask().arm
