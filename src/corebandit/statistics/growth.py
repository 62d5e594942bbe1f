"""Growth: how much more one quantity grows than another, and the exponent of a power law."""

from collections.abc import Sequence

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number, shortened
from corebandit.statistics.estimates import Estimate, log_estimate
from corebandit.statistics.resampling import N_RESAMPLES


def log_growth_ratio(growing: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray]) -> Estimate:
    """Estimate the logarithm of how many times more one quantity grows than another.

    Each is two samples `(runs,)`, later and earlier; all four are paired and positive. What grows is their mean.
    """
    return log_estimate(np.stack([*growing, *other], axis=1), (1.0, -1.0, -1.0, 1.0))


def growth_exponent(sizes: Sequence[float], regret: Sequence[FloatArray], *, paired: bool = False) -> Estimate:
    """Fit mean regret = c · size^b by least squares of logarithms, and estimate b.

    `regret` holds, for each of the `sizes` `(m,)`, the regret of its runs `(runs,)`. They are `paired` if a run is the
    same problem with the same rewards at every size; then the same runs are drawn for all sizes.

    >>> round(growth_exponent([100, 400], [np.array([10.0, 10.0]), np.array([20.0, 20.0])]).value, 6)
    0.5
    """
    weights = exponent_weights(sizes)
    if len(regret) != weights.size:
        raise BadInput(f"regret must hold one array for each of the {weights.size} sizes, not {len(regret)}")
    samples = [np.asarray(sample, np.float64) for sample in regret]
    for size, values in zip(sizes, samples, strict=True):
        if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
            raise BadInput(f"regret must be finite numbers (runs,) at every size, but is not at {shortened(size)}")
        if values.mean() <= 0.0:
            raise BadInput(f"regret must be above 0 on average, but is not at {shortened(size)}")
    if paired:
        return log_estimate(np.stack(samples, axis=1), weights.tolist())
    parts = [log_estimate(sample[:, None], (weight,)) for sample, weight in zip(samples, weights, strict=True)]
    return _independent_sum(parts)


def exponent_weights(sizes: Sequence[float]) -> FloatArray:
    """Return what the logarithm of the mean at each size adds to the exponent, by least squares."""
    logs = np.log([check_number("sizes", size, above=0) for size in sizes])
    if len(set(logs.tolist())) < 2:
        raise BadInput(f"sizes must hold at least two different numbers, not {shortened(list(sizes))}")
    weights: FloatArray = (logs - logs.mean()) / np.sum((logs - logs.mean()) ** 2)
    return weights


def _independent_sum(parts: Sequence[Estimate]) -> Estimate:
    """Return the sum of estimates from different runs; each part's resamples are taken in an order of their own."""
    orders = [np.random.default_rng(place).permutation(N_RESAMPLES) for place in range(len(parts))]
    resampled = np.sum([part.resampled[order] for part, order in zip(parts, orders, strict=True)], axis=0)
    variances = np.sum([part.errors[order] ** 2 for part, order in zip(parts, orders, strict=True)], axis=0)
    value, error = sum(part.value for part in parts), np.sqrt(sum(part.error**2 for part in parts))
    return Estimate(float(value), float(error), resampled, np.sqrt(variances))
