"""Rewards that change hands: none is lost or made up, and who gets what is uniform."""

import numpy as np
import pytest
from scipy import stats

from corebandit.parts.exchange import check_exchange, new_exchange
from corebandit.randomness.stream import stream


def filled(rewards, holders, n_arms, **parameters):
    """Return an exchange that has these rewards, and nothing swapped yet."""
    form = {"probability": 0.5, "decay": 0.0, "kept": False, **parameters}
    exchange = new_exchange(n_arms, len(rewards), **form)
    for reward, arm in zip(rewards, holders, strict=True):
        exchange.include(arm, reward)
    return exchange


@pytest.mark.parametrize("n", [1, 5, 64, 65, 150])
@pytest.mark.parametrize("probability", [0.0, 0.15, 0.5, 1.0])
def test_what_is_dealt_is_what_was_taken(n, probability):
    rewards = np.random.default_rng(n).normal(size=n)
    exchange, rng = filled(rewards, [0] * n, 1, probability=probability), stream(1, "deal", n)
    times_taken = np.zeros(n)
    for _ in range(400):
        n_taken = exchange.deal_anew(1, rng)
        places = exchange.taken[:n_taken]
        assert (np.diff(places) > 0).all()
        assert sorted(exchange.dealt[:n_taken]) == sorted(rewards[places])
        times_taken[places] += 1
    assert exchange.rewards.tolist() == rewards.tolist()  # for this round only
    assert np.abs(times_taken / 400 - probability).max() <= 4.5 * np.sqrt(probability * (1 - probability) / 400)


def test_every_reward_goes_to_every_other_place_equally_often():
    n, n_deals = 6, 20_000
    exchange, rng = filled(np.arange(float(n)), [0] * n, 1, probability=0.6), stream(2, "deal")
    moves = np.zeros((n, n))
    for _ in range(n_deals):
        n_taken = exchange.deal_anew(1, rng)
        moves[exchange.dealt[:n_taken].astype(int), exchange.taken[:n_taken]] += 1
    elsewhere, same = moves[~np.eye(n, dtype=bool)], np.diag(moves)
    # Of m taken, each stays where it was with probability 1/m: one of them on average.
    some = 1 - 0.4**n
    assert same.sum() / n_deals == pytest.approx(some, abs=0.03)
    assert elsewhere.sum() / n_deals == pytest.approx(0.6 * n - some, abs=0.05)
    assert stats.chisquare(elsewhere).pvalue > 1e-3


def test_swaps_are_of_the_arm_with_any_other_and_of_any_of_their_rewards():
    holders = [0] * 4 + [1] * 2 + [3] * 3  # nothing of arm 2 yet
    exchange, rng = filled(np.arange(9.0), holders, 4, probability=0.7, kept=True), stream(3, "swap")
    pairs = np.zeros((9, 9))
    for _ in range(20_000):
        before = exchange.rewards.copy()
        here, there = exchange.swapped_places(3, 4, rng)
        pairs[here, there] += 1
        before[here], before[there] = before[there], before[here]
        assert exchange.rewards.tolist() == before.tolist()
    n_swaps = 20_000 - pairs[0, 0]
    assert n_swaps / 20_000 == pytest.approx(0.7, abs=0.015)
    pairs[0, 0] = 0
    expected = np.zeros((9, 9))
    expected[6:, :4], expected[6:, 4:6] = n_swaps / 2 / 12, n_swaps / 2 / 6
    assert (pairs[expected == 0] == 0).all()
    assert stats.chisquare(pairs[expected > 0], expected[expected > 0]).pvalue > 1e-3


def test_a_single_arm_has_nobody_to_swap_with():
    exchange, rng = filled([1.0, 2.0], [1, 1], 3, probability=1.0, kept=True), stream(4, "swap")
    assert exchange.swapped_places(1, 3, rng) == (0, 0)
    assert exchange.rewards.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("probability", "decay", "n_rewards", "expected"),
    [(0.05, 0.0, 7, 0.05), (1.0, 1.0, 2, 1.0), (1.0, 1.0, 20, 0.2), (5.0, 1.0, 100, 0.2), (0.5, 0.5, 16, 0.25)],
)
def test_the_probability_decays_as_told(probability, decay, n_rewards, expected):
    exchange = filled([0.0] * n_rewards, [0] * n_rewards, 4, probability=probability, decay=decay)
    assert exchange.likelihood(4) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ((1.5, 0.0, True), "probability must be a number of at least 0 and of at most 1, not 1.5"),
        ((-1.0, 1.0, True), "probability must be a number of at least 0, not -1.0"),
        ((0.1, -1.0, True), "decay must be a number of at least 0, not -1.0"),
        ((0.1, 0.0, "yes"), "kept must be True or False, not 'yes'"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_exchange(*parameters)
