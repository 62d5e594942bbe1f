"""SSMC against a plain reading of the paper over random games."""

import math

import numpy as np
import pytest

from corebandit.agents.agent import Agent
from corebandit.contracts.recipe import REAL_LINE
from corebandit.policies import SSMC
from corebandit.randomness.stream import stream
from often import often


def challenges(k: int, leader: int, rewards: list[list[float]], window: str) -> bool:
    """Decide by comparing every window, written out, whether arm k is sampled in the round that begins now."""
    n_k, n_leader = len(rewards[k]), len(rewards[leader])
    if n_k == 0:
        return True
    if n_k >= n_leader:
        return False
    starts = [n_leader - n_k] if window == "last" else range(n_leader - n_k + 1)
    lowest = min(sum(rewards[leader][start : start + n_k]) for start in starts)
    return n_k < math.sqrt(math.log(sum(map(len, rewards)))) or sum(rewards[k]) >= lowest


def is_a_leader(arm: int, previous: int, rewards: list[list[float]]) -> bool:
    """Tell whether `arm` may lead: most samples, then the larger total, then the previous leader."""
    ranks = [(len(of_arm), sum(of_arm), k == previous) for k, of_arm in enumerate(rewards)]
    return ranks[arm] == max(ranks)


def halves(rng: np.random.Generator) -> float:
    """Pay 0, 1/2 or 1: exact sums and many ties."""
    return rng.integers(3) / 2


def normals(rng: np.random.Generator) -> float:
    """Pay normal rewards far from 0."""
    return 1000.0 + rng.standard_normal()


@pytest.mark.parametrize("pay", [halves, normals])
@pytest.mark.parametrize("window", ["min", "last"])
@pytest.mark.parametrize("disobedience", often([0.2], [0.0, 0.2], pytest.mark.heavy))
def test_every_round_is_the_one_a_plain_recomputation_gives(window, pay, disobedience):
    n_arms, n_samples = 4, 600
    state, rng, noise = SSMC(window).start(n_arms, None, n_samples), stream(1, "ssmc"), np.random.default_rng(2)
    rewards: list[list[float]] = [[] for _ in range(n_arms)]
    queue, leader, scores, n_rounds = set(range(n_arms)), -1, np.empty(n_arms), 0
    for _ in range(n_samples):
        state.score(rng, scores)
        assert [score == 1.0 for score in scores] == [arm in queue for arm in range(n_arms)]
        others = [arm for arm in range(n_arms) if arm not in queue and arm != leader]
        if leader >= 0 and leader not in queue:
            assert scores[leader] == 0.5
        assert all(0.0 <= scores[arm] < 0.5 for arm in others)
        by_rewards = sorted(others, key=lambda arm: len(rewards[arm]))
        assert by_rewards == sorted(by_rewards, key=lambda arm: scores[arm])
        arm = int(noise.integers(n_arms)) if noise.random() < disobedience else int(np.argmax(scores))
        reward = pay(noise) + 0.1 * arm * (pay is normals)
        rewards[arm].append(reward)
        state.update(arm, reward, rng)
        round_goes_on = arm in queue and queue != {arm}
        queue.discard(arm)
        if not round_goes_on:
            n_rounds += 1
            assert is_a_leader(state.leader[0], leader, rewards)
            leader = state.leader[0]
            queue = {k for k in range(n_arms) if challenges(k, leader, rewards, window)}
    assert n_rounds > 100
    assert min(map(len, rewards)) < 0.5 * max(map(len, rewards))


def test_forms_differ_where_an_old_window_was_low():
    queued = {}
    for window in ("min", "last"):
        state, rng = SSMC(window).start(2, None, 20), stream(2, "ssmc")
        for reward in (0.0, 0.0, 1.0, 1.0, 1.0, 1.0):
            state.update(0, reward, rng)
        state.update(1, 0.5, rng)
        state.update(1, 0.5, rng)  # total 1.0: above the leader's first two rewards, below its last two
        queued[window] = bool(state.queue[1])
    assert queued == {"min": True, "last": False}


@pytest.mark.parametrize("window", ["min", "last"])
def test_when_the_leader_retires_the_next_best_takes_its_place(window):
    means, noise = {"best": 0.9, "good": 0.6, "bad": 0.1, "worse": 0.0}, np.random.default_rng(6)
    agent = Agent(SSMC(window), arms=list(means), seed=7)
    chosen = []
    for n_told in range(900):
        if n_told == 600:
            agent.retire_arm("best")
        decision = agent.ask()
        chosen.append(decision.arm)
        agent.tell(decision, means[decision.arm] + 0.3 * noise.standard_normal())
    assert max(means, key=chosen[:600].count) == "best"
    assert chosen[600:].count("good") > 285


def test_first_each_arm_is_sampled_once():
    state, rng, scores = SSMC().start(5, None, 5), stream(3, "ssmc"), np.empty(5)
    for arm in (3, 1, 4, 0, 2):
        state.score(rng, scores)
        assert scores[arm] == 1.0
        state.update(arm, float(arm), rng)
        state.score(rng, scores)
        assert scores[arm] < 1.0
    assert state.leader[0] == 4


def test_ties_for_the_lead_are_broken_at_random():
    leaders = set()
    for seed in range(40):
        state, rng = SSMC().start(3, None, 3), stream(seed, "ssmc")
        for arm in range(3):
            state.update(arm, 1.0, rng)
        leaders.add(int(state.leader[0]))
    assert leaders == {0, 1, 2}


@pytest.mark.parametrize("window", ["min", "last"])
def test_rewards_far_from_zero_do_not_blur_the_windows(window):
    near, far = SSMC(window).start(3, None, 400), SSMC(window).start(3, None, 400)
    near_rng, far_rng, noise, scores = stream(4, "ssmc"), stream(4, "ssmc"), np.random.default_rng(5), np.empty(3)
    for _ in range(400):
        near.score(near_rng, scores)
        arm, reward = int(np.argmax(scores)), float(noise.integers(256)) / 256
        near.update(arm, reward, near_rng)
        far.update(arm, reward + 2.0**44, far_rng)  # exact: the sum has 52 binary digits
        assert list(near.queue) == list(far.queue)
        assert near.leader[0] == far.leader[0]


def test_any_real_rewards_are_welcome():
    assert SSMC().reward_range == REAL_LINE


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="window must be 'min' or 'last', not 'first'"):
        SSMC(window="first")
