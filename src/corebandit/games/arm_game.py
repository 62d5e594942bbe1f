"""The compiled loop of a policy that chooses among arms."""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.parts.choose import best_arm
from corebandit.randomness.bits import Words
from corebandit.randomness.stream import Stream


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
