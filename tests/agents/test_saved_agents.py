"""Saved agents are loaded and continue bit for bit, whatever they have learnt."""

from typing import Any

import numpy as np
import pytest

import corebandit as cb
from corebandit.catalogue import feature_policies, known_policies, neural_policies, policy_from, ranking_policies
from corebandit.contracts.recipe import LARGEST_REWARD
from corebandit.policies.neural.network import pytorch
from often import often
from same_agents import in_common

# Settings that make the state another one than the default's.
VARIANTS = (
    "CORe(pool_size=50)",
    "CORe(sampler='exact')",
    "CORe(sampler='exact', pool='plain')",
    "AdaUCB(logarithm='plain')",
    "GLRKLUCB(restarts='local', family='gaussian')",
    "KLUCB(family='gaussian')",
    "MaillardSampling(family='bernoulli')",
    "PHE(pseudo='gaussian')",
    "SSMC(window='last')",
    "UCBV(exploration='anytime')",
    "WeightedBootstrap(weights='gaussian')",
    "BootstrapTS(weights='poisson')",
    "RewardExchange(probability=0.3)",
    "RewardExchange(kept=False)",
    "LinCORe(sampler='exact')",
    "LinPHE(pseudo='gaussian')",
    "LinUCB(radius='determinant')",
    "LinRewardExchange(probability=0.3)",
    "LinRewardExchange(kept=False)",
    "GLMCORe(link='identity', sampler='exact')",
    "GLMCORe(link='poisson')",
    "EstimatorCORe(refit='geometric')",
    "Ranked(CORe(), observes='all')",
    "Ranked(CORe(), warm_up='displayed')",
    "Ranked(NPTS())",
    "Ranked(SSMC())",
    "RankedBandits(CORe())",
    "RankedBandits(Giro())",
)
HORIZON, N_FEATURES, N_POSITIONS = 10_000, 3, 2


def specs() -> list[str]:
    """Return the specs of all policies there are, as they come and in the settings that matter."""
    names = [name for name in known_policies() if name not in neural_policies() or has_pytorch()]
    return [*names, *VARIANTS]


def has_pytorch() -> bool:
    """Tell whether there is PyTorch."""
    try:
        pytorch("a test")
    except ValueError:
        return False
    return True


def new_agent(policy: Any, horizon: int | None = HORIZON, seed: int = 5) -> Any:
    """Return an agent with three arms, or five items."""
    if policy.name in ranking_policies():
        return cb.RankingAgent(policy, [f"item {k}" for k in range(5)], N_POSITIONS, seed=seed, horizon=horizon)
    return cb.Agent(policy, ["red", "green", "blue"], seed=seed, horizon=horizon)


class Player:
    """Someone who asks an agent and answers with rewards or clicks, the same for the same seed."""

    def __init__(self, seed: int = 3, kind: str = "clicks", origin: float = 0.5, scale: float = 0.3) -> None:
        self.rng, self.kind, self.origin, self.scale = np.random.default_rng(seed), kind, origin, scale
        self.rows = np.random.default_rng(1).normal(size=(20, N_FEATURES))

    def reward(self, policy: Any) -> float:
        """Return a reward that the policy takes."""
        if self.kind == "clicks":
            return float(self.rng.random() < 0.4)
        low, high = policy.reward_range
        low, high = max(low, -LARGEST_REWARD), min(high, LARGEST_REWARD)
        return float(min(max(self.origin + self.scale * self.rng.normal(), low), high))

    def features(self, agent: Any, n: int) -> Any:
        """Return rows of features, if the policy wants any."""
        if agent.policy.name not in feature_policies():
            return None
        return self.rng.normal(size=(n, N_FEATURES)) if self.kind == "numbers" else self.rows[:n]

    def play(self, agent: Any, n_rounds: int) -> list[Any]:
        """Decide and learn; return what was chosen."""
        return [self.play_once(agent) for _ in range(n_rounds)]

    def play_once(self, agent: Any) -> Any:
        """Decide and learn once; now and then the reward comes late, or never, or someone else has chosen."""
        late = self.rng.random() < 0.1
        if isinstance(agent, cb.RankingAgent):
            ranking = agent.ask()
            clicks = [item for item in ranking.items if self.rng.random() < 0.3]
            if not late:
                agent.tell(ranking, clicks)
            elif agent.pending and self.rng.random() < 0.7:
                first = next(iter(agent.pending))
                agent.tell(first, agent.pending[first][:1])
            elif self.rng.random() < 0.5:
                agent.observe(agent.items[-N_POSITIONS:], agent.items[-1:])
            return ranking.items
        decision = agent.ask(self.features(agent, len(agent.arms)))
        reward = self.reward(agent.policy)
        if not late:
            agent.tell(decision, reward)
        elif agent.pending and self.rng.random() < 0.7:
            agent.tell(next(iter(agent.pending)), reward)
        elif self.rng.random() < 0.5:
            x = self.features(agent, 1)
            agent.observe(agent.arms[-1], reward, None if x is None else x[0])
        return decision.arm


def change_options(agent: Any, name: str) -> None:
    """Add an option, and take another off offer, if the policy allows it."""
    if isinstance(agent, cb.RankingAgent):
        if agent.policy.items_may_change:
            agent.add_item(name)
            agent.retire_item(agent.items[0])
    else:
        agent.add_arm(name)
        agent.retire_arm(agent.arms[0])


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
    *often([], [spec for spec in specs() if spec not in (*SOME, *MORE)]),
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
        assert loaded.to_dict() == agent.to_dict(), life
        assert choices(loaded, 4) == choices(agent, 4), life
