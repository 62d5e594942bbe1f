"""The best ranking where no formula gives it: try all, or exchange documents until nothing improves."""

import math
from typing import Any

import numpy as np

from corebandit.compiled import EntryPoint
from corebandit.state import IntArray

FEW_ENOUGH = 4_000_000  # rankings to try: all of ten documents take about a second
NOTICEABLE = 1e-12  # differences of values below are rounding; ties go to the order of attraction


def best_ranking(user: Any, n_positions: int) -> IntArray:
    """Return the ranking of `n_positions` of the user's documents with the highest `user.value(ranking)`.

    Exact if there are at most four million rankings (ten documents). Otherwise from the order of attraction, documents
    are exchanged, shown with shown and shown with hidden, until no exchange improves the value.
    """
    order = np.argsort(-user.attraction, kind="stable")
    if math.perm(order.size, n_positions) <= FEW_ENOUGH:
        best = order[:n_positions].copy()
        try_all.prepared(user)(user, order, np.full(n_positions, -1), np.zeros(order.size, bool), best.copy(), best)
        return best
    exchange.prepared(user)(user, order, n_positions)
    return order[:n_positions].copy()


@EntryPoint
def try_all(user: Any, order: Any, at: Any, is_used: Any, ranking: Any, best: Any) -> None:
    """Fill `best` with the best of all rankings; `at` holds the place in `order` of each position's document."""
    highest = user.value(best)
    last, depth = best.size - 1, 0
    while depth >= 0:
        if at[depth] >= 0:
            is_used[at[depth]] = False
        at[depth] += 1
        while at[depth] < order.size and is_used[at[depth]]:
            at[depth] += 1
        if at[depth] == order.size:
            at[depth] = -1
            depth -= 1
            continue
        is_used[at[depth]] = True
        ranking[depth] = order[at[depth]]
        if depth < last:
            depth += 1
            continue
        value = user.value(ranking)
        if value > highest + NOTICEABLE:
            highest = value
            best[:] = ranking


@EntryPoint
def exchange(user: Any, order: Any, n_positions: int) -> None:
    """Exchange documents of `order` while that improves its first `n_positions`."""
    highest, has_improved = user.value(order[:n_positions]), True
    while has_improved:
        has_improved = False
        for i in range(n_positions):
            for j in range(i + 1, order.size):
                order[i], order[j] = order[j], order[i]
                value = user.value(order[:n_positions])
                if value > highest + NOTICEABLE:
                    highest, has_improved = value, True
                else:
                    order[i], order[j] = order[j], order[i]
