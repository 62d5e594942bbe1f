"""The compiled steps of a decision: choose, learn. They stand on little, so that little makes them compile anew.

What draws many times is compiled only for those who ask for probabilities.
"""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint, inlined
from corebandit.compiled.optional_methods import prepare, tell_round
from corebandit.contracts.features import LARGEST_FEATURE
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.parts.choose import best_arm
from corebandit.randomness.stream import Stream


@EntryPoint.allocating_nothing
def begin_decision(state: Any, decided: int, left: int, pending: IntArray) -> None:
    """Tell a state of the round that begins."""
    tell_round(state, decided, left, pending)


@EntryPoint.allocating_nothing
def prepare_decision(state: Any, rng: Stream) -> bool:
    """Let a state do what must happen before a decision, and tell whether anything has changed."""
    return prepare(state, rng)


@EntryPoint.allocating_nothing
def select(state: Any, rng: Stream, scores: FloatArray, offered: IntArray) -> int:
    """Score all arms and return the best on offer."""
    state.score(rng, scores)
    return best_arm(scores, offered, rng)


@EntryPoint.allocating_nothing
def draw_arms(
    state: Any, rng: Stream, scores: FloatArray, offered: IntArray, prepares: bool, winners: IntArray
) -> None:
    """Prepare, if asked to, and score all arms as often as `winners` has places, and fill it with the best on offer."""
    for draw in range(winners.size):
        if prepares:
            prepare(state, rng)
        state.score(rng, scores)
        winners[draw] = best_arm(scores, offered, rng)


@EntryPoint.allocating_nothing
def learn(state: Any, rng: Stream, arm: int, reward: float) -> None:
    """Learn from one reward."""
    state.update(arm, reward, rng)


@EntryPoint.allocating_nothing
def select_row(
    state: Any, rng: Stream, features: FloatArray, scores: FloatArray, offered: IntArray, seen: FloatArray, reach: float
) -> int:
    """Score all rows and return the best on offer; or -1, with nothing done, if a feature is out of reach.

    If features are larger than those `seen`, the index i comes as -2 - i.
    """
    larger = reach_of(features, seen, reach)
    if larger < 0:
        return -1
    state.score(features, rng, scores)
    index = best_arm(scores, offered, rng)
    return -2 - index if larger else index


@inlined
def reach_of(features: FloatArray, seen: FloatArray, reach: float) -> int:
    """Return -1 if a feature is not finite or too large, 1 if any is larger than all that were seen, else 0.

    The first row of `seen` `(2, d)` is the size of the largest feature of each column so far; the second is room for
    the same with these rows. If `reach` is above 0, more than so many times as much is too large; in a column of zeros,
    more than so many times what was largest anywhere.
    """
    largest, these = seen[0], seen[1]
    for j in range(largest.size):
        these[j] = largest[j]
    is_larger = False
    for place in range(features.shape[0]):
        row, n_larger = features[place], 0
        for j in range(row.size):
            n_larger += not abs(row[j]) <= these[j]
        if n_larger > 0:  # hardly ever
            is_larger = True
            for j in range(row.size):
                if not abs(row[j]) <= LARGEST_FEATURE:
                    return -1
                these[j] = max(these[j], abs(row[j]))
    if not is_larger:
        return 0
    top = 0.0
    for j in range(largest.size):
        top = max(top, largest[j])
    for j in range(largest.size):
        if reach > 0.0 and top > 0.0 and these[j] > reach * (largest[j] if largest[j] > 0.0 else top):
            return -1
    return 1


@EntryPoint.allocating_nothing
def draw_rows(
    state: Any,
    rng: Stream,
    features: FloatArray,
    scores: FloatArray,
    offered: IntArray,
    prepares: bool,
    winners: IntArray,
) -> None:
    """Prepare, if asked to, and score all rows as often as `winners` has places, and fill it with the best on offer."""
    for draw in range(winners.size):
        if prepares:
            prepare(state, rng)
        state.score(features, rng, scores)
        winners[draw] = best_arm(scores, offered, rng)


@EntryPoint.allocating_nothing
def learn_row(state: Any, rng: Stream, arm: int, x: FloatArray, reward: float) -> None:
    """Learn from one reward of a row."""
    state.update(arm, x, reward, rng)


@EntryPoint.allocating_nothing
def select_ranking(state: Any, rng: Stream, ranking: IntArray, offered: IntArray, shown: IntArray) -> None:
    """Rank the items and fill `shown` with the first that are on offer, `offered`, ascending."""
    state.rank(rng, ranking)
    keep_offered(ranking, offered, shown)


@EntryPoint.allocating_nothing
def draw_rankings(state: Any, rng: Stream, ranking: IntArray, offered: IntArray, shown: IntArray) -> None:
    """Prepare and rank as often as `shown` has rows, and fill each with the first items that are on offer."""
    for draw in range(shown.shape[0]):
        prepare(state, rng)
        state.rank(rng, ranking)
        keep_offered(ranking, offered, shown[draw])


@inlined
def keep_offered(ranking: IntArray, offered: IntArray, shown: IntArray) -> None:
    """Fill `shown` with the first of a ranking that are on offer, `offered`, ascending."""
    n_shown = 0
    for item in ranking:
        place = np.searchsorted(offered, item)
        if n_shown < shown.size and place < offered.size and offered[place] == item:
            shown[n_shown] = item
            n_shown += 1


@EntryPoint.allocating_nothing
def learn_clicks(state: Any, rng: Stream, ranking: IntArray, clicks: IntArray) -> None:
    """Learn from the clicks on a ranking."""
    state.learn(ranking, clicks, rng)
