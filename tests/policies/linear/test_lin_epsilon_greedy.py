"""Linear epsilon-greedy: how often it explores, and what it does otherwise."""

import numpy as np
import pytest

from corebandit.contracts.recipe import REAL_LINE
from corebandit.policies import LinEpsilonGreedy
from corebandit.randomness.stream import stream

FEATURES = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
N_ROUNDS = 5000


@pytest.mark.parametrize(
    ("epsilon", "horizon", "n_seen", "chance"),
    [
        (0.1, 100, 24, 0.2),  # round 25: sqrt(100 / 25) = 2
        (0.1, 100, 99, 0.1),  # the last round
        (0.025, 1600, 3, 0.5),  # sqrt(1600 / 4) = 20
        (0.3, 400, 3, 1.0),  # 0.3 x 10, at most 1
        (0.0, 100, 3, 0.0),
        (0.3, None, 24, 0.3),
    ],
)
def test_explores_with_probability_epsilon_sqrt_n_over_t(epsilon, horizon, n_seen, chance):
    state, rng, scores = LinEpsilonGreedy(epsilon=epsilon).start(3, 2, horizon, n_seen), stream(3, "eps"), np.empty(3)
    for index in range(n_seen):
        state.update(index % 3, FEATURES[index % 3], 1.0 + index % 3, rng)
    theta = np.linalg.solve(
        np.eye(2) + sum(np.outer(FEATURES[i % 3], FEATURES[i % 3]) for i in range(n_seen)),
        sum(FEATURES[i % 3] * (1.0 + i % 3) for i in range(n_seen)),
    )
    expected, n_explored = FEATURES @ theta, 0
    for _ in range(N_ROUNDS):
        state.score(FEATURES, rng, scores)
        if scores.any():
            assert np.abs(scores - expected).max() < 1e-9
        else:
            n_explored += 1
    assert abs(n_explored / N_ROUNDS - chance) <= 4 * np.sqrt(chance * (1 - chance) / N_ROUNDS)


def test_any_real_rewards_are_welcome():
    assert LinEpsilonGreedy().reward_range == REAL_LINE


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"epsilon": 1.5}, "epsilon must be a number of at least 0 and of at most 1, not 1.5"),
        ({"lam": -1.0}, "lam must be a number above 0, not -1.0"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinEpsilonGreedy(**parameters)
