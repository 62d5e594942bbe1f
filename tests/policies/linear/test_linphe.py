"""LinPHE: how many pseudo-rewards, of which law, and where it starts."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL
from corebandit.parts.choose import best_arm
from corebandit.policies import PHE, LinPHE
from corebandit.randomness.stream import stream
from often import often

N_ARMS, D, N_SEEN, N_DRAWS = 4, 3, 21, 20_000
NOISE = np.random.default_rng(9)
FEATURES = NOISE.normal(size=(N_ARMS, D))
ARMS = np.append(np.arange(N_ARMS), NOISE.integers(N_ARMS, size=N_SEEN - N_ARMS))
REWARDS = NOISE.random(N_SEEN)
ROWS = {"fixed": FEATURES[ARMS], "changing": NOISE.normal(size=(N_SEEN, D))}
both_kinds_of_features = pytest.mark.parametrize("kind", ROWS)


def learnt(policy: LinPHE, rows: np.ndarray):
    """Return a state that has seen the arms chosen with these rows."""
    state, rng = policy.start(N_ARMS, D, None, N_SEEN), stream(6, "learnt")
    for arm, x, reward in zip(ARMS, rows, REWARDS, strict=True):
        state.update(arm, x, reward, rng)
    return state


def n_pseudo_rewards(a: float) -> np.ndarray:
    """Return how many pseudo-rewards each observation brings."""
    nth = np.array([np.sum(ARMS[: index + 1] == arm) for index, arm in enumerate(ARMS)])
    return np.array([math.ceil(round(a * n, 9)) - math.ceil(round(a * (n - 1), 9)) for n in nth])


@pytest.mark.heavy
@both_kinds_of_features
@pytest.mark.parametrize("a", often([1.1], [0.3, 0.5, 1.1, 2.0]))
@pytest.mark.parametrize(("pseudo", "sigma", "variance"), [("bernoulli", 0.7, 0.25), ("gaussian", 0.7, 0.49)])
def test_theta_has_the_mean_and_covariance_that_pseudo_rewards_give(kind, a, pseudo, sigma, variance):
    rows, m, lam = ROWS[kind], n_pseudo_rewards(a), 0.2
    gram = lam * np.eye(D) + (rows.T * (1 + m)) @ rows
    mean = np.linalg.solve(gram, rows.T @ (REWARDS + 0.5 * m))
    covariance = variance * np.linalg.solve(gram, np.linalg.solve(gram, (rows.T * m) @ rows).T)

    state, rng = learnt(LinPHE(a=a, pseudo=pseudo, sigma=sigma, lam=lam), rows), stream(7, "noise")
    draws = np.empty((N_DRAWS, D))
    for draw in draws:
        state.score(np.eye(D), rng, draw)
    whitened = np.linalg.solve(np.linalg.cholesky(covariance), (draws - mean).T)
    assert np.abs(whitened.mean(axis=1)).max() < 4.5 / N_DRAWS**0.5
    assert np.abs(np.cov(whitened) - np.eye(D)).max() < 4.5 * (2 / N_DRAWS) ** 0.5


@pytest.mark.heavy
def test_gaussian_pseudo_rewards_make_theta_normal():
    state, rng, draws = learnt(LinPHE(pseudo="gaussian"), ROWS["fixed"]), stream(8, "normal"), np.empty((N_DRAWS, D))
    for draw in draws:
        state.score(np.eye(D), rng, draw)
    for entry in draws.T:
        assert stats.kstest((entry - entry.mean()) / entry.std(), stats.norm.cdf).pvalue > 1e-3


@pytest.mark.parametrize("a", [0.3, 0.5, 1.1, 3.0])
def test_an_arm_with_n_rewards_has_ceil_of_a_n_pseudo_rewards(a):
    state, rng = LinPHE(a=a, lam=0.5).start(2, 2, None, 120), stream(9, "counts")
    for n in range(1, 61):
        state.update(0, np.array([1.0, 0.0]), 0.0, rng)
        state.update(1, np.array([0.0, 1.0]), 1.0, rng)
        n_pseudo = math.ceil(round(a * n, 9))  # 1.1 x 50 is 55, not just above
        assert list(state.groups.weights[:2]) == [n_pseudo, n_pseudo]
        gram = state.ridge.factor.T @ state.ridge.factor
        assert gram == pytest.approx((0.5 + n + n_pseudo) * np.eye(2), rel=1e-12)


def test_a_whole_number_a_is_the_form_of_the_paper():
    a, lam, rows = 3, 0.1, ROWS["changing"]
    state = learnt(LinPHE(a=a, lam=(a + 1) * lam), rows)
    gram = state.ridge.factor.T @ state.ridge.factor
    assert gram == pytest.approx((a + 1) * (rows.T @ rows + lam * np.eye(D)))
    assert list(state.groups.weights) == [a] * N_SEEN


@pytest.mark.parametrize("pseudo", ["bernoulli", "gaussian"])
def test_on_unit_rows_it_is_phe(pseudo):
    linear = LinPHE(a=1.1, pseudo=pseudo, lam=1e-9).start(N_ARMS, N_ARMS, None, N_SEEN)
    plain = PHE(a=1.1, pseudo=pseudo).start(N_ARMS, None, N_SEEN)
    linear_rng, plain_rng, units = stream(10, "phe"), stream(10, "phe"), np.eye(N_ARMS)
    linear_scores, plain_scores = np.empty(N_ARMS), np.empty(N_ARMS)
    for arm, reward in zip(ARMS, REWARDS, strict=True):
        linear.update(arm, units[arm], reward, linear_rng)
        plain.update(arm, reward, plain_rng)
    for _ in range(50):
        linear.score(units, linear_rng, linear_scores)
        plain.score(plain_rng, plain_scores)
        assert linear_scores == pytest.approx(plain_scores, abs=1e-7)


def test_fixed_features_cost_one_draw_an_arm_and_changing_ones_a_draw_an_observation():
    assert learnt(LinPHE(a=1.0), ROWS["fixed"]).groups.n_used[0] == N_ARMS
    assert learnt(LinPHE(a=1.0), ROWS["changing"]).groups.n_used[0] == N_SEEN
    assert learnt(LinPHE(a=1.0, pseudo="gaussian"), ROWS["changing"]).groups.rows.size == 0


def chosen_rows(policy: LinPHE, offers: Sequence[np.ndarray], is_wiped: bool = False) -> np.ndarray:
    """Return the rows that the policy chooses from what it is offered, which may be wiped after every round."""
    n_arms, d = offers[0].shape
    state, rng, scores, chosen = policy.start(n_arms, d, None, len(offers)), stream(11, "start"), np.empty(n_arms), []
    for features in offers:
        state.score(features, rng, scores)
        arm = best_arm(scores, np.arange(n_arms), rng)
        state.update(arm, features[arm], 0.5, rng)
        chosen.append(features[arm].copy())
        if is_wiped:
            features[:] = np.nan
    return np.array(chosen)


def test_the_first_d_choices_span_everything_though_most_rows_are_alike():
    d = 5
    features = np.vstack([np.tile(np.eye(d)[0], (20, 1)), 3.0 * np.eye(d)[:1], np.eye(d)[1:] + np.eye(d)[0]])
    assert np.linalg.matrix_rank(chosen_rows(LinPHE(), [features] * d)) == d


@pytest.mark.parametrize("pseudo", ["bernoulli", "gaussian"])
def test_fixed_features_and_the_same_ones_offered_anew_are_treated_alike(pseudo):
    policy = LinPHE(pseudo=pseudo)
    anew = chosen_rows(policy, [FEATURES.copy() for _ in range(200)], is_wiped=True)
    assert np.array_equal(chosen_rows(policy, [FEATURES] * 200), anew)


def test_a_new_direction_is_tried_whenever_it_is_first_offered():
    flat = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    tilted = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1e-3], [1.0, 1.0, 0.0]])
    chosen = chosen_rows(LinPHE(), [flat] * 10 + [tilted])
    assert np.linalg.matrix_rank(chosen[:2]) == 2
    assert list(chosen[-1]) == list(tilted[1])


def test_once_everything_is_spanned_no_row_is_forced():
    features = np.vstack([np.eye(2), [[0.5, 0.5]] * 5])
    state, rng, scores = LinPHE().start(7, 2, None, 2), stream(12, "free"), np.empty(7)
    for arm in range(2):
        state.update(arm, features[arm], 1.0, rng)
    state.score(features, rng, scores)
    assert np.isfinite(scores).all()
    assert scores[2:] == pytest.approx((scores[0] + scores[1]) / 2)


def test_reward_range_follows_the_pseudo_rewards():
    assert LinPHE().reward_range == UNIT_INTERVAL
    assert LinPHE(any_reward=True).reward_range == REAL_LINE
    assert LinPHE(pseudo="gaussian").reward_range == REAL_LINE


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"a": 0.0}, "a must be a number above 0, not 0.0"),
        ({"pseudo": "poisson"}, "pseudo must be 'bernoulli' or 'gaussian', not 'poisson'"),
        ({"sigma": -1.0}, "sigma must be a number above 0, not -1.0"),
        ({"lam": 0.0}, "lam must be a number above 0, not 0.0"),
        ({"any_reward": 1}, "any_reward must be True or False, not 1"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinPHE(**parameters)
