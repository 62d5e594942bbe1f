"""From scores to a decision."""

import math
from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from compiled_once import compiled_once
from corebandit.parts.choose import best_arm, best_items
from corebandit.randomness.stream import Stream, stream

IntArray = NDArray[np.int64]


@compiled_once
def count_choices(
    scores: NDArray[np.float64], offered: IntArray, rng: Stream, n_choices: int, counts: IntArray
) -> None:
    for _ in range(n_choices):
        counts[best_arm(scores, offered, rng)] += 1


def counts_of(scores: list[float], offered: Any, n_choices: int) -> IntArray:
    counts = np.zeros(len(scores), np.int64)
    count_choices(np.array(scores), np.array(offered, np.int64), stream(1, "choose"), n_choices, counts)
    return counts


def chosen(scores: list[float], offered: list[int] | None = None) -> set[int]:
    """Return the arms that are chosen at all, in two hundred choices."""
    offered = list(range(len(scores))) if offered is None else offered
    return set(np.flatnonzero(counts_of(scores, offered, 200)).tolist())


INF = math.inf


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([0.1, 0.3, 0.2], {1}),
        ([0.3], {0}),
        ([-1.0, -3.0, -2.0], {0}),
        ([0.0, 1.0, 1.0], {1, 2}),
        ([1.0, 0.0, 1.0], {0, 2}),
        ([0.0, -0.0], {0, 1}),
        ([1.0, INF, 2.0, INF], {1, 3}),
        ([-INF, 0.0, -INF], {1}),
        ([-INF, -INF], {0, 1}),
        ([-INF, INF], {1}),
        ([INF, 5.0], {0}),
    ],
)
def test_exactly_the_best_arms_are_chosen(scores: list[float], best: set[int]) -> None:
    assert chosen(scores) == best


@pytest.mark.parametrize(
    ("offered", "best"),
    [([0, 1], {1}), ([0, 2], {0, 2}), ([2], {2}), ([3, 0], {0}), ([3, 2, 0, 4], {0, 2, 4}), ([2, 4], {2, 4})],
)
def test_only_arms_on_offer_are_chosen(offered: list[int], best: set[int]) -> None:
    assert chosen([1.0, 9.0, 1.0, 0.0, 1.0], offered) == best


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("scores", "offered", "tied"),
    [
        ([1.0, 1.0], [0, 1], [0, 1]),
        ([0.0] * 7, range(7), range(7)),
        ([1.0, 1.0, 2.0, 2.0], range(4), [2, 3]),  # a tie that is beaten does not count
        ([1.0, 1.0, 1.0], [1, 2], [1, 2]),  # nor does an arm that is not on offer
        ([2.0, 1.0, 2.0, 0.0, 2.0], range(5), [0, 2, 4]),
        ([1.0, 2.0, 2.0, 5.0, 2.0], [4, 2, 0, 1], [1, 2, 4]),
        ([INF, 0.0, INF], range(3), [0, 2]),
        ([-INF] * 3, range(3), range(3)),
    ],
)
def test_ties_are_broken_uniformly(scores: list[float], offered: Any, tied: Any) -> None:
    counts = counts_of(scores, offered, 300_000)
    assert counts.sum() == counts[list(tied)].sum()
    assert stats.chisquare(counts[list(tied)]).pvalue > 1e-6


def test_randomness_is_used_only_for_ties() -> None:
    rng = stream(2, "ties")
    before = rng.words.copy()
    for scores in ([0.0, 1.0, 0.5], [0.5, 0.5, 1.0]):
        best_arm(np.array(scores), np.arange(3), rng)
        np.testing.assert_array_equal(rng.words, before)
    best_arm(np.array([1.0, 1.0, 0.5]), np.arange(3), rng)
    assert (rng.words != before).any()


def test_python_and_compiled_code_choose_alike() -> None:
    scores, offered, rng = np.array([1.0, 1.0, 0.0, 1.0]), np.arange(4), stream(1, "choose")
    counts = np.zeros(4, np.int64)
    for _ in range(300):
        counts[best_arm(scores, offered, rng)] += 1
    np.testing.assert_array_equal(counts, counts_of(scores.tolist(), offered, 300))


