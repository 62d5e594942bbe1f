"""SquareCB: its probabilities are those of its paper, and its choices have them."""

import math

import numpy as np
import pytest
from scipy import stats

from corebandit.parts.choose import best_arm
from corebandit.policies import SquareCB
from corebandit.randomness.stream import stream

D, N_ROWS, N_SEEN = 3, 5, 40
NOISE = np.random.default_rng(13)
FEATURES, ROWS, REWARDS = NOISE.normal(size=(N_ROWS, D)), NOISE.normal(size=(N_SEEN, D)), NOISE.random(N_SEEN)


def learnt(policy, horizon=None):
    """Return the policy's state after the observations."""
    state = policy.start(N_ROWS, D, horizon, N_SEEN)
    for x, reward in zip(ROWS, REWARDS, strict=True):
        state.update(0, x, reward, stream(1))
    return state


def propensities(state, features=FEATURES):
    """Return the probabilities that the state gives the rows."""
    found = np.empty(len(features))
    state.fill_propensities(features, found)
    return found


@pytest.mark.parametrize("horizon", [None, 5000])
@pytest.mark.parametrize("scale", [0.1, 10.0])
def test_propensities_are_inverse_gap_weights(scale, horizon):
    estimates = FEATURES @ np.linalg.solve(0.5 * np.eye(D) + ROWS.T @ ROWS, ROWS.T @ REWARDS)
    n_rounds = horizon or N_SEEN + 1
    gamma = scale * math.sqrt(N_ROWS * n_rounds / (D * math.log(1 + n_rounds)))
    wanted = 1 / (N_ROWS + gamma * (estimates.max() - estimates))
    wanted[estimates.argmax()] += 1 - wanted.sum()
    assert propensities(learnt(SquareCB(scale, lam=0.5), horizon)) == pytest.approx(wanted, rel=1e-9)


def test_rows_that_are_equally_good_share_what_is_left():
    state = learnt(SquareCB())
    best = FEATURES[propensities(state).argmax()]
    found = propensities(state, np.stack([best, FEATURES[0], best, -best]))
    assert found[0] == found[2] > 0.3
    assert found.sum() == pytest.approx(1)
    assert propensities(SquareCB().start(N_ROWS, D, None, 1)).tolist() == [0.2] * 5


def test_choices_have_these_propensities_on_any_offer():
    state, rng, scores = learnt(SquareCB(scale=0.5)), stream(2), np.empty(N_ROWS)
    wanted = propensities(state)
    for offered in (np.arange(N_ROWS), np.array([0, 2, 3])):
        counts = np.zeros(N_ROWS)
        for _ in range(10_000):
            state.score(FEATURES, rng, scores)
            counts[best_arm(scores, offered, rng)] += 1
        law = wanted[offered] / wanted[offered].sum()
        assert stats.chisquare(counts[offered], 10_000 * law).pvalue > 1e-3


@pytest.mark.parametrize("parameters", [{"scale": 0}, {"lam": -1}])
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must be a number above 0"):
        SquareCB(**parameters)
