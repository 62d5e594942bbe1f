"""LinUCB against the formulas, written with NumPy."""

import math

import numpy as np
import pytest

from corebandit.contracts.recipe import REAL_LINE
from corebandit.parts.ridge import squared_widths
from corebandit.policies import LinUCB
from corebandit.randomness.stream import stream

D, N_ARMS, N_SEEN, HORIZON = 3, 5, 12, 400
NOISE = np.random.default_rng(13)
FEATURES = NOISE.normal(size=(N_ARMS, D))
ROWS, REWARDS = 1.5 * NOISE.normal(size=(N_SEEN, D)), NOISE.normal(size=N_SEEN)
LONGEST = max(np.linalg.norm(ROWS, axis=1).max(), np.linalg.norm(FEATURES, axis=1).max())


def scores_after(policy: LinUCB, features=FEATURES, horizon: int | None = HORIZON, n_seen: int = N_SEEN) -> np.ndarray:
    """Return the scores of these rows after the first `n_seen` observations."""
    state, rng, scores = policy.start(N_ARMS, D, horizon, n_seen), stream(14, "linucb"), np.empty(len(features))
    for x, reward in zip(ROWS[:n_seen], REWARDS[:n_seen], strict=True):
        state.update(0, x, reward, rng)
    state.score(features, rng, scores)
    return scores


def index(beta: float, lam: float, features=FEATURES) -> np.ndarray:
    """Return x' theta^ + beta ||x||_{G^-1}, textbook form."""
    gram = lam * np.eye(D) + ROWS.T @ ROWS
    widths = [math.sqrt(x @ np.linalg.solve(gram, x)) for x in features]
    return features @ np.linalg.solve(gram, ROWS.T @ REWARDS) + beta * np.array(widths)


@pytest.mark.parametrize(
    ("parameters", "horizon", "delta", "theta_norm", "row_norm"),
    [
        ({}, HORIZON, 1 / HORIZON, math.sqrt(D), LONGEST),
        ({}, None, 1 / (N_SEEN + 1), math.sqrt(D), LONGEST),
        ({"delta": 0.05, "theta_norm": 0.3, "row_norm": 7.0}, HORIZON, 0.05, 0.3, 7.0),
        ({"delta": 0.05, "theta_norm": 0.0, "row_norm": 0.1}, None, 0.05, 0.0, 0.1),
    ],
)
@pytest.mark.parametrize(("sigma", "lam"), [(0.5, 1.0), (2.0, 0.3)])
def test_trace_radius_is_the_formula(parameters, horizon, delta, theta_norm, row_norm, sigma, lam):
    t = N_SEEN + 1
    beta = sigma * math.sqrt(D * math.log((1 + t * row_norm**2 / lam) / delta)) + math.sqrt(lam) * theta_norm
    scores = scores_after(LinUCB(sigma=sigma, lam=lam, **parameters), horizon=horizon)
    assert scores == pytest.approx(index(beta, lam), rel=1e-9)


@pytest.mark.parametrize(
    ("parameters", "horizon", "delta", "theta_norm"),
    [
        ({}, HORIZON, 1 / HORIZON, math.sqrt(D)),
        ({}, None, 1 / (N_SEEN + 1), math.sqrt(D)),
        ({"delta": 0.05, "theta_norm": 0.3}, HORIZON, 0.05, 0.3),
    ],
)
@pytest.mark.parametrize(("sigma", "lam"), [(0.5, 1.0), (2.0, 0.3)])
def test_determinant_radius_is_the_formula(parameters, horizon, delta, theta_norm, sigma, lam):
    determinant = np.linalg.det(lam * np.eye(D) + ROWS.T @ ROWS)
    spread = 2 * math.log(determinant**0.5 * lam ** (-D / 2) / delta)
    beta = sigma * math.sqrt(spread) + math.sqrt(lam) * theta_norm
    scores = scores_after(LinUCB(sigma=sigma, lam=lam, radius="determinant", **parameters), horizon=horizon)
    assert scores == pytest.approx(index(beta, lam), rel=1e-9)


