"""Means with intervals: studentised bootstrap over runs, which are paired between policies.

Regret has a heavy right tail, and a sample of few runs usually misses it: an interval that is as wide to the left as to
the right, or that takes resampled means as they are (percentiles), then lies too low. The studentised bootstrap looks
at how far resampled means fall from the mean *in units of their own standard error*: resamples that miss the tail have
a small one, which stretches the interval to where the tail is (Hall, 1988). `docs/coverage.md` says how often
these intervals contain the truth, by number of runs, on regrets of real policies.

Quantities that are ratios, growth and exponents are linear in logarithms of means, whose standard error is found by the
delta method in the sample and in every resample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from corebandit.contracts.state import FloatArray
from corebandit.statistics.resampling import (
    N_RESAMPLES_OF_BANDS,
    resampled,
    resampled_covariances,
    resampled_means,
)
from corebandit.statistics.tails import share_beyond

ROUNDING = 1e-12  # of the variances of two samples, what rounding leaves of their difference
LEVEL = 0.95


class Interval(NamedTuple):
    """An estimate and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate, its standard error, and resampled estimates with theirs; the error of a single run is infinite.

    Interval and chances are those of the studentised bootstrap, and fit each other: the 95 % interval ends at a bound
    exactly where the chance of being on its other side is 2.5 %.
    """

    value: float
    error: float
    resampled: FloatArray  # (resamples,) estimates
    errors: FloatArray  # (resamples,) and their standard errors

    @cached_property
    def distances(self) -> FloatArray:
        """Return how far resampled estimates fall from the estimate, in units of their own error."""
        return _distances(self.value, self.resampled, self.errors)

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the estimate and an interval of this level."""
        if self.error == 0.0:
            return Interval(self.value, self.value, self.value)
        if self.error == np.inf:
            return Interval(self.value, -np.inf, np.inf)
        low, high = _quantiles(self.distances, (1.0 - level) / 2.0)
        return Interval(self.value, float(self.value - high * self.error), float(self.value - low * self.error))

    def chance_above(self, bound: float) -> float:
        """Return the p-value of the statement that the truth is below `bound`: small where it is."""
        return self._chance(self.value - bound, 1.0)

    def chance_below(self, bound: float) -> float:
        """Return the p-value of the statement that the truth is at `bound` or above: small where it is."""
        return self._chance(self.value - bound, -1.0)

    def _chance(self, gap: float, sign: float) -> float:
        if self.error == np.inf:
            return 1.0
        if self.error == 0.0:  # then it is known: below the bound, or not
            return float((gap >= 0.0) == (sign > 0.0))
        return share_beyond(-sign * self.distances, -sign * gap / self.error)


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest of several estimates from the same runs, whichever of them it is in truth.

    That the largest is below a bound says that all are: so the least sure of them decides. That it is above a bound
    says that some is, and the largest of several samples is high by luck: so it must stand out from the largest
    distance of all in each resample, with which even equal ones keep their level.
    """

    parts: Sequence[Estimate]

    @property
    def _first(self) -> Estimate:
        return max(self.parts, key=lambda part: part.value)

    @property
    def value(self) -> float:
        """Return the largest estimate."""
        return self._first.value

    @property
    def error(self) -> float:
        """Return its standard error."""
        return self._first.error

    @cached_property
    def distances(self) -> FloatArray:
        """Return the largest distance in each resample, of parts that have an error."""
        distances: FloatArray = np.max([part.distances for part in self._unsure], axis=0)
        return distances

    @property
    def _unsure(self) -> list[Estimate]:
        return [part for part in self.parts if part.error > 0.0]

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the largest estimate and an interval of this level."""
        if any(part.error == np.inf for part in self.parts):
            return Interval(self.value, -np.inf, np.inf)
        _, furthest = _quantiles(self.distances, (1.0 - level) / 2.0) if self._unsure else (None, 0.0)
        low = max(part.value - furthest * part.error if part.error else part.value for part in self.parts)
        high = max(part.interval(level).high for part in self.parts)
        return Interval(self.value, float(low), high)

    def chance_above(self, bound: float) -> float:
        """Return the p-value of the statement that all are below `bound`."""
        return max(part.chance_above(bound) for part in self.parts)

    def chance_below(self, bound: float) -> float:
        """Return the p-value of the statement that some is at `bound` or above."""
        if any(part.error == 0.0 and part.value >= bound for part in self.parts):
            return 0.0
        if not self._unsure:
            return 1.0
        return share_beyond(self.distances, max((part.value - bound) / part.error for part in self._unsure))


# Estimates --------------------------------------------------------------------------------------------------------


def mean_estimate(values: FloatArray) -> Estimate:
    """Estimate the mean of `values` `(runs,)`."""
    (estimate,) = mean_estimates(values[:, None])
    return estimate


def mean_estimates(values: FloatArray) -> list[Estimate]:
    """Estimate the means of the columns of `values` `(runs, n)`."""
    means, errors = resampled(values)
    return [
        Estimate(float(column.mean()), _error(column), mean, error)
        for column, mean, error in zip(values.T, means.T, errors.T, strict=True)
    ]


