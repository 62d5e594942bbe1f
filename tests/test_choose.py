"""From scores to a decision."""

import math
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from corebandit.choose import best_arm
from corebandit.stream import Stream, stream

IntArray = NDArray[np.int64]


@numba.njit
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
