"""CORe that forgets: within its memory it is CORe, and what left its memory left the pool too."""

import numpy as np
import pytest

import corebandit as cb
from corebandit.contracts.state import arrays_of
from corebandit.parts.fading import WEIGHT
from corebandit.parts.moments import COUNT, MEAN
from corebandit.policies.arms.drifting_core import fading_for
from corebandit.randomness.stream import stream

N_ARMS = 3


def learnt(policy: cb.Policy, arms, rewards, n_arms: int = N_ARMS):
    """Return the policy's state after a history."""
    state, rng = policy.start(n_arms, None, len(arms)), stream(2, "core")
    for arm, reward in zip(arms, rewards, strict=True):
        state.update(int(arm), float(reward), rng)
    return state


def many_scores(state, n_draws: int = 20_000) -> np.ndarray:
    """Score again and again, `(n_draws, n_arms)`."""
    rng, scores = stream(3, "core"), np.empty((n_draws, N_ARMS))
    for row in scores:
        state.score(rng, row)
    return scores


@pytest.mark.parametrize("decimals", [0, 9])
def test_within_its_window_it_is_core_without_a_warm_up(decimals):
    noise = np.random.default_rng(1)
    window, plain = cb.WindowCORe(window=200).start(4, None, 200), cb.CORe(warm_up=0, extra=4).start(4, None, 200)
    streams, scores = (stream(5), stream(5)), (np.empty(4), np.empty(4))
    for pull in range(200):
        arm, reward = pull % 4, float(np.round(noise.random(), decimals))
        for state, rng, out in zip((window, plain), streams, scores, strict=True):
            state.update(arm, reward, rng)
            if pull >= 3:  # before, CORe tries the arms in turn
                state.score(rng, out)
        if pull >= 3:
            assert scores[0].tolist() == scores[1].tolist()


@pytest.mark.parametrize("decimals", [0, 9])
def test_what_leaves_the_window_leaves_counts_sums_and_pool(decimals):
    noise = np.random.default_rng(2)
    arms, rewards = noise.integers(N_ARMS, size=530), np.round(noise.normal(size=530), decimals)
    rewards[:40] += 1000.0  # what must leave no trace
    state, fresh = (learnt(cb.WindowCORe(window=90), a, r) for a, r in ((arms, rewards), (arms[-90:], rewards[-90:])))
    assert state.recent.counts.tolist() == fresh.recent.counts.tolist()
    assert state.recent.sums == pytest.approx(fresh.recent.sums)
    assert sorted(state.pool.values) == sorted(fresh.pool.values)
    assert state.pool.moments[:7] == pytest.approx(fresh.pool.moments[:7], rel=1e-6, abs=1e-6)
    scores, alpha = many_scores(state), 0.6
    counts = np.bincount(arms[-90:], minlength=N_ARMS)
    assert scores.var(axis=0) == pytest.approx(alpha**2 * rewards[-90:].var() * (counts + 4) / counts**2, rel=0.06)


def test_a_full_window_is_a_window_however_long_it_goes_on():
    state = learnt(cb.WindowCORe(window=7), [0, 1, 2] * 200, np.arange(600.0))
    assert state.pool.moments[COUNT] == 7
    assert state.pool.moments[MEAN] == pytest.approx(596.0)
    assert state.recent.sums.sum() == pytest.approx(7 * 596.0)


def test_a_discounted_memory_has_the_noise_of_the_draws_it_is_worth():
    noise, discount, alpha, extra = np.random.default_rng(3), 0.98, 0.7, 5
    arms, rewards = noise.integers(N_ARMS, size=300), noise.gamma(2.0, size=300)
    weights = discount ** np.arange(299, -1, -1.0)
    counts = np.array([weights[arms == arm].sum() for arm in range(N_ARMS)])
    means = np.array([np.average(rewards[arms == arm], weights=weights[arms == arm]) for arm in range(N_ARMS)])
    variance = np.average((rewards - np.average(rewards, weights=weights)) ** 2, weights=weights)
    scores = many_scores(learnt(cb.DiscountedCORe(discount=discount, alpha=alpha, extra=extra), arms, rewards))
    spread = alpha**2 * variance * (counts + extra) / counts**2
    assert np.all(np.abs(scores.mean(axis=0) - means) < 4.5 * np.sqrt(spread / len(scores)))
    assert scores.var(axis=0) == pytest.approx(spread, rel=0.05)


@pytest.mark.heavy
def test_with_nothing_to_forget_all_forms_explore_alike():
    noise = np.random.default_rng(4)
    arms, rewards = noise.integers(N_ARMS, size=200), noise.normal(size=200)
    forms = [cb.WindowCORe(window=200), cb.DiscountedCORe(discount=1.0), cb.RestartingCORe()]
    spreads = [many_scores(learnt(form, arms, rewards)).std(axis=0) for form in forms]
    for spread in spreads[1:]:
        assert spread == pytest.approx(spreads[0], rel=0.04)


def test_an_arm_not_tried_for_long_is_tried_again():
    state, rng, scores = cb.DriftingCORe(lasts=5).start(2, None, 5000), stream(6), np.empty(2)
    gaps, last = [], 0
    noise = np.random.default_rng(7)
    for index in range(5000):
        state.score(rng, scores)
        arm = int(scores.argmax())
        state.update(arm, float(noise.normal((1.0, 0.0)[arm])), rng)
        if arm == 1:
            gaps.append(index - last)
            last = index
    assert 10 < len(gaps) < 600
    assert max(gaps) < 1000


