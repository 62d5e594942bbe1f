"""Rivals that forget, each against a few lines of NumPy that follow its paper and look at the whole history."""

import math

import numpy as np
import pytest
from scipy import stats

import corebandit as cb
from corebandit.randomness.stream import stream

N_ARMS = 3


def history(n_rounds: int, seed: int = 1, is_binary: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return arms, of which the last is seldom chosen, and their rewards."""
    rng = np.random.default_rng(seed)
    arms = rng.choice(N_ARMS, size=n_rounds, p=[0.6, 0.38, 0.02])
    arms[:N_ARMS] = np.arange(N_ARMS)
    rewards = rng.random(n_rounds)
    return arms, np.round(rewards) if is_binary else rewards


def learnt(policy: cb.Policy, arms: np.ndarray, rewards: np.ndarray, horizon: int | None = 1000):
    """Return the policy's state after a history."""
    state, rng = policy.start(N_ARMS, horizon, len(arms)), stream(2, "rivals")
    for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
        state.update(arm, reward, rng)
    return state


def scores_of(state, n_draws: int = 1) -> np.ndarray:
    """Score again and again, `(n_draws, n_arms)`."""
    rng, scores = stream(3, "rivals"), np.empty((n_draws, N_ARMS))
    for row in scores:
        state.score(rng, row)
    return scores


def discounted(arms: np.ndarray, rewards: np.ndarray, discount: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the discounted counts and sums, as they are written in papers."""
    weights = discount ** np.arange(len(arms) - 1, -1, -1.0)
    return tuple(np.array([(w * (arms == arm)).sum() for arm in range(N_ARMS)]) for w in (weights, weights * rewards))


def in_window(arms: np.ndarray, rewards: np.ndarray, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts and sums of the last rounds."""
    return discounted(arms[-window:], rewards[-window:], 1.0)


@pytest.mark.parametrize("n_rounds", [3, 50, 400])
def test_ducb_is_the_rule_of_garivier_and_moulines(n_rounds):
    arms, rewards = history(n_rounds)
    counts, sums = discounted(arms, rewards, 0.97)
    wanted = sums / counts + 2.0 * np.sqrt(0.6 * np.log(counts.sum()) / counts)
    assert scores_of(learnt(cb.DUCB(discount=0.97), arms, rewards))[0] == pytest.approx(wanted)


@pytest.mark.parametrize("n_rounds", [3, 50, 400])
def test_swucb_is_the_rule_of_garivier_and_moulines(n_rounds):
    arms, rewards = history(n_rounds)
    counts, sums = in_window(arms, rewards, 60)
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = sums / counts + np.sqrt(0.6 * math.log(min(n_rounds + 1, 60)) / counts)
    wanted = np.where(counts > 0, bounds, np.inf)
    assert scores_of(learnt(cb.SWUCB(window=60), arms, rewards))[0] == pytest.approx(wanted)


def test_an_arm_that_left_the_window_is_tried_at_once():
    arms = np.array([0, 1, 2, *[0] * 10])
    for policy in (cb.SWUCB(window=10), cb.WindowCORe(window=10)):
        assert scores_of(learnt(policy, arms, np.linspace(0, 1, 13)))[0, 1:].tolist() == [np.inf, np.inf]


@pytest.mark.parametrize(
    ("policy", "remembered"),
    [
        (cb.DTS(discount=0.95), lambda *past: discounted(*past, 0.95)),
        (cb.SWTS(window=40), lambda *past: in_window(*past, 40)),
    ],
    ids=["DTS", "SWTS"],
)
def test_thompson_sampling_draws_from_the_posterior_of_what_is_remembered(policy, remembered):
    arms, rewards = history(200, is_binary=True)
    counts, successes = remembered(arms, rewards)
    draws = scores_of(learnt(policy, arms, rewards), 3000)
    for arm in range(N_ARMS):
        law = stats.beta(1 + successes[arm], 1 + counts[arm] - successes[arm])
        assert stats.kstest(draws[:, arm], law.cdf).pvalue > 1e-3


def test_rewards_within_the_unit_interval_count_as_chances():
    arms = np.zeros(4000, int)
    for policy in (cb.DTS(discount=1.0), cb.SWTS(window=4000)):
        state = learnt(policy, arms, np.full(4000, 0.3))
        sums = state.arms.sums if hasattr(state, "arms") else state.recent.sums
        assert sums[0] == pytest.approx(1200, abs=120)


def plain_cusum(arms, rewards, samples, epsilon, threshold):
    """Return counts and sums by the letter of Liu, Lee and Shroff: a list of rewards for each arm, looked at anew."""
    lists, alarms = [[] for _ in range(N_ARMS)], 0
    for arm, reward in zip(arms, rewards, strict=True):
        lists[arm].append(reward)
        up = down = 0.0
        for y in lists[arm][samples:]:
            gap = y - np.mean(lists[arm][:samples])
            up, down = max(0.0, up + gap - epsilon), max(0.0, down - gap - epsilon)
        if max(up, down) >= threshold:
            lists[arm], alarms = [], alarms + 1
    return np.array([len(each) for each in lists]), np.array([sum(each) for each in lists]), alarms


def test_cusum_ucb_forgets_an_arm_when_its_sums_pass_the_threshold():
    arms, rewards = history(300)
    rewards[150:] = np.where(arms[150:] == 0, rewards[150:] ** 4, rewards[150:])
    counts, sums, alarms = plain_cusum(arms, rewards, 10, 0.05, 2.5)
    assert alarms > 0
    policy = cb.CUSUMUCB(samples=10, epsilon=0.05, threshold=2.5, alpha=0.0)
    state = learnt(policy, arms, rewards)
    assert state.counts.tolist() == counts.tolist()
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = sums / counts + np.sqrt(np.log(counts.sum()) / counts)
    assert scores_of(state)[0] == pytest.approx(np.where(counts > 0, bounds, np.inf))


def test_cusum_ucb_tries_any_arm_as_often_as_its_paper_says():
    policy = cb.CUSUMUCB(shifts=4)
    state = policy.start(N_ARMS, 4000, 10)
    assert state.threshold == pytest.approx(math.log(1000))
    assert state.alpha == pytest.approx(math.sqrt(math.log(1000) / 1000))
    state = learnt(cb.CUSUMUCB(alpha=0.3), *history(50))
    explored = (scores_of(state, 4000) == 0).all(axis=1).mean()
    assert explored == pytest.approx(0.3, abs=0.03)


def test_exp3s_is_the_rule_of_auer_and_others():
    arms, rewards = history(200)
    gamma, alpha, weights = 0.1, 0.01, np.ones(N_ARMS)
    for arm, reward in zip(arms, rewards, strict=True):
        chances = (1 - gamma) * weights / weights.sum() + gamma / N_ARMS
        estimates = np.where(np.arange(N_ARMS) == arm, reward / chances, 0.0)
        weights = weights * np.exp(gamma * estimates / N_ARMS) + math.e * alpha / N_ARMS * weights.sum()
    chances = (1 - gamma) * weights / weights.sum() + gamma / N_ARMS
    state = learnt(cb.Exp3S(gamma=gamma, alpha=alpha), arms, rewards)
    assert [state.chance(arm) for arm in range(N_ARMS)] == pytest.approx(chances)
    chosen = np.bincount(scores_of(state, 6000).argmax(axis=1), minlength=N_ARMS)
    assert stats.chisquare(chosen, 6000 * chances).pvalue > 1e-3


@pytest.mark.parametrize("shifts", [0, 3])
def test_exp3s_takes_its_papers_parameters(shifts):
    state = cb.Exp3S(shifts=shifts).start(5, 10_000, 1)
    assert state.alpha == 1e-4
    hardness = 1 + shifts  # what the paper calls S is the number of stretches, not of changes
    assert state.gamma == pytest.approx(math.sqrt(5 * (hardness * math.log(50_000) + math.e) / ((math.e - 1) * 10_000)))


@pytest.mark.parametrize("policy", [cb.SWUCB(window=20), cb.WindowCORe(window=20), cb.SWTS(window=20)])
def test_memory_is_that_of_the_window_and_small_agents_need_less(policy):
    sizes = [sum(array.nbytes for array in cb_arrays(policy.start(2, None, capacity))) for capacity in (4, 20, 10**9)]
    assert sizes[0] <= sizes[1] == sizes[2]


def cb_arrays(state):
    """Return the arrays of a state."""
    from corebandit.contracts.state import arrays_of

    return list(arrays_of(state))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: cb.DUCB(discount=0), "discount must be a number above 0 and of at most 1, not 0"),
        (lambda: cb.DTS(discount=1.1), "discount must be a number above 0 and of at most 1, not 1.1"),
        (lambda: cb.SWUCB(window=1), "window must be a whole number of at least 2, not 1"),
        (lambda: cb.SWTS(window=2.5), "window must be a whole number of at least 2, not 2.5"),
        (lambda: cb.CUSUMUCB(threshold=0), "threshold must be a number above 0, not 0"),
        (lambda: cb.Exp3S(gamma=2), "gamma must be a number above 0 and of at most 1, not 2"),
    ],
)
def test_bad_parameters_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
