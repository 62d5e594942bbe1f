"""Greedy choices from a linear model: the ridge estimate."""

import numpy as np
import pytest

from corebandit.contracts.recipe import REAL_LINE
from corebandit.policies import LinGreedy
from corebandit.randomness.stream import stream


@pytest.mark.parametrize("lam", [1e-3, 1.0, 50.0])
def test_scores_are_the_ridge_estimate(lam):
    noise = np.random.default_rng(1)
    rows, rewards, features = noise.normal(size=(25, 4)), noise.normal(size=25), noise.normal(size=(6, 4))
    state, rng, scores = LinGreedy(lam=lam).start(6, 4, None, 25), stream(1, "greedy"), np.empty(6)
    for x, reward in zip(rows, rewards, strict=True):
        state.update(0, x, reward, rng)
    state.score(features, rng, scores)
    theta = np.linalg.solve(rows.T @ rows + lam * np.eye(4), rows.T @ rewards)
    assert scores == pytest.approx(features @ theta, rel=1e-10)


def test_all_rows_are_alike_before_anything_is_seen():
    scores = np.empty(3)
    LinGreedy().start(3, 2, None, 1).score(np.array([[1.0, 2.0], [3.0, 4.0], [0.0, -1.0]]), stream(2, "none"), scores)
    assert list(scores) == [0.0, 0.0, 0.0]


def test_any_real_rewards_are_welcome():
    assert LinGreedy().reward_range == REAL_LINE


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="lam must be a number above 0, not 0"):
        LinGreedy(lam=0)
