"""Choosing among arms."""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint, loop_body
from corebandit.compiled.optional_methods import begin_round, prepare, tell_round
from corebandit.contracts.recipe import AnyPolicy, Policy, Problem, RankingPolicy
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.games.game import Game, Purpose, all_arms, no_rankings, nothing_pending
from corebandit.games.notes import Notes, lowest_equal, most_pulled
from corebandit.games.truth import check_told
from corebandit.parts.choose import best_arm
from corebandit.parts.rounds import rounds_left
from corebandit.randomness.bits import Words
from corebandit.randomness.stream import Stream


@loop_body
def rounds_of_arms(
    state: Any,
    problem: Any,
    rng: Stream,
    rewards: Words,
    scores: FloatArray,
    pulls: IntArray,
    offered: IntArray,
    pending: IntArray,
    rounds: IntArray,
    horizon: int,
    realised: bool,
    regret: FloatArray,
    notes: Notes,
) -> None:
    """Play `rounds[-1]` rounds and fill `regret` with the total up to each of `rounds`, and `notes`.

    `rewards` `(n_arms, 4)` holds one stream for each arm, so an arm's s-th pull pays the same whoever pulls it.
    `scores`, and `pulls`, which are 0, are room `(n_arms,)` to work in; `offered` holds all arms, `pending` zeros.
    `horizon` is what the policy is told of it.
    """
    n_arms, n_noted = scores.size, notes.actions.shape[0]
    best_mean = problem.best_mean()
    as_good = lowest_equal(best_mean)
    total, checkpoint, best_rounds = 0.0, 0, 0
    for current_round in range(1, rounds[-1] + 1):
        if begin_round(problem, current_round):
            best_mean = problem.best_mean()
            as_good = lowest_equal(best_mean)
        if current_round == rounds[checkpoint]:
            check_told(best_mean, problem.best_mean())
        tell_round(state, current_round - 1, rounds_left(horizon, current_round - 1), pending)
        prepare(state, rng)
        state.score(rng, scores)
        arm = best_arm(scores, offered, rng)
        reward = problem.pull(arm, Stream(rewards[arm]))
        state.update(arm, reward, rng)
        mean = problem.mean(arm)
        total += best_mean - (reward if realised else mean)
        pulls[arm] += 1
        best_rounds += mean >= as_good
        if current_round <= n_noted:
            notes.actions[current_round - 1, 0] = arm
        if current_round == rounds[checkpoint]:
            regret[checkpoint] = total
            notes.best_rounds[checkpoint] = best_rounds
            notes.simple_regret[checkpoint] = best_mean - problem.mean(most_pulled(pulls))
            checkpoint += 1
    for arm in range(n_arms):
        notes.pulls[arm] = pulls[arm]
        notes.means[arm] = problem.mean(arm)


@EntryPoint
def play_arms(
    state: Any,
    problem: Any,
    rng: Stream,
    rewards: Words,
    rounds: IntArray,
    horizon: int,
    realised: bool,
    regret: FloatArray,
    notes: Notes,
) -> None:
    """Play a run of `rounds_of_arms`."""
    n_arms = rewards.shape[0]
    work = (np.empty(n_arms), np.zeros(n_arms, np.int64), np.arange(n_arms), np.zeros(n_arms, np.int64))
    rounds_of_arms(state, problem, rng, rewards, *work, rounds, horizon, realised, regret, notes)


class ArmGame(Game):
    """A problem that has nothing but arms."""

    loop = play_arms
    body = staticmethod(rounds_of_arms)

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

    def streams(self, instance: Any) -> tuple[Purpose, ...]:
        """Return the policy's stream, and one for each arm."""
        return Purpose("policy"), Purpose("rewards", instance.n_arms)

    def workroom(self, instance: Any) -> tuple[Any, ...]:
        """Return room for scores and counts, all arms, and that no decision is pending."""
        n_arms = instance.n_arms
        return np.empty(n_arms), np.zeros(n_arms, np.int64), all_arms(n_arms), nothing_pending(n_arms)

    def sizes(self, instance: Any) -> tuple[int, ...]:
        """Return the number of arms."""
        return (instance.n_arms,)
