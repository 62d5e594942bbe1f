"""GLR-klUCB against lists of rewards that are looked at anew after each of them."""

import math

import numpy as np
import pytest
from scipy import optimize

import corebandit as cb
from corebandit.parts.choose import best_arm
from corebandit.randomness.stream import stream

N_ARMS = 3


def plain_kl(p, q, sigma):
    """Return the Gaussian divergence, or the Bernoulli one if there is no sigma."""
    if sigma:
        return (p - q) ** 2 / (2 * sigma**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nansum([p * np.log(p / q), (1 - p) * np.log((1 - p) / (1 - q))])


def history(is_binary, seed=1, n_rounds=560):
    """Return arms, and rewards whose means change after 400: of arm 0 much, of arm 1 a little."""
    rng = np.random.default_rng(seed)
    arms = rng.choice(N_ARMS, n_rounds, p=[0.5, 0.4, 0.1])
    means = np.where(np.arange(n_rounds) < 400, np.array([0.2, 0.5, 0.6])[arms], np.array([0.8, 0.6, 0.6])[arms])
    return arms.tolist(), (rng.random(n_rounds) < means if is_binary else rng.normal(means, 0.5)).astype(float).tolist()


def remembered(arms, rewards, delta, every, step, is_local, sigma):
    """Return the rewards of each arm that are not forgotten, and when each arm was last forgotten."""
    lists, restarts = [[] for _ in range(N_ARMS)], [0] * N_ARMS
    for seen, (arm, reward) in enumerate(zip(arms, rewards, strict=True), start=1):
        lists[arm].append(reward)
        n, mean = len(lists[arm]), np.mean(lists[arm])
        ratios = [0.0]
        for s in range(step, n, step) if n % every == 0 else ():
            first, rest = np.mean(lists[arm][:s]), np.mean(lists[arm][s:])
            ratios.append(s * plain_kl(first, mean, sigma) + (n - s) * plain_kl(rest, mean, sigma))
        if max(ratios) >= math.log(3 * n**1.5 / delta):
            for other in [arm] if is_local else range(N_ARMS):
                lists[other], restarts[other] = [], seen
    return lists, restarts


def learnt(policy, arms, rewards, horizon=1000):
    """Return the policy's state after a history."""
    state = policy.start(N_ARMS, horizon, len(arms))
    for arm, reward in zip(arms, rewards, strict=True):
        state.update(arm, reward, stream(1))
    return state


def bound(mean, divergence, sigma):
    """Return the upper confidence bound."""
    if sigma:
        return mean + sigma * math.sqrt(2 * divergence)
    return optimize.brentq(lambda q: plain_kl(mean, q, None) - divergence, mean, 1 - 1e-12, xtol=1e-13)


@pytest.mark.parametrize(("every", "step"), [(1, 1), (10, 10), (3, 7)])
@pytest.mark.parametrize("restarts", ["global", "local"])
@pytest.mark.parametrize("family", ["bernoulli", "gaussian"])
def test_it_forgets_and_scores_as_the_plain_form(family, restarts, every, step):
    arms, rewards = history(family == "bernoulli")
    sigma = 0.5 if family == "gaussian" else None
    lists, when = remembered(arms, rewards, 0.05, every, step, restarts == "local", sigma)
    assert max(when) > 400
    assert (min(when) > 400) == (restarts == "global")
    state = learnt(cb.GLRKLUCB(restarts, 0.05, 0.0, every=every, step=step, c=1.0, family=family), arms, rewards)
    assert state.restarts.tolist() == when
    scores, wanted = np.empty(N_ARMS), []
    state.score(stream(2), scores)
    for rewards_left, restart in zip(lists, when, strict=True):
        log_t = math.log(len(arms) + 1 - restart)
        exploration = log_t + math.log(log_t)
        wanted.append(bound(np.mean(rewards_left), exploration / len(rewards_left), sigma) if rewards_left else np.inf)
    assert scores == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("restarts", ["global", "local"])
def test_nothing_is_forgotten_where_nothing_changes(restarts):
    rng, n_alarms = np.random.default_rng(3), 0
    for _ in range(40):
        arms = rng.integers(N_ARMS, size=400).tolist()
        rewards = (rng.random(400) < np.array([0.2, 0.5, 0.9])[arms]).astype(float).tolist()
        n_alarms += learnt(cb.GLRKLUCB(restarts, delta=0.05, every=3, step=3), arms, rewards).restarts.max() > 0
    assert n_alarms <= 5  # the level is 5 % for each of the three arms


def test_each_arm_is_tried_once_in_every_period():
    policy, rng, noise = cb.GLRKLUCB(alpha=0.25, delta=1e-9), stream(4), np.random.default_rng(5)
    state, scores, chosen = policy.start(N_ARMS, None, 240), np.empty(N_ARMS), []
    assert state.period == 12
    for _ in range(240):
        state.score(rng, scores)
        chosen.append(int(best_arm(scores, np.arange(N_ARMS), rng)))
        state.update(chosen[-1], float(noise.random() < [0.05, 0.95, 0.05][chosen[-1]]), rng)
    periods = np.array(chosen).reshape(20, 12)
    assert (np.sort(periods[:, :N_ARMS], axis=1) == np.arange(N_ARMS)).all()
    assert (periods[10:, N_ARMS:] == 1).mean() > 0.8


@pytest.mark.parametrize(("restarts", "n_changes"), [("global", 4), ("local", 4 * N_ARMS)])
def test_it_takes_its_authors_parameters(restarts, n_changes):
    state = cb.GLRKLUCB(restarts, shifts=4).start(N_ARMS, 5000, 1)
    assert state.threshold == pytest.approx(math.log(3 * math.sqrt(n_changes * 5000)))
    alpha = 0.1 * math.sqrt(n_changes * math.log(5000) / 5000)
    assert state.period == math.ceil(N_ARMS / alpha)
    assert cb.GLRKLUCB(alpha=0).start(N_ARMS, 5000, 1).period == math.inf


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"restarts": "none"}, "restarts must be 'global' or 'local', not 'none'"),
        ({"delta": 1}, "delta must be a number above 0 and below 1, not 1"),
        ({"alpha": 2}, "alpha must be a number of at least 0 and of at most 1, not 2"),
        ({"step": 0}, "step must be a whole number of at least 1, not 0"),
    ],
)
def test_bad_parameters_are_named(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        cb.GLRKLUCB(**parameters)
