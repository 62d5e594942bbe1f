"""Means with intervals: bootstrap over runs, which are paired between policies."""

from typing import NamedTuple

import numpy as np

from corebandit.state import FloatArray

N_RESAMPLES = 4000
LEVEL = 0.95


class Interval(NamedTuple):
    """An estimate and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


def resampled_means(values: FloatArray, seed: int = 0) -> FloatArray:
    """Return means `(resamples, ...)` of `values` `(runs, ...)` over runs drawn with replacement.

    The same runs are drawn for every array of as many runs, so what is paired stays paired.
    """
    n_runs = values.shape[0]
    picks = np.random.default_rng(seed).integers(n_runs, size=(N_RESAMPLES, n_runs))
    weights = np.zeros((N_RESAMPLES, n_runs))
    np.add.at(weights, (np.arange(N_RESAMPLES)[:, None], picks), 1.0 / n_runs)
    return weights @ values


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


def standard_error(values: FloatArray) -> float:
    """Return the standard error of the mean; zero of a single run."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else 0.0


def _middle(means: FloatArray) -> tuple[FloatArray, FloatArray]:
    tail = 100.0 * (1.0 - LEVEL) / 2.0
    low, high = np.percentile(means, [tail, 100.0 - tail], axis=0)
    return low, high
