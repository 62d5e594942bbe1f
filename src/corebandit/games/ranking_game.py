"""Ranking for users who click."""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint, begin_round
from corebandit.contracts.recipe import AnyPolicy, Policy, Problem, RankingPolicy, shows_rankings
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.games.game import Game, Identity
from corebandit.games.notes import TIE, Notes
from corebandit.randomness.stream import Stream, stream


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
    notes: Notes,
) -> None:
    """Show `rounds[-1]` rankings and fill `regret` with the total up to each of `rounds`, and `notes`.

    Each round's user comes from the stream `users`, so every policy meets the same. `chance` `(2, n_items)` and
    `ranking` `(n_positions,)` are room for the user and for what is shown.
    """
    clicks, n_noted = np.empty_like(ranking), notes.actions.shape[0]
    shown = np.zeros(chance.shape[1], np.int64)
    best_value = problem.best_value()
    total, checkpoint, best_rounds = 0.0, 0, 0
    for current_round in range(1, rounds[-1] + 1):
        if begin_round(problem, current_round):
            best_value = problem.best_value()
        problem.draw_user(users, chance)
        state.rank(rng, ranking)
        problem.click(ranking, chance, clicks)
        state.learn(ranking, clicks, rng)
        value = problem.value(ranking)
        total += best_value - (float(clicks.sum()) if realised else value)
        best_rounds += value >= best_value - TIE * max(1.0, abs(best_value))
        for position in range(ranking.size):
            shown[ranking[position]] += 1
            if current_round <= n_noted:
                notes.actions[current_round - 1, position] = ranking[position]
        if current_round == rounds[checkpoint]:
            regret[checkpoint] = total
            notes.best_rounds[checkpoint] = best_rounds
            notes.simple_regret[checkpoint] = np.nan
            checkpoint += 1
    notes.pulls[:] = shown
    notes.means[:] = np.nan


class RankingGame(Game):
    """A problem that shows rankings to users who click."""

    loop = play_rankings

    def suits(self, instance: Any) -> bool:
        """Tell whether an instance shows rankings."""
        return shows_rankings(instance)

    def refusal(self, policy: AnyPolicy, problem: Problem) -> str:
        """Say why a policy cannot play, or nothing."""
        if isinstance(policy, RankingPolicy):
            return ""
        hint = f"say Ranked({policy.label})" if isinstance(policy, Policy) else "choose a policy that does"
        return f"{policy.label} does not rank, but {problem.label} shows rankings: {hint}"

    def needs(self, instance: Any, identity: Identity) -> tuple[Any, ...]:
        """Return the streams of the policy and the users, and room for a user and a ranking."""
        rng, users = stream(*identity, "policy"), stream(*identity, "users")
        return rng, users, np.empty((2, instance.n_items)), np.zeros(instance.n_positions, np.int64)

    def sizes(self, instance: Any) -> tuple[int, ...]:
        """Return the number of items and of positions."""
        return instance.n_items, instance.n_positions

    def choices(self, instance: Any) -> tuple[int, int]:
        """Return the number of items and of positions."""
        return instance.n_items, instance.n_positions

    def n_observations(self, instance: Any, horizon: int) -> int:
        """Return how many rewards a state must have room for: one for each position shown."""
        return int(horizon * instance.n_positions)
