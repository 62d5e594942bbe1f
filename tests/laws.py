"""Comparisons of draws with laws of SciPy, which fail by chance once in a million times."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FALSE_ALARM = 1e-6
N_SIGMA = float(stats.norm.isf(FALSE_ALARM / 2.0))


def assert_follows(draws: FloatArray, law: Any, lowest: float = -math.inf, highest: float = math.inf) -> None:
    """Compare with a continuous law in a thousand bins, by chi-square and by Kolmogorov-Smirnov.

    What lies below `lowest` is one bin, and so is what lies above `highest`.
    """
    edges = law.ppf(np.arange(1, 1_000) / 1_000.0)
    edges = edges[(edges >= lowest) & (edges <= highest)]
    expected = np.diff(law.cdf(edges), prepend=0.0, append=1.0)
    observed = np.bincount(np.searchsorted(edges, draws), minlength=expected.size) / draws.size
    if expected.size > 1:
        assert stats.chisquare(draws.size * observed, draws.size * expected, sum_check=False).pvalue > FALSE_ALARM
    distance = np.abs(np.cumsum(observed - expected)).max()
    limit = math.sqrt(-math.log(FALSE_ALARM / 2.0) / (2.0 * draws.size))
    assert distance < limit, f"Kolmogorov-Smirnov distance {distance:.5f}, at most {limit:.5f} expected"


def assert_mean_and_variance(draws: NDArray[Any], mean: float, variance: float, excess_kurtosis: float) -> None:
    """Compare the first two moments, each within what chance allows."""
    error = math.sqrt(variance / draws.size)
    assert abs(draws.mean() - mean) <= N_SIGMA * error
    error_of_variance = variance * math.sqrt((excess_kurtosis + 2.0) / draws.size)
    assert abs(((draws - mean) ** 2).mean() - variance) <= N_SIGMA * error_of_variance


def bins_of_at_least(expected: FloatArray, smallest: float) -> IntArray:
    """Return the first index of each bin when neighbours are merged until every bin expects `smallest`."""
    starts, in_bin = [0], 0.0
    for index, count in enumerate(expected):
        if in_bin >= smallest:
            starts.append(index)
            in_bin = 0.0
        in_bin += count
    if in_bin < smallest and len(starts) > 1:
        starts.pop()
    return np.array(starts)


def assert_counts_follow(draws: IntArray, law: Any) -> None:
    """Compare with a discrete law by chi-square, in fine bins (the tails) and in about a hundred (the shape)."""
    low, high = int(min(law.ppf(1e-9), draws.min())), int(max(law.isf(1e-9), draws.max()))
    expected = draws.size * law.pmf(np.arange(low, high + 1))
    expected[0] += draws.size * law.cdf(low - 1)
    expected[-1] += draws.size * law.sf(high)
    observed = np.bincount(draws - low, minlength=high - low + 1)
    for smallest in (10.0, draws.size / 100.0):
        starts = bins_of_at_least(expected, smallest)
        if starts.size > 1:
            test = stats.chisquare(
                np.add.reduceat(observed, starts), np.add.reduceat(expected, starts), sum_check=False
            )
            assert test.pvalue > FALSE_ALARM
