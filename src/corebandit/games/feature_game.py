"""Choosing by features."""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint, inlined, loop_body
from corebandit.compiled.optional_methods import begin_round, prepare, tell_round
from corebandit.contracts.recipe import AnyPolicy, FeaturePolicy, Problem, RankingPolicy, offers_features
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.games.game import Game, Purpose, all_arms, no_rankings, nothing_pending
from corebandit.games.notes import Notes, lowest_equal, most_pulled
from corebandit.games.truth import check_told
from corebandit.parts.choose import best_arm
from corebandit.parts.rounds import rounds_left
from corebandit.randomness.bits import Words
from corebandit.randomness.stream import Stream


@inlined
def highest(values: FloatArray) -> float:
    """Return the largest of a few numbers."""
    best = values[0]
    for value in values:
        best = max(best, value)
    return float(best)


@loop_body
def rounds_by_features(
    state: Any,
    problem: Any,
    rng: Stream,
    contexts: Stream,
    rewards: Words,
    features: FloatArray,
    scores: FloatArray,
    means: FloatArray,
    pulls: IntArray,
    offered: IntArray,
    pending: IntArray,
    rounds: IntArray,
    horizon: int,
    realised: bool,
    regret: FloatArray,
    notes: Notes,
) -> None:
    """Play `rounds[-1]` rounds of choosing by features and fill `regret` with the total up to each, and `notes`.

    Whatever is new in a round comes from the stream `contexts`, so every policy is offered the same. `features`
    `(n_arms, d)` is room for what is offered, `scores`, `means` and `pulls`, which are 0, are room `(n_arms,)` to work
    in; `offered` holds all arms, `pending` zeros. `horizon` is what the policy is told of it.
    """
    n_arms, n_noted = scores.size, notes.actions.shape[0]
    best_mean, as_good, has_same_arms = 0.0, 0.0, True
    total, checkpoint, best_rounds = 0.0, 0, 0
    for current_round in range(1, rounds[-1] + 1):
        is_changed = begin_round(problem, current_round)
        is_offered = problem.offer(current_round, contexts, features)
        has_same_arms &= current_round == 1 or not is_offered
        if is_offered or is_changed:
            for arm in range(n_arms):
                means[arm] = problem.mean(arm, features[arm])
            best_mean = highest(means)
            as_good = lowest_equal(best_mean)
        if current_round == rounds[checkpoint]:
            for arm in range(n_arms):
                check_told(means[arm], problem.mean(arm, features[arm]))
        tell_round(state, current_round - 1, rounds_left(horizon, current_round - 1), pending)
        prepare(state, rng)
        state.score(features, rng, scores)
        arm = best_arm(scores, offered, rng)
        reward = problem.pull(arm, features[arm], Stream(rewards[arm]))
        state.update(arm, features[arm], reward, rng)
        total += best_mean - (reward if realised else means[arm])
        pulls[arm] += 1
        best_rounds += means[arm] >= as_good
        if current_round <= n_noted:
            notes.actions[current_round - 1, 0] = arm
        if current_round == rounds[checkpoint]:
            regret[checkpoint] = total
            notes.best_rounds[checkpoint] = best_rounds
            notes.simple_regret[checkpoint] = best_mean - means[most_pulled(pulls)] if has_same_arms else np.nan
            checkpoint += 1
    for arm in range(n_arms):
        notes.pulls[arm] = pulls[arm]
        notes.means[arm] = means[arm] if has_same_arms else np.nan


@EntryPoint
def play_features(
    state: Any,
    problem: Any,
    rng: Stream,
    contexts: Stream,
    rewards: Words,
    features: FloatArray,
    rounds: IntArray,
    horizon: int,
    realised: bool,
    regret: FloatArray,
    notes: Notes,
) -> None:
    """Play a run of `rounds_by_features`."""
    n_arms = features.shape[0]
    counts, pending = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    work = (np.empty(n_arms), np.empty(n_arms), counts, np.arange(n_arms), pending)
    rounds_by_features(
        state, problem, rng, contexts, rewards, features, *work, rounds, horizon, realised, regret, notes
    )


class FeatureGame(Game):
    """A problem that offers features to choose by."""

    loop = play_features
    body = staticmethod(rounds_by_features)

    def suits(self, instance: Any) -> bool:
        """Tell whether an instance offers features."""
        return offers_features(instance)

    def refusal(self, policy: AnyPolicy, problem: Problem) -> str:
        """Say why a policy cannot play, or nothing."""
        if isinstance(policy, FeaturePolicy):
            return ""
        if isinstance(policy, RankingPolicy):
            return no_rankings(policy, problem)
        return (
            f"{policy.label} takes no features, but {problem.label} offers them: choose a policy that does, such as "
            "LinCORe"
        )

    def streams(self, instance: Any) -> tuple[Purpose, ...]:
        """Return the streams of the policy, the contexts and each arm."""
        return Purpose("policy"), Purpose("contexts"), Purpose("rewards", instance.n_arms)

    def room(self, instance: Any) -> tuple[Any, ...]:
        """Return room for features."""
        return (np.empty((instance.n_arms, instance.n_features)),)

    def workroom(self, instance: Any) -> tuple[Any, ...]:
        """Return room for scores, means and counts, all arms, and that no decision is pending."""
        n_arms = instance.n_arms
        room = np.empty(n_arms), np.empty(n_arms), np.zeros(n_arms, np.int64)
        return (*room, all_arms(n_arms), nothing_pending(n_arms))

    def sizes(self, instance: Any) -> tuple[int, ...]:
        """Return the number of features."""
        return (instance.n_features,)
