"""Giro: both short cuts have the law of resampling the history as written."""

import numpy as np
import pytest
from scipy import stats

from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL
from corebandit.policies import Giro
from corebandit.randomness.stream import stream


def resampled_means(rewards: list[float], a: float, n_draws: int) -> np.ndarray:
    """Resample rewards, zeros and ones as the paper says, one value at a time."""
    rng, means = np.random.default_rng(5), np.empty(n_draws)
    for draw in range(n_draws):
        m = int(np.floor(a * len(rewards))) + int(rng.random() < a * len(rewards) % 1)
        history = np.array(rewards + [0.0] * m + [1.0] * m)
        means[draw] = rng.choice(history, history.size).mean()
    return means


@pytest.mark.heavy
@pytest.mark.parametrize("a", [1.0, 0.3])
@pytest.mark.parametrize("rewards", [[1.0, 0.0, 1.0, 1.0, 1.0], [0.2, 0.9, 1.0, 0.0, 0.7, 0.4, 0.4]])
def test_scores_have_the_law_of_resampling(draws_after, rewards, a):
    draws, wanted = draws_after(Giro(a=a), rewards, n_draws=2000), resampled_means(rewards, a, 10_000)
    assert stats.ks_2samp(np.round(draws, 9), np.round(wanted, 9)).pvalue > 1e-3
    assert draws.var() == pytest.approx(wanted.var(), rel=0.1)


@pytest.mark.heavy
def test_binomial_short_cut_has_the_law_of_drawing_one_by_one():
    state, rng = Giro().start(1, None, 200), stream(6, "giro")
    for index in range(200):
        state.update(0, float(index % 4 == 0), rng)
    scores, short, long = np.empty(1), np.empty(1500), np.empty(1500)
    for draw in range(1500):
        state.score(rng, scores)
        short[draw] = scores[0]
        long[draw] = state.draw_sum(0, 600, rng) / 600
    assert stats.ks_2samp(np.round(short, 9), np.round(long, 9)).pvalue > 1e-3
    p = (50 + 200) / 600
    assert long.mean() == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 600 / 1500))
    assert long.var() == pytest.approx(p * (1 - p) / 600, rel=0.1)


@pytest.mark.heavy
def test_draws_reach_every_reward_of_a_long_history():
    state, rng = Giro(a=1e-9, any_reward=True).start(1, None, 300), stream(7, "giro")
    rewards = np.arange(300.0)
    for reward in rewards:
        state.update(0, reward, rng)
    draws = np.array([state.draw_sum(0, 300, rng) / 300 for _ in range(1000)])
    assert draws.mean() == pytest.approx(rewards.mean(), abs=4 * rewards.std() / np.sqrt(300 * 1000))
    assert draws.std() == pytest.approx(rewards.std() / np.sqrt(300), rel=0.08)


def test_arms_never_tried_come_first(scores_after):
    assert scores_after(Giro(), [(1, 1.0)])[0] == np.inf


def test_reward_range():
    assert Giro().reward_range == UNIT_INTERVAL
    assert Giro(any_reward=True).reward_range == REAL_LINE


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="a must be a number above 0, not 0"):
        Giro(a=0)
