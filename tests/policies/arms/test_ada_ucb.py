"""AdaUCB against its formula, written with NumPy over all pairs of arms."""

import math

import numpy as np
import pytest

from corebandit.contracts.state import carry_over
from corebandit.policies import AdaUCB
from corebandit.randomness.stream import stream

N_ARMS = 5


def history(n_rounds, seed=1):
    """Return a past in which some arms were tried far more often than others."""
    rng = np.random.default_rng(seed)
    arms = np.concatenate([np.arange(N_ARMS), rng.choice(N_ARMS, n_rounds, p=[0.7, 0.2, 0.07, 0.02, 0.01])])
    return list(zip(arms.tolist(), rng.normal(1.0, 2.0, arms.size).tolist(), strict=True))


def counts_and_means(past):
    """Return pulls and mean rewards."""
    arms, rewards = np.array([arm for arm, _ in past]), np.array([reward for _, reward in past])
    counts = np.bincount(arms, minlength=N_ARMS)
    return counts, np.bincount(arms, weights=rewards, minlength=N_ARMS) / counts


def h_of(counts):
    """Return H_i, by its definition."""
    return np.minimum(counts[:, None], np.sqrt(np.outer(counts, counts))).sum(axis=1)


@pytest.mark.parametrize("logarithm", ["refined", "plain"])
@pytest.mark.parametrize("horizon", [None, 50, 10_000])
@pytest.mark.parametrize("n_rounds", [0, 7, 900])
def test_scores_are_lattimores_index(horizon, n_rounds, logarithm, scores_after):
    past = history(n_rounds)
    counts, means = counts_and_means(past)
    x = (horizon or len(past) + 1) / h_of(counts)
    if logarithm == "plain":
        exploration = np.maximum(0.0, np.log(x))
    else:
        exploration = np.log((x + math.e) * np.sqrt(np.log(x + math.e)))
    policy = AdaUCB(sigma=1.5, logarithm=logarithm)
    scores = scores_after(policy, past, n_arms=N_ARMS, horizon=horizon)
    assert scores == pytest.approx(means + 1.5 * np.sqrt(2 * exploration / counts), rel=1e-12)


def test_the_plain_form_ends_with_greedy_choices(scores_after):
    past = history(900)
    scores = scores_after(AdaUCB(logarithm="plain"), past, n_arms=N_ARMS, horizon=len(past))
    counts, means = counts_and_means(past)
    is_settled = h_of(counts) > len(past)
    assert list(is_settled) == [True, False, False, False, False]
    assert (scores > means).tolist() == list(~is_settled)


def test_sums_over_pairs_do_not_drift_and_take_new_arms_in():
    past, state, rng = history(20_000), AdaUCB().start(N_ARMS, None, 1), stream(1)
    for arm, reward in past:
        state.update(arm, reward, rng)
    more = AdaUCB().start(N_ARMS + 2, None, 1)
    carry_over(state, more)
    for arm in (N_ARMS, 0, N_ARMS):
        more.update(arm, 0.0, rng)
    counts = more.tally.counts
    assert np.sqrt(counts) * more.overlaps == pytest.approx(h_of(counts), rel=1e-12)


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="sigma must be a number above 0, not 0"):
        AdaUCB(sigma=0)
    with pytest.raises(ValueError, match="logarithm must be 'refined' or 'plain', not 'natural'"):
        AdaUCB(logarithm="natural")
