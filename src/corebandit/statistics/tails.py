"""How rarely something is beyond a point, far finer than one in the number of resamples.

A count of resamples says at least 1 / 8,001, which a correction for 21 comparisons already finds too much. So beyond
the outermost 2 % the tail is a generalised Pareto law with the mean and the variance of what is seen there
(Pickands, 1975; of p-values Knijnenburg, Wessels, Reinders and Shmulevich, 2009). Its shape is kept at 0 or above: the
tail is exponential or heavier, never bounded, so nothing becomes impossible because no resample shows it, and for
normal means p-values are too large rather than too small. Studentised distances of skewed samples do have heavier tails
(a resample that misses the dear runs has a small error), so the shape is not fixed at 0. More resamples would cost a
hundred times as much for the same two digits. Tests compare it with 200,000 resamples of heavy-tailed runs;
`benchmarks/verdicts.py` measures level and power.
"""

import numpy as np

from corebandit.contracts.state import FloatArray

SHARE_MODELLED = 0.02  # of the resamples; intervals of 95 % end further in, and are counted
HEAVIEST = 0.49  # heavier ones have no variance to tell it by


def share_beyond(distances: FloatArray, point: float) -> float:
    """Return the share of `distances` `(resamples,)` that are `point` or more; some may be infinite.

    >>> normal = np.random.default_rng(1).normal(size=8_000)
    >>> share_beyond(normal, 0.0) > 0.48, 1e-12 < share_beyond(normal, 6.0) < 1e-5
    (True, True)
    """
    n, n_beyond = distances.size, int((distances >= point).sum())
    n_outer = int(SHARE_MODELLED * n)
    if n_beyond >= n_outer:
        return (1.0 + n_beyond) / (1.0 + n)
    outer = np.partition(distances, n - n_outer)[n - n_outer :]
    n_endless = int(np.isinf(outer).sum())
    excess = outer[np.isfinite(outer)]
    if excess.size == 0 or excess.max() == excess.min():  # of equals no law can be told
        return (1.0 + n_beyond) / (1.0 + n)
    start = float(excess.min())
    beyond = (1.0 + n_outer - n_endless) * _pareto_share(excess - start, point - start)
    return max(n_beyond, n_endless + beyond) / (1.0 + n)  # never less than is seen


def _pareto_share(excess: FloatArray, point: float) -> float:
    """Return what a generalised Pareto law with the moments of `excess` has beyond `point`."""
    mean, variance = float(excess.mean()), float(excess.var())
    shape = 0.5 * (1.0 - mean**2 / variance)
    if shape <= 1e-6:
        return float(np.exp(-point / mean))
    shape = min(shape, HEAVIEST)
    return float((1.0 + shape * point / (mean * (1.0 - shape))) ** (-1.0 / shape))
