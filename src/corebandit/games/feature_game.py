"""The compiled loop of a policy that chooses by features."""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.parts.choose import best_arm
from corebandit.randomness.bits import Words
from corebandit.randomness.stream import Stream


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
