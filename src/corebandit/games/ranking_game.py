"""Ranking for users who click."""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint, inlined, loop_body
from corebandit.compiled.optional_methods import begin_round, prepare, tell_round
from corebandit.contracts.recipe import AnyPolicy, Policy, Problem, RankingPolicy, shows_rankings
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.games.game import Game, Purpose, nothing_pending
from corebandit.games.notes import Notes, lowest_equal
from corebandit.games.truth import check_told
from corebandit.parts.rounds import rounds_left
from corebandit.randomness.stream import Stream


@inlined
def total_of(values: IntArray) -> int:
    """Return the sum of a few numbers."""
    total = 0
    for value in values:
        total += value
    return total


@loop_body
def rounds_of_rankings(
    state: Any,
    problem: Any,
    rng: Stream,
    users: Stream,
    chance: FloatArray,
    ranking: IntArray,
    clicks: IntArray,
    shown: IntArray,
    pending: IntArray,
    rounds: IntArray,
    horizon: int,
    realised: bool,
    regret: FloatArray,
    notes: Notes,
) -> None:
    """Show `rounds[-1]` rankings and fill `regret` with the total up to each of `rounds`, and `notes`.

    Each round's user comes from the stream `users`, so every policy meets the same. `chance` `(2, n_items)` and
    `ranking` `(n_positions,)` are room for the user and for what is shown; `clicks`, like it, and `shown`
    `(n_items,)`, which are 0, are room to work in, `pending` zeros. `horizon` is what the policy is told of it.
    """
    n_noted = notes.actions.shape[0]
    best_value = problem.best_value()
    as_good = lowest_equal(best_value)
    total, checkpoint, best_rounds = 0.0, 0, 0
    for current_round in range(1, rounds[-1] + 1):
        if begin_round(problem, current_round):
            best_value = problem.best_value()
            as_good = lowest_equal(best_value)
        if current_round == rounds[checkpoint]:
            check_told(best_value, problem.best_value())
        problem.draw_user(users, chance)
        tell_round(state, current_round - 1, rounds_left(horizon, current_round - 1), pending)
        prepare(state, rng)
        state.rank(rng, ranking)
        problem.click(ranking, chance, clicks)
        state.learn(ranking, clicks, rng)
        value = problem.value(ranking)
        total += best_value - (float(total_of(clicks)) if realised else value)
        best_rounds += value >= as_good
        for position in range(ranking.size):
            shown[ranking[position]] += 1
            if current_round <= n_noted:
                notes.actions[current_round - 1, position] = ranking[position]
        if current_round == rounds[checkpoint]:
            regret[checkpoint] = total
            notes.best_rounds[checkpoint] = best_rounds
            notes.simple_regret[checkpoint] = np.nan
            checkpoint += 1
    for item in range(shown.size):
        notes.pulls[item] = shown[item]
        notes.means[item] = np.nan


@EntryPoint
def play_rankings(
    state: Any,
    problem: Any,
    rng: Stream,
    users: Stream,
    chance: FloatArray,
    ranking: IntArray,
    rounds: IntArray,
    horizon: int,
    realised: bool,
    regret: FloatArray,
    notes: Notes,
) -> None:
    """Play a run of `rounds_of_rankings`."""
    n_items = chance.shape[1]
    work = (np.empty_like(ranking), np.zeros(n_items, np.int64), np.zeros(n_items, np.int64))
    rounds_of_rankings(state, problem, rng, users, chance, ranking, *work, rounds, horizon, realised, regret, notes)


class RankingGame(Game):
    """A problem that shows rankings to users who click."""

    loop = play_rankings
    body = staticmethod(rounds_of_rankings)

    def suits(self, instance: Any) -> bool:
        """Tell whether an instance shows rankings."""
        return shows_rankings(instance)

    def refusal(self, policy: AnyPolicy, problem: Problem) -> str:
        """Say why a policy cannot play, or nothing."""
        if isinstance(policy, RankingPolicy):
            return ""
        hint = f"say Ranked({policy.label})" if isinstance(policy, Policy) else "choose a policy that does"
        return f"{policy.label} does not rank, but {problem.label} shows rankings: {hint}"

    def streams(self, instance: Any) -> tuple[Purpose, ...]:
        """Return the streams of the policy and the users."""
        return Purpose("policy"), Purpose("users")

    def room(self, instance: Any) -> tuple[Any, ...]:
        """Return room for a user and a ranking."""
        return np.empty((2, instance.n_items)), np.zeros(instance.n_positions, np.int64)

    def workroom(self, instance: Any) -> tuple[Any, ...]:
        """Return room for clicks, and for how often each item was shown, and that no ranking is pending."""
        n_items = instance.n_items
        return np.zeros(instance.n_positions, np.int64), np.zeros(n_items, np.int64), nothing_pending(n_items)

    def sizes(self, instance: Any) -> tuple[int, ...]:
        """Return the number of items and of positions."""
        return instance.n_items, instance.n_positions

    def choices(self, instance: Any) -> tuple[int, int]:
        """Return the number of items and of positions."""
        return instance.n_items, instance.n_positions

    def n_observations(self, instance: Any, horizon: int) -> int:
        """Return how many rewards a state must have room for: one for each position shown."""
        return int(horizon * instance.n_positions)
