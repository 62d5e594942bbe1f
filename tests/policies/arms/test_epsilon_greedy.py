"""Epsilon-greedy: how often it explores, and what it does otherwise."""

import numpy as np
import pytest

from corebandit.contracts.recipe import REAL_LINE
from corebandit.policies import EpsilonGreedy
from corebandit.randomness.stream import stream


def share_explored(policy: EpsilonGreedy, n_arms: int, horizon: int | None, n_seen: int) -> float:
    """Return how often the scores are all equal after `n_seen` rewards that make the arms' means differ."""
    state, rng, scores = policy.start(n_arms, horizon, n_seen), stream(14, "epsilon"), np.empty(n_arms)
    for index in range(n_seen):
        state.update(index % n_arms, float(index % n_arms), rng)
    n_explored = 0
    for _ in range(5000):
        state.score(rng, scores)
        n_explored += scores.max() == scores.min()
    return n_explored / 5000


@pytest.mark.parametrize(
    ("policy", "n_arms", "horizon", "n_seen", "epsilon"),
    [
        (EpsilonGreedy(epsilon=0.25), 4, 100, 8, 0.25),
        (EpsilonGreedy(epsilon=0.0), 4, 100, 8, 0.0),
        (EpsilonGreedy(epsilon=1.0), 4, 100, 8, 1.0),
        (EpsilonGreedy(), 4, 100, 8, 0.4),  # 4 / sqrt(100)
        (EpsilonGreedy(), 4, 9, 8, 1.0),  # 4 / 3, at most 1
        (EpsilonGreedy(), 2, None, 8, 2 / 3),  # round 9: 2 / sqrt(9)
    ],
)
def test_explores_with_probability_epsilon(policy, n_arms, horizon, n_seen, epsilon):
    share = share_explored(policy, n_arms, horizon, n_seen)
    assert abs(share - epsilon) <= 4 * np.sqrt(epsilon * (1 - epsilon) / 5000)


def test_otherwise_scores_are_the_means_and_arms_never_tried_come_first(scores_after):
    scores = scores_after(EpsilonGreedy(epsilon=0.0), [(0, 1.0), (0, 4.0), (2, -3.0)], n_arms=3)
    assert list(scores) == [2.5, np.inf, -3.0]


def test_any_real_rewards_are_welcome():
    assert EpsilonGreedy().reward_range == REAL_LINE


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="epsilon must be a number of at least 0 and of at most 1, not 2"):
        EpsilonGreedy(epsilon=2)
