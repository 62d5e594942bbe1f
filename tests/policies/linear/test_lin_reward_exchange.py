"""Linear reward exchange: the regression is that of the rewards as they are held."""

import numpy as np
import pytest
from scipy import stats

from corebandit.games.feature_game import play_features
from corebandit.games.notes import new_notes
from corebandit.parts.choose import best_arm
from corebandit.policies import LinRewardExchange, RewardExchange
from corebandit.problems.linear import ContextualBandit, LinearBandit
from corebandit.randomness.stream import stream, streams

D, N_ARMS = 4, 8


def played(policy, problem, n_rounds=3000):
    """Return the state after a compiled game."""
    instance, state = problem.draw(stream(1, "problem")), policy.start(N_ARMS, D, None, n_rounds)
    play = play_features.compiled
    features, rounds, regret = np.zeros((N_ARMS, D)), np.array([n_rounds]), np.empty(1)
    words, notes = streams(N_ARMS, 1, "rewards"), new_notes(1, N_ARMS)
    play(
        state, instance, stream(1, "choices"), stream(1, "contexts"), words, features, rounds, -1, False, regret, notes
    )
    return state


def estimate(rows, rewards, lam):
    """Return the ridge estimate from all observations, without forming the Gram matrix."""
    augmented = np.vstack([rows, np.sqrt(lam) * np.eye(rows.shape[1])])
    return np.linalg.lstsq(augmented, np.concatenate([rewards, np.zeros(rows.shape[1])]), rcond=None)[0]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [LinearBandit, ContextualBandit])
@pytest.mark.parametrize(("probability", "decay"), [(0.5, 0.0), (20.0, 1.0)])
def test_after_thousands_of_swaps_the_estimate_is_that_of_the_rewards_held(kind, probability, decay):
    state = played(LinRewardExchange(probability, decay), kind(N_ARMS, D, rewards="gaussian"))
    assert state.ridge.theta == pytest.approx(estimate(state.rows, state.exchange.rewards, 1e-3), rel=1e-9, abs=1e-11)
    rotated_back = state.ridge.factor.T @ state.ridge.target
    assert rotated_back == pytest.approx(state.rows.T @ state.exchange.rewards, rel=1e-9)


def test_badly_scaled_features_do_not_spoil_it():
    rng, words = np.random.default_rng(2), stream(3, "swaps")
    state = LinRewardExchange(probability=1.0, lam=1e-14).start(3, D, None, 2000)
    for index in range(2000):
        x = rng.normal(size=D) * [1.0, 1e-2, 1e-4, 1e-6]
        state.update(index % 3, x, 1e6 * x[3] + float(rng.normal()), words)
    expected = estimate(state.rows, state.exchange.rewards, 1e-14)
    assert state.ridge.theta == pytest.approx(expected, rel=1e-7)


def test_rewards_are_swapped_and_none_is_lost():
    rng, words = np.random.default_rng(4), stream(5, "swaps")
    state, paid = LinRewardExchange(probability=0.5).start(3, D, None, 500), []
    for index in range(500):
        paid.append(float(rng.normal()))
        state.update(index % 3, rng.normal(size=D), paid[-1], words)
    held = state.exchange.rewards
    assert sorted(held) == sorted(paid)
    assert 200 < (held != paid).sum() < 480  # 250 swaps, some of them of what was swapped before


@pytest.mark.parametrize("probability", [0.15, 1.0])
def test_fresh_scores_have_the_law_of_dealing_by_hand(probability):
    rng, words = np.random.default_rng(6), stream(7, "fresh")
    rows, features = rng.normal(size=(20, D)), rng.normal(size=(3, D))
    rewards = rows @ rng.normal(size=D) + rng.normal(size=20)
    state = LinRewardExchange(probability, kept=False, lam=0.1).start(3, D, None, 20)
    for index in range(20):
        state.update(index % 3, rows[index], rewards[index], words)
    scores, by_hand = np.empty((3000, 3)), np.empty((3000, 3))
    for row in scores:
        state.score(features, words, row)
    gram = 0.1 * np.eye(D) + rows.T @ rows
    for row in by_hand:
        held, taken = rewards.copy(), rng.random(20) < probability
        held[taken] = rng.permutation(held[taken])
        row[:] = features @ np.linalg.solve(gram, rows.T @ held)
    for arm in range(3):
        # Often nothing changes hands; rounding must not tell those draws apart.
        assert stats.ks_2samp(scores[:, arm].round(9), by_hand[:, arm].round(9)).pvalue > 1e-3
    assert np.corrcoef(scores.T) == pytest.approx(np.corrcoef(by_hand.T), abs=0.08)
    assert state.ridge.theta == pytest.approx(np.linalg.solve(gram, rows.T @ rewards))


@pytest.mark.parametrize("form", [(0.3, 0.0, True), (5.0, 1.0, True), (0.15, 0.0, False)])
def test_on_one_hot_features_it_is_reward_exchange_choice_by_choice(form):
    arms, linear = RewardExchange(*form).start(4, None, 400), LinRewardExchange(*form, lam=1e-13).start(4, 4, None, 400)
    rngs, scores, noise = (stream(8, "choices"), stream(8, "choices")), np.empty((2, 4)), np.random.default_rng(9)
    for index in range(400):
        arms.score(rngs[0], scores[0])
        linear.score(np.eye(4), rngs[1], scores[1])
        if index < 4:  # both try everything first, and say so in other numbers
            choices = [index, index]
        else:
            assert scores[1] == pytest.approx(scores[0], rel=1e-9)
            choices = [int(best_arm(row, np.arange(4), rng)) for row, rng in zip(scores, rngs, strict=True)]
        assert choices[0] == choices[1]
        reward = float(noise.normal())
        arms.update(choices[0], reward, rngs[0])
        linear.update(choices[1], np.eye(4)[choices[1]], reward, rngs[1])
        rngs[1].words[:] = rngs[0].words  # the linear one deals nothing before all rows are seen


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"lam": 0.0}, "lam must be a number above 0, not 0.0"),
        ({"probability": 2.0}, "probability must be a number of at least 0 and of at most 1, not 2.0"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinRewardExchange(**parameters)
