"""Reward exchange: what arms hold is what was paid, and fresh sums have the law of dealing by hand."""

import numpy as np
import pytest
from scipy import stats

from corebandit.contracts.recipe import REAL_LINE
from corebandit.games.arm_game import play_arms
from corebandit.games.notes import new_notes
from corebandit.parts.choose import best_arm
from corebandit.policies import RewardExchange
from corebandit.problems.random_arms import GaussianBandit
from corebandit.randomness.stream import stream, streams

N_ROUNDS = 5000
KEPT = [RewardExchange(probability=0.3), RewardExchange(probability=5.0, decay=1.0)]


def played(policy, n_arms=5, n_rounds=N_ROUNDS):
    """Return the state after a compiled game, and the game's words of rewards."""
    problem, state = GaussianBandit(n_arms).draw(stream(1, "problem")), policy.start(n_arms, None, n_rounds)
    rounds, regret, notes = np.array([n_rounds]), np.empty(1), new_notes(1, n_arms)
    play = play_arms.compiled
    play(state, problem, stream(1, "choices"), streams(n_arms, 1, "rewards"), rounds, -1, False, regret, notes)
    return state, problem


@pytest.mark.heavy
@pytest.mark.parametrize("policy", KEPT, ids=lambda policy: policy.label)
def test_swaps_conserve_rewards_and_sums_follow_them_through_thousands_of_rounds(policy):
    state, problem = played(policy)
    counts = state.counts.astype(int)
    words = streams(5, 1, "rewards")
    paid = [[problem.pull(arm, stream_of(words, arm)) for _ in range(counts[arm])] for arm in range(5)]
    assert counts.sum() == N_ROUNDS
    assert sorted(state.exchange.rewards) == sorted(reward for rewards in paid for reward in rewards)
    assert np.bincount(state.exchange.holders, minlength=5).tolist() == counts.tolist()
    held = np.bincount(state.exchange.holders, state.exchange.rewards)
    assert state.sums == pytest.approx(held, rel=1e-10, abs=1e-9)
    n_moved = sum(len(set(state.exchange.rewards[state.exchange.holders == arm]) - set(paid[arm])) for arm in range(5))
    assert n_moved > 20


def stream_of(words, arm):
    return stream(0)._replace(words=words[arm])


def test_places_belong_to_the_arms_that_they_are_listed_for():
    state, _ = played(KEPT[0], n_rounds=1000)
    places = state.exchange.places
    for arm in range(5):
        listed = [int(places.value(arm, index)) for index in range(places.counts[arm])]
        assert listed == np.flatnonzero(state.exchange.holders == arm).tolist()


@pytest.mark.parametrize("probability", [0.15, 0.7, 1.0])
def test_fresh_scores_have_the_law_of_dealing_by_hand(probability):
    rng, holders = np.random.default_rng(2), np.array([0] * 4 + [1] * 9 + [2] * 2)
    rewards = rng.normal(size=15) + holders
    state, words = RewardExchange(probability, kept=False).start(3, None, 15), stream(3, "fresh")
    for arm, reward in zip(holders.tolist(), rewards.tolist(), strict=True):
        state.update(arm, reward, words)
    scores = np.empty((3000, 3))
    for row in scores:
        state.score(words, row)
    by_hand = np.empty((3000, 3))
    for row in by_hand:
        held, taken = rewards.copy(), rng.random(15) < probability
        held[taken] = rng.permutation(held[taken])
        row[:] = [held[holders == arm].mean() for arm in range(3)]
    for arm in range(3):
        # Often nothing changes hands; rounding must not tell those draws apart.
        assert stats.ks_2samp(scores[:, arm].round(9), by_hand[:, arm].round(9)).pvalue > 1e-3
    # What one arm gains others lose: the total is that of all rewards, in every round.
    assert scores @ [4, 9, 2] == pytest.approx(np.full(3000, rewards.sum()))
    assert np.corrcoef(scores.T) == pytest.approx(np.corrcoef(by_hand.T), abs=0.08)
    assert state.counts.tolist() == [4, 9, 2]
    assert state.sums == pytest.approx([rewards[holders == arm].sum() for arm in range(3)])


def test_without_exchange_it_is_greedy(scores_after):
    history = [(0, 0.3), (1, 0.9), (0, 0.5)]
    for kept in (True, False):
        scores = scores_after(RewardExchange(probability=0.0, kept=kept), history, n_arms=3)
        assert scores.tolist() == pytest.approx([0.4, 0.9, np.inf])


@pytest.mark.parametrize("policy", [*KEPT, RewardExchange(0.15, kept=False)], ids=lambda policy: policy.label)
def test_a_constant_added_to_all_rewards_changes_no_choice(policy):
    games = []
    for constant in (0.0, 1024.0):
        state, rng, noise = policy.start(3, None, 300), stream(4, "choices"), np.random.default_rng(5)
        scores, arms = np.empty(3), []
        for _ in range(300):
            state.score(rng, scores)
            arms.append(int(best_arm(scores, np.arange(3), rng)))
            state.update(arms[-1], constant + float(noise.normal()), rng)
        games.append(arms)
    assert games[0] == games[1]


def test_swaps_cost_the_same_memory_whatever_the_rounds():
    state = RewardExchange().start(10, None, 10_000)
    assert state.exchange.taken.size == state.exchange.dealt.size == 0
    assert RewardExchange(0.15, kept=False).start(10, None, 10_000).exchange.places.values.size == 0


def test_any_real_rewards_are_welcome():
    assert RewardExchange().reward_range == REAL_LINE


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="probability must be a number of at least 0 and of at most 1, not 2"):
        RewardExchange(probability=2)
