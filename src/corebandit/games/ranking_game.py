"""The compiled loop of a policy that ranks for users who click."""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.randomness.stream import Stream


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