def log_estimate(samples: FloatArray, weights: Sequence[float]) -> Estimate:
    """Estimate the sum of `weights` times logarithms of the means of paired `samples` `(runs, n)`, which are positive.

    With the weights 1 and -1 this is the logarithm of a ratio of means.
    """
    factors = np.asarray(weights, np.float64)
    means = samples.mean(axis=0)
    resampled, covariances = resampled_covariances(samples)
    with np.errstate(divide="ignore", invalid="ignore"):  # a resampled mean may be 0: then it is infinitely far
        value = float(np.log(means) @ factors)
        error = _error(samples @ (factors / means))
        slopes = factors / resampled
        variances = np.einsum("bi,bij,bj->b", slopes, covariances, slopes)
        # What rounding leaves of samples in proportion is no error.
        scale = np.einsum("bi,bii,bi->b", slopes, covariances, slopes)
        variances = np.where(variances > ROUNDING * scale, variances, 0.0)
        error = error if error**2 > ROUNDING * scale.mean() else 0.0
        return Estimate(value, error, np.log(resampled) @ factors, np.sqrt(variances))


def mean_interval(values: FloatArray) -> Interval:
    """Return the mean of `values` `(runs,)` and its interval."""
    return mean_estimate(values).interval()


def mean_intervals(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the means of `values` `(runs, n)` and the ends of their intervals, each `(n,)`: the band of a curve."""
    value = values.mean(axis=0)
    if len(values) == 1:
        return value, np.full(value.size, -np.inf), np.full(value.size, np.inf)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    low, high = _quantiles(_distances(value, *resampled(values, N_RESAMPLES_OF_BANDS)), (1.0 - LEVEL) / 2.0)
    with np.errstate(invalid="ignore"):  # where all runs are alike, nothing is far times no error
        ends = [np.where(error == 0.0, value, value - end * error) for end in (high, low)]
    return value, *ends


def log_ratio(numerator: FloatArray, denominator: FloatArray) -> Estimate:
    """Estimate the logarithm of the ratio of the means of two paired, positive samples `(runs,)`."""
    return log_estimate(np.stack([numerator, denominator], axis=1), (1.0, -1.0))


def largest_log_ratio(numerators: Sequence[FloatArray], denominators: Sequence[FloatArray]) -> Largest:
    """Estimate the logarithm of the largest mean over the smallest: of paired, positive samples `(runs,)`."""
    distinct = {id(sample): sample for sample in (*numerators, *denominators)}
    samples, place = np.stack(list(distinct.values()), axis=1), {key: index for index, key in enumerate(distinct)}
    pairs = [(place[id(above)], place[id(below)]) for above in numerators for below in denominators]
    return Largest(_log_ratios(samples, [pair for pair in pairs if pair[0] != pair[1]]))


def _log_ratios(samples: FloatArray, pairs: Sequence[tuple[int, int]]) -> list[Estimate]:
    """Estimate the logarithms of ratios of the means of columns of `samples`, as `log_ratio` does one by one."""
    n_runs, above, below = len(samples), *np.array(pairs).T
    with np.errstate(divide="ignore", invalid="ignore"):
        means = samples.mean(axis=0)
        centred = samples - means
        moved = resampled_means(centred)
        squares = resampled_means(centred**2) - moved**2
        products = resampled_means(centred[:, above] * centred[:, below]) - moved[:, above] * moved[:, below]
        resampled = moved + means
        own = squares / resampled**2
        shared = 2.0 * products / (resampled[:, above] * resampled[:, below])
        scale = (own[:, above] + own[:, below]) / max(n_runs - 1, 1)
        variances = scale - shared / max(n_runs - 1, 1)
        errors = np.sqrt(np.where(variances > ROUNDING * scale, variances, 0.0))
        logs = np.log(resampled)
        found = []
        for index, (one, other) in enumerate(pairs):
            error = _error(samples[:, one] / means[one] - samples[:, other] / means[other])
            error = error if error**2 > ROUNDING * scale[:, index].mean() else 0.0
            value = float(np.log(means[one]) - np.log(means[other]))
            found.append(Estimate(value, error, logs[:, one] - logs[:, other], errors[:, index]))
    return found


def exponential(interval: Interval) -> Interval:
    """Return an interval of what the logarithm was estimated of."""
    with np.errstate(over="ignore"):
        return Interval(*(float(np.exp(end)) for end in interval))


def standard_error(values: FloatArray) -> float:
    """Return the standard error of the mean; zero of a single run."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else 0.0


def _error(values: FloatArray) -> float:
    """Return the standard error of the mean, which a single run cannot tell."""
    return standard_error(values) if values.size > 1 else np.inf


def _distances(value: float | FloatArray, resampled: FloatArray, errors: FloatArray) -> FloatArray:
    """Return how far resampled estimates fall from the estimate, in units of their own error."""
    gaps = resampled - value
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gaps == 0.0, 0.0, gaps / errors)


def _quantiles(distances: FloatArray, tail: float) -> tuple[FloatArray, FloatArray]:
    """Return the distances `(resamples, ...)` with a share of `tail` beyond them; one may be infinite."""
    place, last = int(np.floor(tail * (len(distances) + 1))), len(distances) - 1
    low, high = max(place - 1, 0), min(len(distances) - place, last)
    ordered = np.partition(distances, (low, high), axis=0)
    return ordered[low], ordered[high]
