"""Means with intervals: bootstrap over runs, which are paired between policies."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, check_number, shortened

N_RESAMPLES = 4000
LEVEL = 0.95


class Interval(NamedTuple):
    """An estimate and its 95 % interval."""

    value: float
    low: float
    high: float


def resampled_means(values: FloatArray, seed: int = 0) -> FloatArray:
    """Return means `(resamples, ...)` of `values` `(runs, ...)` over runs drawn with replacement.

    The same runs are drawn for every array of as many runs, so what is paired stays paired.
    """
    return _weights(values.shape[0], seed) @ values


@lru_cache(maxsize=16)  # many curves have as many runs
def _weights(n_runs: int, seed: int) -> FloatArray:
    """Return the weight of each run in each resample, `(resamples, runs)`."""
    picks = np.random.default_rng(seed).integers(n_runs, size=(N_RESAMPLES, n_runs))
    weights = np.zeros((N_RESAMPLES, n_runs))
    np.add.at(weights, (np.arange(N_RESAMPLES)[:, None], picks), 1.0 / n_runs)
    weights.setflags(write=False)
    return weights


def mean_interval(values: FloatArray) -> Interval:
    """Return the mean of `values` `(runs,)` and its interval."""
    low, high = _middle(resampled_means(values))
    return Interval(float(values.mean()), float(low), float(high))


def mean_intervals(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the means of `values` `(runs, n)` and the ends of their intervals, each `(n,)`."""
    low, high = _middle(resampled_means(values))
    return values.mean(axis=0), low, high


def ratio_interval(numerator: FloatArray, denominator: FloatArray) -> Interval:
    """Return the ratio of the means of two paired samples `(runs,)` and its interval."""
    low, high = _middle(resampled_means(numerator) / resampled_means(denominator))
    return Interval(float(numerator.mean() / denominator.mean()), float(low), float(high))


def growth_ratio_interval(growing: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray]) -> Interval:
    """Return how many times more one quantity grows than another, and its interval.

    Each is two samples `(runs,)`, later and earlier; all four are paired. What grows is their mean.
    """
    (late, early), (other_late, other_early) = growing, other
    value = (late.mean() / early.mean()) / (other_late.mean() / other_early.mean())
    late, early, other_late, other_early = map(resampled_means, (late, early, other_late, other_early))
    low, high = _middle((late / early) / (other_late / other_early))
    return Interval(float(value), float(low), float(high))


def frequency_interval(failures: int, runs: int) -> Interval:
    """Return the share of failures and its exact 95 % interval (Clopper and Pearson, 1934).

    >>> round(frequency_interval(0, 1000).high, 5)
    0.00368
    """
    from scipy.stats import beta

    check_count("runs", runs)
    if check_count("failures", failures, at_least=0) > runs:
        raise BadInput(f"failures must be a whole number of at most {runs}, the runs, not {shortened(failures)}")
    tail = (1.0 - LEVEL) / 2.0
    low = beta.ppf(tail, failures, runs - failures + 1) if failures > 0 else 0.0
    high = beta.ppf(1.0 - tail, failures + 1, runs - failures) if failures < runs else 1.0
    return Interval(failures / runs, float(low), float(high))


def growth_exponent(sizes: Sequence[float], regret: Sequence[FloatArray], *, paired: bool = False) -> Interval:
    """Fit mean regret = c · size^b by least squares of logarithms, and return b with its bootstrap interval.

    `regret` holds, for each of the `sizes` `(m,)`, the regret of its runs `(runs,)`. They are `paired` if a run is the
    same problem with the same rewards at every size; then the same runs are drawn for all sizes.

    >>> round(growth_exponent([100, 400], [np.array([10.0, 10.0]), np.array([20.0, 20.0])]).value, 6)
    0.5
    """
    logs = np.log([check_number("sizes", size, above=0) for size in sizes])
    if len(set(logs.tolist())) < 2:
        raise BadInput(f"sizes must hold at least two different numbers, not {shortened(list(sizes))}")
    if len(regret) != logs.size:
        raise BadInput(f"regret must hold one array for each of the {logs.size} sizes, not {len(regret)}")
    means = np.empty(logs.size)
    resampled = np.empty((N_RESAMPLES, logs.size))
    for column, values in enumerate(np.asarray(sample, np.float64) for sample in regret):
        if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
            raise BadInput(
                f"regret must be finite numbers (runs,) at every size, but is not at {shortened(sizes[column])}"
            )
        means[column] = values.mean()
        resampled[:, column] = resampled_means(values, seed=0 if paired else column)
        if min(means[column], resampled[:, column].min()) <= 0.0:
            raise BadInput(
                f"regret must be so far above 0 that resampled means are, but is not at {shortened(sizes[column])}"
            )
    weights = (logs - logs.mean()) / np.sum((logs - logs.mean()) ** 2)
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(np.log(resampled) @ weights, [tail, 1.0 - tail])
    return Interval(float(np.log(means) @ weights), float(low), float(high))


def standard_error(values: FloatArray) -> float:
    """Return the standard error of the mean; zero of a single run."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else 0.0


def _middle(means: FloatArray) -> tuple[FloatArray, FloatArray]:
    tail = 100.0 * (1.0 - LEVEL) / 2.0
    low, high = np.percentile(means, [tail, 100.0 - tail], axis=0)
    return low, high
