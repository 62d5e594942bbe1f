"""The compiled loops: a policy against a problem that has arms, or offers features, or shows rankings."""

from typing import Any

import numpy as np

from corebandit.choose import best_arm
from corebandit.compiled import EntryPoint
from corebandit.state import FloatArray, IntArray
from corebandit.stream import Stream
from corebandit.words import Words


@EntryPoint
def play_arms(
    state: Any, problem: Any, rng: Stream, rewards: Words, rounds: IntArray, realised: bool, regret: FloatArray
) -> None:
    """Play `rounds[-1]` rounds and fill `regret` with the total up to each of `rounds`.

    `rewards` `(n_arms, 4)` holds one stream for each arm, so an arm's s-th pull pays the same whoever pulls it.
    """
    scores, offered = np.empty(rewards.shape[0]), np.arange(rewards.shape[0])
    best_mean = problem.best_mean()
    total, checkpoint = 0.0, 0
    for current_round in range(1, rounds[-1] + 1):
        state.score(rng, scores)
        arm = best_arm(scores, offered, rng)
        reward = problem.pull(arm, Stream(rewards[arm]))
        state.update(arm, reward, rng)
        total += best_mean - (reward if realised else problem.mean(arm))
        if current_round == rounds[checkpoint]:
            regret[checkpoint] = total
            checkpoint += 1


@EntryPoint
def play_features(
    state: Any,
    problem: Any,
    rng: Stream,
    contexts: Stream,
    rewards: Words,
    features: FloatArray,
    rounds: IntArray,
    realised: bool,
    regret: FloatArray,
) -> None:
    """Play `rounds[-1]` rounds of choosing by features and fill `regret` with the total up to each of `rounds`.

    Whatever is new in a round comes from the stream `contexts`, so every policy is offered the same. `features`
    `(n_arms, d)` is room for what is offered.
    """
    n_arms = features.shape[0]
    scores, offered = np.empty(n_arms), np.arange(n_arms)
    means, best_mean = np.empty(n_arms), 0.0
    total, checkpoint = 0.0, 0
    for current_round in range(1, rounds[-1] + 1):
        if problem.offer(current_round, contexts, features):
            for arm in range(n_arms):
                means[arm] = problem.mean(arm, features[arm])
            best_mean = means.max()
        state.score(features, rng, scores)
        arm = best_arm(scores, offered, rng)
        reward = problem.pull(arm, features[arm], Stream(rewards[arm]))
        state.update(arm, features[arm], reward, rng)
        total += best_mean - (reward if realised else means[arm])
        if current_round == rounds[checkpoint]:
            regret[checkpoint] = total
            checkpoint += 1


@EntryPoint
def play_rankings(
    state: Any,
    problem: Any,
    rng: Stream,
    users: Stream,
    chance: FloatArray,
    ranking: IntArray,
    rounds: IntArray,
    realised: bool,
    regret: FloatArray,
) -> None:
    """Show `rounds[-1]` rankings and fill `regret` with the total up to each of `rounds`.

    Each round's user comes from the stream `users`, so every policy meets the same. `chance` `(2, n_items)` and
    `ranking` `(n_positions,)` are room for the user and for what is shown.
    """
    clicks = np.empty_like(ranking)
    best_value = problem.best_value()
    total, checkpoint = 0.0, 0
    for current_round in range(1, rounds[-1] + 1):
        problem.draw_user(users, chance)
        state.rank(rng, ranking)
        problem.click(ranking, chance, clicks)
        state.learn(ranking, clicks, rng)
        total += best_value - (float(clicks.sum()) if realised else problem.value(ranking))
        if current_round == rounds[checkpoint]:
            regret[checkpoint] = total
            checkpoint += 1
