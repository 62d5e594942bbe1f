"""The compiled step of many decisions at once."""

from typing import Any

from corebandit.agents.steps import reach_of
from corebandit.compiled.bridge import EntryPoint, inlined
from corebandit.compiled.optional_methods import tell_round
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.parts.choose import best_arm
from corebandit.parts.rounds import rounds_left
from corebandit.randomness.stream import Stream


@EntryPoint.allocating_nothing
def are_within_reach(tables: FloatArray, seen: FloatArray, reach: float) -> bool:
    """Tell whether all features `(n, rows, d)` of many decisions are within reach, and then note the largest ones."""
    larger = reach_of(tables.reshape(tables.shape[0] * tables.shape[1], tables.shape[2]), seen, reach)
    for column in range(seen.shape[1] if larger > 0 else 0):
        seen[0, column] = seen[1, column]
    return larger >= 0


@EntryPoint.allocating_nothing
def select_rows(
    state: Any,
    rng: Stream,
    tables: FloatArray,
    scores: FloatArray,
    offered: IntArray,
    counts: IntArray,
    is_forced: bool,
    allowed: IntArray,
    decided: int,
    horizon: int,
    pending: IntArray,
    winners: IntArray,
) -> None:
    """Fill `winners` `(n,)` with the best row on offer of each of `tables` `(n, rows, d)`, one after the other.

    What is left out meanwhile is what `Traffic.within_limits` leaves out of one decision after the other. `counts` `(4,
    options)` are the tallies of the options, brought up to date: decisions open, and unanswered in a row, how many of
    these are fine, and rewards told; of no options, where nobody counts. `is_forced` says that tries are forced now;
    `allowed` `(offered,)` is room. The policy is told of rounds after `decided` ones, of this horizon, with decisions
    `pending` `(arms,)`, which is brought up to date.
    """
    n_open = 0
    for option in range(counts.shape[1]):
        n_open += counts[0, option]
    for user in range(tables.shape[0]):
        n_allowed = leave_out(offered, counts, n_open, is_forced, allowed)
        tell_round(state, decided + user, rounds_left(horizon, decided + user), pending)
        state.score(tables[user], rng, scores)
        winner = best_arm(scores, allowed[:n_allowed], rng)
        winners[user] = winner
        pending[winner] += 1
        if counts.shape[1] > 0:
            counts[0, winner] += 1
            counts[1, winner] += 1
            n_open += 1


@inlined
def leave_out(offered: IntArray, counts: IntArray, n_open: int, is_forced: bool, allowed: IntArray) -> int:
    """Fill `allowed` with those on offer that may be chosen while so many decisions wait, and return how many."""
    if n_open == 0:
        for place in range(offered.size):
            allowed[place] = offered[place]
        return offered.size
    most = (n_open + offered.size) // offered.size  # an equal part of the open decisions after this one, rounded up
    n_allowed = 0
    for option in offered:
        is_unheard = counts[0, option] > 0 and counts[1, option] >= counts[2, option]
        if offered.size == 1 or not (is_unheard and counts[0, option] >= most):
            allowed[n_allowed] = option
            n_allowed += 1
    if is_forced:
        least = counts[0, allowed[0]] + counts[3, allowed[0]]
        for option in allowed[:n_allowed]:
            least = min(least, counts[0, option] + counts[3, option])
        n_least = 0
        for option in allowed[:n_allowed]:
            if counts[0, option] + counts[3, option] == least:
                allowed[n_least] = option
                n_least += 1
        n_allowed = n_least
    return n_allowed
