"""Linear policies that forget, against explicit matrices made from the whole history."""

import math

import numpy as np
import pytest
from scipy import stats

import corebandit as cb
from corebandit.parts.fading_ridge import new_recent_ridge, new_widened
from corebandit.parts.ridge import new_ridge
from corebandit.randomness.stream import stream

D, N_ARMS = 3, 4


def history(n_rounds: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return rows `(n_rounds, D)` and their rewards."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rounds, D))
    return rows, rows @ [0.5, -0.3, 0.8] + rng.normal(size=n_rounds)


def learnt(policy: cb.FeaturePolicy, rows: np.ndarray, rewards: np.ndarray, horizon: int | None = 500):
    """Return the policy's state after a history."""
    state, rng = policy.start(N_ARMS, D, horizon, len(rows)), stream(2, "linear")
    for index, (row, reward) in enumerate(zip(rows, rewards, strict=True)):
        state.update(index % N_ARMS, row, float(reward), rng)
    return state


def faded(rows: np.ndarray, rewards: np.ndarray, discount: float, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Return G and its right-hand side."""
    weights = discount ** np.arange(len(rows) - 1, -1, -1.0)
    return lam * np.eye(D) + (rows.T * weights) @ rows, (rows.T * weights) @ rewards


@pytest.mark.parametrize("n_rounds", [0, 2, 30, 300])
@pytest.mark.parametrize("reading", ["paper", "authors"])
def test_dlinucb_is_the_rule_of_russac_and_others(n_rounds, reading):
    rows, rewards = history(n_rounds)
    discount, lam, sigma, delta, s, longest = 0.96, 0.7, 0.4, 0.05, 1.5, 2.5
    v, b = faded(rows, rewards, discount, lam)
    squared, _ = faded(rows, rewards, discount**2, lam)
    if reading == "authors" and n_rounds > 0:  # as their code has it, after each round
        squared = discount**2 * v + np.outer(rows[-1], rows[-1]) + (1 - discount**2) * lam * np.eye(D)
    offered = np.random.default_rng(5).normal(size=(N_ARMS, D))
    growth = longest**2 * (1 - discount ** (2 * n_rounds)) / (lam * D * (1 - discount**2))
    beta = math.sqrt(lam) * s + sigma * math.sqrt(2 * math.log(1 / delta) + D * math.log(1 + growth))
    inverse = np.linalg.inv(v)
    sandwich = inverse @ squared @ inverse
    wanted = offered @ inverse @ b + beta * np.sqrt(np.einsum("ij,jk,ik->i", offered, sandwich, offered))
    policy = cb.DLinUCB(discount, sigma, lam, delta, theta_norm=s, row_norm=longest, reading=reading)
    scores = np.empty(N_ARMS)
    learnt(policy, rows, rewards).score(offered, stream(1), scores)
    assert scores == pytest.approx(wanted, rel=1e-9)


def scores_of(state, features: np.ndarray, n_draws: int) -> np.ndarray:
    """Score again and again, `(n_draws, rows)`."""
    rng, scores = stream(3, "linear"), np.empty((n_draws, len(features)))
    for row in scores:
        state.score(features, rng, row)
    return scores


@pytest.mark.parametrize("optimistic", [True, False])
def test_drand_linucb_moves_all_rows_a_normal_multiple_of_dlinucbs_width(optimistic):
    rows, rewards = history(100)
    offered = np.random.default_rng(5).normal(size=(N_ARMS, D))
    settings = {"discount": 0.96, "lam": 0.7, "delta": 0.05}
    bounds = scores_of(learnt(cb.DLinUCB(**settings), rows, rewards), offered, 1)[0]
    estimates = offered @ np.linalg.solve(*faded(rows, rewards, 0.96, 0.7))
    policy = cb.DRandLinUCB(**settings, spread=0.3, optimistic=optimistic)
    multiples = (scores_of(learnt(policy, rows, rewards), offered, 4000) - estimates) / (bounds - estimates)
    assert multiples == pytest.approx(np.tile(multiples[:, :1], N_ARMS), abs=1e-9)
    law = stats.halfnorm(scale=0.3) if optimistic else stats.norm(scale=0.3)
    assert stats.kstest(multiples[:, 0], law.cdf).pvalue > 1e-3


def test_dlints_draws_around_the_faded_estimate():
    rows, rewards = history(100)
    v, b = faded(rows, rewards, 0.9, 0.7)
    squared, _ = faded(rows, rewards, 0.81, 0.7)
    inverse = np.linalg.inv(v)
    covariance = 0.09 * inverse @ squared @ inverse
    draws = scores_of(learnt(cb.DLinTS(discount=0.9, sigma=0.3, lam=0.7), rows, rewards), np.eye(D), 20_000)
    whitened = np.linalg.solve(np.linalg.cholesky(covariance), (draws - inverse @ b).T)
    assert np.abs(whitened.mean(axis=1)).max() < 4 / math.sqrt(20_000)
    assert np.cov(whitened) == pytest.approx(np.eye(D), abs=0.05)
    for each in whitened:
        assert stats.kstest(each, stats.norm.cdf).pvalue > 1e-3


@pytest.mark.parametrize("n_rounds", [5, 40, 41, 333])
def test_a_window_of_rows_is_the_regression_of_these_rows(n_rounds):
    rows, rewards = history(n_rounds)
    ridge = new_recent_ridge(D, 0.01, 40, n_rounds)
    for row, reward in zip(rows, rewards, strict=True):
        ridge.push(row, float(reward))
    gram, b = faded(rows[-40:], rewards[-40:], 1.0, 0.01)
    assert ridge.factor.T @ ridge.factor == pytest.approx(gram, rel=1e-8, abs=1e-8)
    assert ridge.theta == pytest.approx(np.linalg.solve(gram, b), rel=1e-7)
    assert len(ridge.rewards) == min(40, n_rounds)


def test_a_huge_row_leaves_no_trace_once_it_left_the_window():
    rows, rewards = history(120)
    rows[10] *= 1e7
    ridge = new_recent_ridge(D, 0.01, 40, 120)
    for row, reward in zip(rows, rewards, strict=True):
        ridge.push(row, float(reward))
    gram, b = faded(rows[-40:], rewards[-40:], 1.0, 0.01)
    assert ridge.theta == pytest.approx(np.linalg.solve(gram, b), rel=1e-5)


def spanning(rows: np.ndarray) -> np.ndarray:
    """Return the sum of x x' over the rows that point out of all before them: of random ones the first D."""
    return rows[:D].T @ rows[:D]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("policy", "remembered"),
    [
        (cb.DiscountedLinCORe(discount=0.97, alpha=0.7, extra=3, lam=0.1), (0.97, 0)),
        (cb.RestartingLinCORe(alpha=0.7, extra=3, lam=0.1), (1.0, 0)),
        (cb.WindowLinCORe(window=50, alpha=0.7, extra=3, lam=0.1), (1.0, -50)),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_noise_has_the_covariance_of_what_is_remembered(policy, remembered):
    discount, first = remembered
    rows, rewards = history(200)
    weights = discount ** np.arange(199, -1, -1.0)[first:]
    gram, b = faded(rows[first:], rewards[first:], discount, 0.1)
    kept = rewards[first:]
    variance = np.average((kept - np.average(kept, weights=weights)) ** 2, weights=weights)
    inverse = np.linalg.inv(gram)
    covariance = 0.49 * variance * inverse @ (gram + 3 * spanning(rows)) @ inverse
    state, rng, draws = learnt(policy, rows, rewards), stream(4), np.empty((20_000, D))
    for draw in draws:
        state.score(np.eye(D), rng, draw)
    scale = np.sqrt(np.diag(covariance))
    assert np.abs(draws.mean(axis=0) - inverse @ b) / scale == pytest.approx(0, abs=0.035)
    assert np.cov(draws.T) / np.outer(scale, scale) == pytest.approx(covariance / np.outer(scale, scale), abs=0.05)


def test_errors_that_change_start_everything_anew():
    rng = np.random.default_rng(6)
    rows = np.tile(np.eye(D), (200, 1))
    rewards = rows @ [0.2, 0.5, 0.8] + rng.normal(0, 0.1, 600)
    rewards[400:] -= 0.5
    policy = cb.DriftingLinCORe(lasts=10**8)
    state, stream_, restarts = policy.start(N_ARMS, D, None, 600), stream(7), []
    for index, (row, reward) in enumerate(zip(rows, rewards, strict=True)):
        state.update(index % D, row, float(reward), stream_)
        if state.since[0] == 0:
            restarts.append(index)
            fresh = new_ridge(D, policy.lam)
            assert state.model.ridge.factor.tolist() == fresh.factor.tolist()
            assert state.noise.span.n_spanned[0] == 0
            assert state.pool.moments.tolist() == [0.0, 0.0, 0.0]
    assert len(restarts) == 1
    assert 400 < restarts[0] < 440


def test_on_one_hot_features_memory_that_fades_is_that_of_arms():
    rng = np.random.default_rng(8)
    arms, rewards = rng.integers(D, size=150), rng.normal(size=150)
    linear = cb.DiscountedLinCORe(discount=0.98, lam=1e-9).start(D, D, None, 150)
    plain = cb.DiscountedCORe(discount=0.98).start(D, None, 150)
    for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
        linear.update(arm, np.eye(D)[arm], reward, stream(0))
        plain.update(arm, reward, stream(0))
    assert linear.model.ridge.theta == pytest.approx(plain.arms.sums / plain.arms.counts)
    draws, rng = np.empty((2, 20_000, D)), stream(9)
    for one, other in zip(*draws, strict=True):
        linear.score(np.eye(D), rng, one)
        plain.score(rng, other)
    assert draws[0].std(axis=0) == pytest.approx(draws[1].std(axis=0), rel=0.04)


def test_extra_noise_is_of_rows_that_point_out_of_those_before():
    widened = new_widened(D, 4.0)
    for row in ([2.0, 0, 0], [1.0, 0, 0], [0, 3.0, 0]):
        widened.add(np.array(row))
    assert widened.steady.factor.T @ widened.steady.factor == pytest.approx(np.diag([16.0, 36.0, 0.0]))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: cb.DriftingLinCORe(lasts=0), "lasts must be a whole number of at least 1, not 0"),
        (lambda: cb.WindowLinCORe(window=1), "window must be a whole number of at least 2, not 1"),
        (lambda: cb.RestartingLinCORe(delta=0), "delta must be a number above 0 and below 1, not 0"),
        (lambda: cb.DiscountedLinCORe(discount=0), "discount must be a number above 0 and of at most 1, not 0"),
        (lambda: cb.DLinUCB(lam=0), "lam must be a number above 0, not 0"),
        (lambda: cb.DLinTS(sigma=0), "sigma must be a number above 0, not 0"),
        (lambda: cb.DRandLinUCB(spread=0), "spread must be a number above 0, not 0"),
        (lambda: cb.DRandLinUCB(discount=2), "discount must be a number above 0 and of at most 1, not 2"),
        (lambda: cb.DLinUCB(delta=1), "delta must be a number above 0 and below 1, not 1"),
    ],
)
def test_bad_parameters_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.thorough
@pytest.mark.parametrize(("window", "size", "chance"), [(200, 1.0, 0.005), (20, 1000.0, 0.05)])
def test_a_rare_feature_that_left_the_window_leaves_nothing_behind(window, size, chance):
    agent, noise = cb.Agent(cb.WindowLinCORe(window=window), ["a", "b"], seed=1), np.random.default_rng(13)
    for index in range(1500):
        agent.observe("ab"[index % 2], float(noise.normal()), x=[1.0, size * (noise.random() < chance)])
        if index % 25 == 0:
            cb.Agent.from_dict(agent.to_dict())
