"""LinRandUCB: LinUCB's bounds, drawn up to a random part."""

import numpy as np
import pytest

from corebandit.policies import LinGreedy, LinRandUCB, LinUCB
from corebandit.randomness.stream import stream

D, N_ARMS, N_SEEN = 3, 5, 12
NOISE = np.random.default_rng(13)
FEATURES, ROWS, REWARDS = NOISE.normal(size=(N_ARMS, D)), NOISE.normal(size=(N_SEEN, D)), NOISE.normal(size=N_SEEN)


def scores(policy, n_draws=1):
    """Return scores `(n_draws, N_ARMS)` after the observations."""
    state, rng, found = policy.start(N_ARMS, D, 400, N_SEEN), stream(14, "scores"), np.empty((n_draws, N_ARMS))
    for x, reward in zip(ROWS, REWARDS, strict=True):
        state.update(0, x, reward, rng)
    for draw in found:
        state.score(FEATURES, rng, draw)
    return found


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"sigma": 2.0, "lam": 0.3},
        {"radius": "determinant"},
        {"scaling": "authors"},
        {"theta_norm": 0.1, "row_norm": 9},
    ],
)
def test_scores_lie_a_shared_part_of_the_way_to_the_bounds_of_linucb(parameters):
    bounds = scores(LinUCB(**parameters))[0]
    lam = parameters.get("lam", 1.0) * (0.25 if "scaling" in parameters else 1.0)
    estimates = scores(LinGreedy(lam=lam))[0]
    parts = (scores(LinRandUCB(**parameters), 300) - estimates) / (bounds - estimates)
    assert parts == pytest.approx(np.tile(parts[:, :1], N_ARMS), abs=1e-9)
    assert 19 * parts == pytest.approx(np.round(19 * parts), abs=1e-6)
    assert len(np.unique(parts[:, 0].round(6))) > 4
    assert parts.mean() == pytest.approx(0.083, abs=0.02)  # of N(0, 1/8^2) on 20 points, folded


def test_uncoupled_rows_have_parts_of_their_own():
    draws = scores(LinRandUCB(coupled=False), 3000)
    correlations = np.corrcoef(draws.T)[np.triu_indices(N_ARMS, 1)]
    assert np.abs(correlations).max() < 0.08


def test_parts_may_be_negative_if_it_is_not_optimistic():
    draws, estimates = scores(LinRandUCB(optimistic=False), 500), scores(LinGreedy())[0]
    assert ((draws < estimates).mean(axis=0) > 0.3).all()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"lam": 0.0}, "lam must be a number above 0, not 0.0"),
        ({"spread": -1.0}, "spread must be a number above 0, not -1.0"),
        ({"radius": "determinant", "scaling": "authors"}, "scaling='authors' has radius='trace'"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinRandUCB(**parameters)