@pytest.mark.parametrize(
    "scores", [[math.nan], [math.nan, 1.0], [1.0, math.nan], [1.0, math.nan, 2.0], [INF, math.nan]]
)
def test_a_score_that_is_not_a_number_is_refused(scores: list[float]) -> None:
    with pytest.raises(ValueError, match="NaN"):
        best_arm(np.array(scores), np.arange(len(scores)), stream(3, "nan"))


def ranked(scores: list[float], n_places: int, seed: int = 1) -> list[int]:
    ranking = np.full(n_places, -1)
    best_items(np.array(scores), stream(seed, "rank"), ranking)
    return ranking.tolist()


@compiled_once
def rank_often(scores: NDArray[np.float64], rng: Stream, rankings: IntArray) -> None:
    for index in range(rankings.shape[0]):
        best_items(scores, rng, rankings[index])


def possible_rankings(scores: list[float], n_places: int) -> set[tuple[int, ...]]:
    """Return all rankings that show the highest scores in decreasing order."""
    highest = sorted(scores, reverse=True)[:n_places]
    tuples = permutations(range(len(scores)), n_places)
    return {items for items in tuples if [scores[item] for item in items] == highest}


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("scores", "n_places", "n_possible"),
    [
        ([1.0, 1.0, 1.0, 0.0], 2, 6),
        ([0.5, 2.0, 0.5, 0.0, 0.5], 3, 6),
        ([1.0, 1.0, 2.0, 2.0, 0.0, 1.0], 4, 12),
        ([3.0, 1.0, 3.0, 1.0, 3.0], 4, 12),
        ([0.0] * 4, 4, 24),
        ([0.0] * 5, 2, 20),
        ([INF, 1.0, INF, -INF, 1.0], 5, 4),
        ([-INF] * 3, 1, 3),
    ],
)
def test_all_rankings_of_tied_items_are_equally_likely(scores: list[float], n_places: int, n_possible: int) -> None:
    rankings = np.full((40_000, n_places), -1)
    rank_often(np.array(scores), stream(5, "rankings"), rankings)
    counts = Counter(map(tuple, rankings.tolist()))
    assert set(counts) == possible_rankings(scores, n_places)
    assert len(counts) == n_possible
    assert stats.chisquare(list(counts.values())).pvalue > 1e-6


def test_items_without_ties_are_ranked_by_their_scores_and_use_no_randomness() -> None:
    rng, shuffled = stream(2, "ties"), np.random.default_rng(3)
    before = rng.words.copy()
    for n_places in range(1, 9):
        scores = shuffled.permutation(np.linspace(-1.0, 1.0, 8))
        ranking = np.full(n_places, -1)
        best_items(scores, rng, ranking)
        np.testing.assert_array_equal(ranking, np.argsort(-scores)[:n_places])
    assert ranked([0.2, INF, -INF, 0.3], 4) == [1, 3, 0, 2]
    np.testing.assert_array_equal(rng.words, before)


def test_a_tie_below_the_last_place_uses_no_randomness() -> None:
    rng = stream(2, "ties")
    before = rng.words.copy()
    best_items(np.array([1.0, 3.0, 1.0, 2.0]), rng, np.zeros(2, np.int64))
    np.testing.assert_array_equal(rng.words, before)


def test_python_and_compiled_code_rank_alike() -> None:
    scores, rankings = np.array([1.0, 1.0, 0.0, 1.0, 0.0]), np.full((200, 4), -1)
    rank_often(scores, stream(6, "alike"), rankings)
    rng = stream(6, "alike")
    for expected in rankings:
        ranking = np.full(4, -1)
        best_items(scores, rng, ranking)
        np.testing.assert_array_equal(ranking, expected)


def test_a_single_place_is_filled_as_an_arm_is_chosen() -> None:
    scores, rng, twin = np.array([1.0, 1.0, 0.0, 1.0]), stream(7, "one"), stream(7, "one")
    for _ in range(100):
        ranking = np.full(1, -1)
        best_items(scores, rng, ranking)
        assert ranking[0] == best_arm(scores, np.arange(4), twin)


def test_items_scored_nan_or_missing_are_refused() -> None:
    for scores in ([1.0, math.nan], [math.nan, 1.0], [2.0, 1.0, math.nan]):
        with pytest.raises(ValueError, match="NaN"):
            ranked(scores, 1)
    with pytest.raises(ValueError, match="fewer items than places"):
        ranked([1.0, 2.0], 3)