@pytest.mark.parametrize("policy", [cb.RestartingCORe(), cb.DriftingCORe(lasts=10**8)])
def test_a_plain_change_lets_go_of_everything_before_it(policy):
    noise = np.random.default_rng(8)
    arms = np.array([0, 1, 2] * 100 + [0] * 200)
    rewards = noise.normal(np.where(np.arange(500) < 300, 1.0, 0.0), 0.3)
    state = policy.start(N_ARMS, None, 500)
    rng, restarts = stream(9), []
    for index, (arm, reward) in enumerate(zip(arms, rewards, strict=True)):
        before = state.arms.counts.sum()
        state.update(int(arm), float(reward), rng)
        if state.arms.counts.sum() < before:
            restarts.append(index)
            assert state.arms.counts[1:].tolist() == [0.0, 0.0]
            assert 8 <= state.arms.counts[0] <= 64
            assert state.arms.sums[0] / state.arms.counts[0] == pytest.approx(0.0, abs=0.3)
            assert state.pool.moments[MEAN] == pytest.approx(0.0, abs=0.3)
            assert state.pool.deviation() == pytest.approx(0.3, rel=0.2)  # the jump is none of the noise
    assert len(restarts) == 1
    assert 300 < restarts[0] < 364, restarts


@pytest.mark.heavy
@pytest.mark.parametrize("lasts", [1, 100, 10_000])
def test_a_late_alarm_leaves_no_more_than_memory_can_hold(lasts):
    rng, noise, restarts = stream(10), np.random.default_rng(11), 0
    state = cb.DriftingCORe(lasts=lasts).start(2, None, 100)
    most = (1.0 + 1e-9) / (1.0 - state.arms.discount)
    for index in range(40_000):
        before = state.alarm.moments[0, 0]
        state.update(0, float(noise.normal(0.0 if index < 20_000 else 0.1)), rng)
        if state.alarm.moments[0, 0] < before:
            restarts += 1
        assert state.arms.counts.sum() <= min(index + 1.0, most)
        assert state.pool.moments[WEIGHT] <= min(index + 1.0, most)
    assert restarts


@pytest.mark.parametrize("policy", [cb.WindowCORe(window=100), cb.SWUCB(window=100)], ids=lambda policy: policy.name)
def test_an_outlier_that_left_the_window_leaves_nothing_behind(policy):
    rewards = np.random.default_rng(12).random(160)
    rewards[50] = 1e12
    state = learnt(policy, np.arange(160) % 2, rewards)
    assert state.recent.sums[:2] == pytest.approx([rewards[60::2].sum(), rewards[61::2].sum()], rel=1e-6)


def test_a_long_window_takes_no_room_before_it_is_filled():
    state = cb.WindowCORe(window=10**12).start(2, None, 10)
    assert sum(array.size for array in arrays_of(state)) < 1000


@pytest.mark.heavy
@pytest.mark.parametrize(
    "rewards", [lambda rng: rng.random(20_000) < 0.05, lambda rng: rng.standard_t(4, 20_000) * 1e6]
)
def test_a_world_that_stays_the_same_is_left_in_peace(rewards):
    for seed in range(4):
        state = cb.RestartingCORe().start(1, None, 20_000)
        rng = stream(10)
        for reward in rewards(np.random.default_rng(seed)):
            state.update(0, float(reward), rng)
        assert state.arms.counts[0] == 20_000


def test_its_one_number_is_for_how_long_a_world_stays_the_same():
    assert 0 < fading_for(1, 2) < fading_for(1000, 2) < fading_for(1000, 50) < fading_for(10**9, 50) < 1.0
    # 4 times as long, or as many arms: twice the memory
    memories = [1 / (1 - fading_for(*each)) - 1 for each in ((1000, 5), (4000, 5), (1000, 20))]
    assert memories == pytest.approx([memories[0], 2 * memories[0], 2 * memories[0]])


@pytest.mark.heavy
@pytest.mark.parametrize(
    "world", [cb.ChangedBest(lasts=5000), cb.QuietlyBetter(lasts=5000)], ids=lambda each: each.name
)
def test_it_follows_a_change_that_plain_core_does_not(world):
    policies = {"drifting": cb.DriftingCORe(lasts=5000), "plain": cb.CORe(warm_up=0, extra=4)}
    result = cb.run(cb.Experiment(world, policies, horizon=10_000, runs=20, seed=5), jobs=1)
    lost = {}
    for curve in result.curves():
        assert curve.rounds[49] == 5000
        lost[curve.policy] = (curve.regret[:, -1] - curve.regret[:, 49]).mean()
    assert lost["drifting"] < 0.4 * lost["plain"]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: cb.DriftingCORe(lasts=0), "lasts must be a whole number of at least 1, not 0"),
        (lambda: cb.DriftingCORe(alpha=-1), "alpha must be a number of at least 0, not -1"),
        (lambda: cb.WindowCORe(window=1), "window must be a whole number of at least 2, not 1"),
        (lambda: cb.WindowCORe(sampler="slow"), "sampler must be 'fast' or 'exact' or 'halving', not 'slow'"),
        (lambda: cb.RestartingCORe(delta=1), "delta must be a number above 0 and below 1, not 1"),
        (lambda: cb.DiscountedCORe(discount=2), "discount must be a number above 0 and of at most 1, not 2"),
    ],
)
def test_bad_parameters_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
