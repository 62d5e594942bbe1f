"""LinTS: the posterior, from many draws."""

import numpy as np
import pytest
from scipy import stats

from corebandit.contracts.recipe import REAL_LINE
from corebandit.policies import LinTS
from corebandit.randomness.stream import stream

D, N_DRAWS = 4, 20_000
NOISE = np.random.default_rng(7)
ROWS, REWARDS = NOISE.normal(size=(6, D)) * [2.0, 1.0, 0.5, 0.1], NOISE.normal(size=6)  # the prior decides the last


def drawn_thetas(policy: LinTS, n_seen: int) -> np.ndarray:
    """Return draws of theta `(N_DRAWS, D)`, which the scores of unit rows are, after `n_seen` observations."""
    state, rng, draws = policy.start(D, D, None, n_seen), stream(4, "posterior"), np.empty((N_DRAWS, D))
    for x, reward in zip(ROWS[:n_seen], REWARDS[:n_seen], strict=True):
        state.update(0, x, reward, rng)
    units = np.eye(D)
    for draw in draws:
        state.score(units, rng, draw)
    return draws


@pytest.mark.heavy
@pytest.mark.parametrize("n_seen", [0, 2, 6])
@pytest.mark.parametrize(("sigma", "prior"), [(0.3, 2.0), (1.5, 0.5), (0.5, 1.0)])
def test_theta_is_drawn_from_the_posterior(sigma, prior, n_seen):
    rows, rewards = ROWS[:n_seen], REWARDS[:n_seen]
    precision = np.eye(D) / prior**2 + rows.T @ rows / sigma**2
    mean = np.linalg.solve(precision, rows.T @ rewards / sigma**2)
    # Standard normals if theta ~ N(mean, precision^-1), in directions that mix all entries.
    whitened = (drawn_thetas(LinTS(sigma=sigma, prior=prior), n_seen) - mean) @ np.linalg.cholesky(precision)
    assert np.abs(whitened.mean(axis=0)).max() < 4.5 / N_DRAWS**0.5
    assert np.abs(np.cov(whitened.T) - np.eye(D)).max() < 4.5 * (2 / N_DRAWS) ** 0.5
    for direction in whitened.T:
        assert stats.kstest(direction, stats.norm.cdf).pvalue > 1e-3


def test_one_draw_of_theta_scores_all_rows():
    state, rng, scores = LinTS().start(3, 2, None, 1), stream(5, "rows"), np.empty(3)
    state.update(0, np.array([1.0, 2.0]), 0.5, rng)
    state.score(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, -3.0]]), rng, scores)
    assert scores[2] == pytest.approx(2 * scores[0] - 3 * scores[1])


def test_any_real_rewards_are_welcome():
    assert LinTS().reward_range == REAL_LINE


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"sigma": 0.0}, "sigma must be a number above 0, not 0.0"),
        ({"prior": -1.0}, "prior must be a number above 0, not -1.0"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinTS(**parameters)
