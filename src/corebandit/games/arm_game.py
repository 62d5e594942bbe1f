"""Choosing among arms."""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint, begin_round
from corebandit.contracts.recipe import AnyPolicy, Policy, Problem, RankingPolicy
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.games.game import Game, Identity, no_rankings
from corebandit.parts.choose import best_arm
from corebandit.randomness.bits import Words
from corebandit.randomness.stream import Stream, stream, streams


@EntryPoint
def play_arms(
    state: Any,
    problem: Any,
    rng: Stream,
    rewards: Words,
    rounds: IntArray,
    realised: bool,
    regret: FloatArray,
) -> None:
    """Play `rounds[-1]` rounds and fill `regret` with the total up to each of `rounds`.

    `rewards` `(n_arms, 4)` holds one stream for each arm, so an arm's s-th pull pays the same whoever pulls it.
    """
    scores, offered = np.empty(rewards.shape[0]), np.arange(rewards.shape[0])
    best_mean = problem.best_mean()
    total, checkpoint = 0.0, 0
    for current_round in range(1, rounds[-1] + 1):
        if begin_round(problem, current_round):
            best_mean = problem.best_mean()
        state.score(rng, scores)
        arm = best_arm(scores, offered, rng)
        reward = problem.pull(arm, Stream(rewards[arm]))
        state.update(arm, reward, rng)
        total += best_mean - (reward if realised else problem.mean(arm))
        if current_round == rounds[checkpoint]:
            regret[checkpoint] = total
            checkpoint += 1


class ArmGame(Game):
    """A problem that has nothing but arms."""

    loop = play_arms

    def suits(self, instance: Any) -> bool:
        """Tell whether an instance has arms."""
        return hasattr(instance, "n_arms")

    def refusal(self, policy: AnyPolicy, problem: Problem) -> str:
        """Say why a policy cannot play, or nothing."""
        if isinstance(policy, Policy):
            return ""
        if isinstance(policy, RankingPolicy):
            return no_rankings(policy, problem)
        return (
            f"{policy.label} chooses by features, but {problem.label} offers none: choose a problem that does, such as "
            "linear, or a policy for arms, such as CORe"
        )

    def needs(self, instance: Any, identity: Identity) -> tuple[Any, ...]:
        """Return the policy's stream, and one for each arm."""
        return stream(*identity, "policy"), streams(instance.n_arms, *identity, "rewards")

    def sizes(self, instance: Any) -> tuple[int, ...]:
        """Return the number of arms."""
        return (instance.n_arms,)
