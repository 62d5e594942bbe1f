"""Online bootstrap Thompson sampling against replicates made with NumPy."""

import numpy as np
import pytest
from scipy import stats

from corebandit.policies import BootstrapTS
from corebandit.randomness.stream import stream

REWARDS = np.random.default_rng(1).random(30)
N_REPLICATES = 4000
WEIGHTS = {
    "double-or-nothing": lambda rng, size: 2.0 * rng.integers(2, size=size),
    "poisson": lambda rng, size: rng.poisson(1.0, size=size).astype(float),
}


def replicates(policy, rewards):
    """Return the replicates of one arm's mean."""
    state, rng = policy.start(1, None, 100), stream(2, "replicates")
    for reward in rewards:
        state.update(0, float(reward), rng)
    return state.totals[0] / state.weights[0]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("prior", "low", "high"), [("point", 0.0, 1.0), ("spread", 0.0, 1.0), ("spread", -2.0, 3.0)])
def test_replicates_have_the_law_of_weighted_means(weights, prior, low, high):
    rng = np.random.default_rng(3)
    drawn = WEIGHTS[weights](rng, (20_000, REWARDS.size))
    starts = np.full(20_000, 0.5) if prior == "point" else rng.random(20_000)
    expected = (2 * (low + (high - low) * starts) + drawn @ REWARDS) / (2 + drawn.sum(axis=1))
    policy = BootstrapTS(n_replicates=N_REPLICATES, weights=weights, prior=prior, low=low, high=high)
    found = replicates(policy, REWARDS)
    assert stats.ks_2samp(found, expected).pvalue > 1e-3


@pytest.mark.parametrize("weights", WEIGHTS)
def test_each_replicate_weighs_a_reward_in_its_own_way(weights):
    state, rng = BootstrapTS(n_replicates=1000, weights=weights).start(2, None, 100), stream(4, "weights")
    gained = []
    for _ in range(40):
        before = state.weights.copy()
        state.update(0, 1.0, rng)
        assert (state.weights[1] == before[1]).all()
        gained.append(state.weights[0] - before[0])
    gained = np.array(gained)
    assert gained.mean() == pytest.approx(1.0, abs=0.02)
    assert gained.var() == pytest.approx(1.0, abs=0.03)
    neighbours = [np.corrcoef(gained[:, j], gained[:, j + step])[0, 1] for step in (1, 63, 64) for j in range(900)]
    assert np.mean(neighbours) == pytest.approx(0.0, abs=0.03)  # neither bits of a word nor words are alike
    assert set(np.unique(gained)) <= ({0.0, 2.0} if weights == "double-or-nothing" else set(range(20)))


@pytest.mark.parametrize(("replicate", "correlation"), [("arm", 0.0), ("round", 1.0)])
def test_arms_show_replicates_of_their_own_or_the_same(replicate, correlation):
    state, rng, scores = BootstrapTS(replicate=replicate).start(2, None, 1), stream(5, "scores"), np.empty((2000, 2))
    for row in scores:
        state.score(rng, row)
    assert np.corrcoef(scores.T)[0, 1] == pytest.approx(correlation, abs=0.08)
    assert stats.kstest(scores[:, 0], stats.uniform.cdf).statistic < 0.05  # an arm never tried shows its prior


def test_at_one_point_an_arm_never_tried_is_halfway(scores_after):
    assert scores_after(BootstrapTS(prior="point", low=-1.0, high=4.0), []).tolist() == [1.5, 1.5]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_replicates": 0}, "n_replicates must be a whole number of at least 1, not 0"),
        ({"weights": "normal"}, "weights must be 'double-or-nothing' or 'poisson', not 'normal'"),
        ({"replicate": "any"}, "replicate must be 'arm' or 'round', not 'any'"),
        ({"prior": "wide"}, "prior must be 'spread' or 'point', not 'wide'"),
        ({"low": 1.0}, "high must be a number above 1, not 1.0"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        BootstrapTS(**parameters)
