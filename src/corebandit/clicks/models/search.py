"""The best ranking where no formula gives it: by dynamic programming, by trying all, or by exchanging documents."""

import math
from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.state import FloatArray, IntArray

FEW_DOCUMENTS = 20  # whose subsets, a million, take a second
FEW_ENOUGH = 4_000_000  # rankings to try: all of ten documents take about a second
NOTICEABLE = 1e-12  # differences of values below are rounding; ties go to the order of attraction


def best_by_subsets(attraction: FloatArray, stop: FloatArray, n_positions: int) -> IntArray:
    """Return the ranking with the most clicks if a click at rank k ends the reading with probability `stop[k]`.

    What follows depends on the documents shown so far, S, but not on their order:

        V(S) = max over i not in S of v_i + (1 - s_|S| v_i) V(S + i),   V(S) = 0 once all positions are filled

    Exact, for all subsets of up to `FEW_DOCUMENTS` documents; ties go to the order of attraction.
    """
    order = np.argsort(-attraction, kind="stable")
    subsets = np.arange(1 << order.size)
    sizes = np.bitwise_count(subsets)
    values = np.zeros(subsets.size)
    for rank in range(n_positions - 1, -1, -1):
        shown = subsets[sizes == rank]
        best = np.full(shown.size, -np.inf)
        for place, document in enumerate(order):
            is_left = (shown >> place & 1) == 0
            clicks = attraction[document] + (1.0 - stop[rank] * attraction[document]) * values[shown | 1 << place]
            best = np.where(is_left, np.maximum(best, clicks), best)
        values[shown] = best
    ranking, above = np.empty(n_positions, dtype=np.int64), 0
    for rank in range(n_positions):
        highest, chosen = -np.inf, -1
        for place, document in enumerate(order):
            if above >> place & 1 == 0:
                clicks = attraction[document] + (1.0 - stop[rank] * attraction[document]) * values[above | 1 << place]
                if clicks > highest + NOTICEABLE:
                    highest, chosen = clicks, place
        ranking[rank], above = order[chosen], above | 1 << chosen
    return ranking


def best_ranking(user: Any, n_positions: int) -> IntArray:
    """Return the ranking of `n_positions` of the user's documents with the highest `user.value(ranking)`.

    Exact if there are at most four million rankings (ten documents). Otherwise from the order of attraction, documents
    are exchanged, shown with shown and shown with hidden, until no exchange improves the value: there may be a better
    ranking that no single exchange leads to.
    """
    order = np.argsort(-user.attraction, kind="stable")
    if math.perm(order.size, n_positions) <= FEW_ENOUGH:
        best = order[:n_positions].copy()
        try_all.compiled(user, order, np.full(n_positions, -1), np.zeros(order.size, bool), best.copy(), best)
        return best
    exchange.compiled(user, order, n_positions)
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