@pytest.mark.parametrize(("sigma", "lam"), [(0.5, 1.0), (0.2, 1.0), (2.0, 0.3)])
def test_authors_scaling_is_a_bayesian_regression_with_the_radius_of_the_horizon(sigma, lam):
    gram = lam * np.eye(D) + ROWS.T @ ROWS / sigma**2
    spread = D * math.log((1 + HORIZON * LONGEST**2 / lam) * HORIZON)
    radius = math.sqrt(lam) * math.sqrt(D) + sigma * math.sqrt(spread)
    widths = [math.sqrt(x @ np.linalg.solve(gram, x)) for x in FEATURES]
    expected = FEATURES @ np.linalg.solve(gram, ROWS.T @ REWARDS / sigma**2) + radius * np.array(widths)
    assert scores_after(LinUCB(sigma=sigma, lam=lam, scaling="authors")) == pytest.approx(expected, rel=1e-9)


def test_authors_radius_on_the_problems_of_the_paper_is_ten():
    features = np.tile(math.sqrt(0.2), (50, 10))  # squared length 2
    state, rng = LinUCB(scaling="authors").start(50, 10, 10_000, 100), stream(15, "radius")
    expected = 3.162 + 0.5 * math.sqrt(10 * math.log(2.0001e8))
    for _ in range(3):  # constant in time
        assert state.radius(features) == pytest.approx(expected, abs=1e-3)
        assert state.radius(features) == pytest.approx(10.07, abs=0.01)
        state.update(0, features[0], 1.0, rng)


def test_a_long_row_is_remembered_once_chosen_and_forgotten_if_only_offered():
    state, rng = LinUCB(delta=0.1, theta_norm=0.0, sigma=1.0).start(2, 2, None, 10), stream(16, "longest")
    short, long = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 5.0]])

    def squared_longest(features: np.ndarray) -> float:
        t = state.seen[0] + 1
        return (math.exp(state.radius(features) ** 2 / 2) * 0.1 - 1) / t

    assert squared_longest(short) == pytest.approx(1.0)
    assert squared_longest(long) == pytest.approx(25.0)
    assert squared_longest(short) == pytest.approx(1.0)
    state.update(1, long[1], 0.0, rng)
    assert squared_longest(short) == pytest.approx(25.0)


@pytest.mark.parametrize("radius", ["trace", "determinant"])
def test_before_anything_is_seen_the_longest_row_wins(radius):
    for lam in (0.1, 0.3, 0.7, 1.0, 3.0):  # the square root of some is not exact
        scores = scores_after(LinUCB(lam=lam, radius=radius), horizon=None, n_seen=0)
        assert scores == pytest.approx(scores[0] / np.linalg.norm(FEATURES[0]) * np.linalg.norm(FEATURES, axis=1))


def test_fewer_rows_than_arms_may_be_offered():
    assert scores_after(LinUCB(row_norm=9.0), FEATURES[1:3]) == pytest.approx(scores_after(LinUCB(row_norm=9.0))[1:3])


@pytest.mark.parametrize(("n_rows", "d"), [(1, 1), (1, 6), (7, 3), (50, 10)])
def test_squared_widths_are_quadratic_forms_of_the_inverse(n_rows, d):
    rows, features = NOISE.normal(size=(3 * d, d)) * np.logspace(0, -3, d), NOISE.normal(size=(n_rows, d))
    factor, widths = np.linalg.qr(rows, mode="r"), np.empty(n_rows)
    squared_widths(np.ascontiguousarray(factor), features, np.empty((d, n_rows)), widths)
    assert widths == pytest.approx(np.square(features @ np.linalg.pinv(rows)).sum(axis=1), rel=1e-8)


def test_any_real_rewards_are_welcome():
    assert LinUCB().reward_range == REAL_LINE


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"sigma": 0.0}, "sigma must be a number above 0, not 0.0"),
        ({"lam": 0.0}, "lam must be a number above 0, not 0.0"),
        ({"delta": 1.0}, "delta must be a number above 0 and below 1, not 1.0"),
        ({"theta_norm": -1.0}, "theta_norm must be a number of at least 0, not -1.0"),
        ({"row_norm": 0.0}, "row_norm must be a number above 0, not 0.0"),
        ({"radius": "wide"}, "radius must be 'trace' or 'determinant', not 'wide'"),
        ({"scaling": "ours"}, "scaling must be 'textbook' or 'authors', not 'ours'"),
        ({"radius": "determinant", "scaling": "authors"}, "scaling='authors' has radius='trace'"),
        ({"radius": "determinant", "row_norm": 1.0}, "row_norm is for radius='trace'"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinUCB(**parameters)


def test_authors_scaling_without_a_horizon_says_what_to_do():
    with pytest.raises(ValueError, match="give one, or use scaling='textbook'"):
        LinUCB(scaling="authors").start(2, 2, None, 10)
