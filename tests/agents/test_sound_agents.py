"""No agent that was saved is taken for a forged one, whatever it has been through."""

import numpy as np
import pytest

import corebandit as cb
from corebandit.catalogue import policy_from
from forging import HORIZON, Player, attacked, change_options, content_of, new_agent
from often import often
from same_agents import in_common

# How the rewards come, and for how many rounds.
LIVES = {
    "nothing yet": (dict(), 0),
    "clicks": (dict(kind="clicks"), 200),
    "numbers": (dict(kind="numbers"), 150),
    "all alike": (dict(kind="numbers", scale=0.0), 60),
    "far from 0": (dict(kind="numbers", origin=1e9), 60),
    "huge": (dict(kind="numbers", origin=0.0, scale=5e99), 100),
    "of two sizes": (dict(kind="numbers", origin=0.0, scale=1e60), 100),
    "tiny": (dict(kind="numbers", origin=0.0, scale=1e-70), 100),
    "tiny fractions": (dict(kind="numbers", origin=0.0, scale=1e-310), 60),
}


def choices(agent, seed):
    """Return what is chosen next, and what becomes of the state."""
    with np.errstate(all="ignore"):
        return Player(seed=seed).play(agent, 20), in_common(agent)


SOME, MORE = ("CORe", "SSMC", "LinCORe", "Ranked"), ("RewardExchange", "BatchRank")
SPECS = [
    *often(SOME, [*SOME, *MORE], pytest.mark.thorough),
    *often([], [spec for spec in attacked() if spec not in (*SOME, *MORE)]),
]


@pytest.mark.heavy
@pytest.mark.parametrize("spec", SPECS)
def test_what_was_saved_is_loaded_and_continues_alike(spec, tmp_path):
    policy, path = policy_from(spec), tmp_path / "agent.json"
    for life, (rewards, n_rounds) in LIVES.items():
        try:
            agent = new_agent(policy, horizon=None if life in ("numbers", "tiny") else HORIZON)
        except ValueError:  # it needs to know the horizon
            agent = new_agent(policy)
        Player(**rewards).play(agent, n_rounds)
        if n_rounds:
            change_options(agent, "added")
            Player(**rewards | {"seed": 8}).play(agent, n_rounds // 2)
        agent.save(path)
        loaded = type(agent).load(path, policy)
        assert content_of(loaded) == content_of(agent), life
        assert choices(loaded, 4) == choices(agent, 4), life


BY_FEATURES = ("LinCORe", "LinCORe(sampler='exact')", "GLMCORe", "LinRewardExchange", "LogPHE", "LinPHE")


@pytest.mark.parametrize("spec", often(BY_FEATURES[:3], BY_FEATURES, pytest.mark.thorough))
def test_rows_without_names_are_loaded(spec, tmp_path):
    rng = np.random.default_rng(2)
    agent = cb.Agent(policy_from(spec), seed=3)
    for n_rows in range(1, 60):
        agent.tell(agent.ask(rng.normal(size=(n_rows, 4))), float(rng.random() < 0.5))
    agent.save(tmp_path / "rows.json")
    assert content_of(cb.Agent.load(tmp_path / "rows.json")) == content_of(agent)


@pytest.mark.heavy
@pytest.mark.parametrize("size", [2, 16, 17, 40])
@pytest.mark.parametrize("n_values", [1, 3, 17, 30, 10**6])
def test_pools_that_keep_a_sample_are_loaded(tmp_path, size, n_values):
    rng = np.random.default_rng(size)
    agent = cb.Agent(cb.CORe(pool_size=size, warm_up=0.5), ["red", "green"], seed=1)
    for turn in range(12):
        for _ in range(50):
            reward = float(rng.integers(n_values)) * (1e30 if rng.random() < 0.02 else 1.0)
            agent.tell(agent.ask(), reward)
        agent.save(tmp_path / "pool.json")
        assert content_of(cb.Agent.load(tmp_path / "pool.json")) == content_of(agent), turn
