"""The compiled steps of a decision: choose, learn. They stand on little, so that little makes them compile anew."""

from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.features import LARGEST_FEATURE
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.parts.choose import best_arm
from corebandit.randomness.stream import Stream


@EntryPoint
def select(state: Any, rng: Stream, scores: FloatArray, offered: IntArray) -> int:
    """Score all arms and return the best on offer."""
    state.score(rng, scores)
    return best_arm(scores, offered, rng)


@EntryPoint
def learn(state: Any, rng: Stream, arm: int, reward: float) -> None:
    """Learn from one reward."""
    state.update(arm, reward, rng)


@EntryPoint
def select_row(state: Any, rng: Stream, features: FloatArray, scores: FloatArray, offered: IntArray) -> int:
    """Score all rows and return the best on offer, or -1, with nothing done, if a feature is not finite or is huge."""
    n_bad = 0
    for row in range(features.shape[0]):
        for j in range(features.shape[1]):
            n_bad += not abs(features[row, j]) <= LARGEST_FEATURE
    if n_bad > 0:
        return -1
    state.score(features, rng, scores)
    return best_arm(scores, offered, rng)


@EntryPoint
def learn_row(state: Any, rng: Stream, arm: int, x: FloatArray, reward: float) -> None:
    """Learn from one reward of a row."""
    state.update(arm, x, reward, rng)


@EntryPoint
def select_ranking(state: Any, rng: Stream, ranking: IntArray, offered: IntArray, shown: IntArray) -> None:
    """Rank the items and fill `shown` with the first that are on offer, `offered`, ascending."""
    state.rank(rng, ranking)
    n_shown = 0
    for item in ranking:
        place = np.searchsorted(offered, item)
        if n_shown < shown.size and place < offered.size and offered[place] == item:
            shown[n_shown] = item
            n_shown += 1


@EntryPoint
def learn_clicks(state: Any, rng: Stream, ranking: IntArray, clicks: IntArray) -> None:
    """Learn from the clicks on a ranking."""
    state.learn(ranking, clicks, rng)
