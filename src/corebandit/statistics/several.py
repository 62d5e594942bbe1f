"""Several comparisons at once: which p-values are small for their number, and which policies may be the best."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from corebandit.contracts.state import FloatArray
from corebandit.statistics.resampling import N_RESAMPLES_OF_BANDS, resampled_means

LEVEL = 0.04  # 5 % as measured: the resamples are always the same 2,000, and their quantiles are off a little
MOST_CELLS = 8_000_000  # of resamples times pairs at once: 64 MB an array
ROUNDING = 1e-12


def holm(chances: Sequence[float], level: float) -> list[bool]:
    """Tell which of several p-values are small enough, corrected for their number (Holm, 1979).

    >>> holm([0.01, 0.02, 0.03], 0.05), holm([0.02, 0.02, 0.03], 0.05)
    ([True, True, True], [False, False, False])
    """
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    small = [False] * len(chances)
    for rank, place in enumerate(order):
        if chances[place] > level / (len(chances) - rank):
            break
        small[place] = True
    return small


def maybe_lowest(samples: FloatArray) -> NDArray[np.bool_]:
    """Tell which columns of `samples` `(runs, n)` may have the lowest mean; rows are paired.

    A column is out if it stands above another by more of their difference's standard errors than the farthest pair of
    all does in 95 % of the resamples (max-T, studentised). So of columns with one mean hardly ever is any out, however
    many they are: which of them looks best is found anew in each resample. What is left is compared again, without the
    columns that are out, until none goes (Romano and Wolf, 2005; Hansen, Lunde and Nason, 2011).
    """
    n_runs, n = samples.shape
    left = np.ones(n, np.bool_)
    if n_runs < 2 or n < 2:
        return left
    above, below = np.triu_indices(n, 1)
    centred = samples - samples.mean(axis=0)
    means, squares = samples.mean(axis=0), (centred**2).mean(axis=0)
    variances = ((centred[:, above] - centred[:, below]) ** 2).mean(axis=0)
    variances[variances <= ROUNDING * (squares[above] + squares[below])] = 0.0  # one is the other and a number
    distances = _distances(means[above] - means[below], variances, n_runs)
    farthest = _resampled_distances(centred, above, below)
    farthest[:, variances == 0.0] = 0.0
    while True:
        here = left[above] & left[below]
        if not here.any():
            return left
        most = np.quantile(farthest[:, here].max(axis=1), 1.0 - LEVEL, method="higher")
        out = np.zeros(n, np.bool_)
        out[above[here & (distances > most)]] = True
        out[below[here & (distances < -most)]] = True
        if not out.any():
            return left
        left &= ~out


def _resampled_distances(centred: FloatArray, above: NDArray[np.intp], below: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return how far apart each pair is in each resample, in units of its own error, `(resamples, pairs)`."""
    n_runs, n_resamples = len(centred), N_RESAMPLES_OF_BANDS
    means = resampled_means(centred, n_resamples)
    found = np.empty((n_resamples, above.size), np.float32)
    step = max(1, MOST_CELLS // max(n_resamples, n_runs))
    for start in range(0, above.size, step):
        one, other = above[start : start + step], below[start : start + step]
        gap = means[:, one] - means[:, other]
        squares = resampled_means((centred[:, one] - centred[:, other]) ** 2, n_resamples)
        variance = np.maximum(squares - gap**2, 0.0)
        variance[variance < ROUNDING * squares] = 0.0
        found[:, start : start + step] = np.abs(_distances(gap, variance, n_runs))
    return found


def _distances(gaps: FloatArray, variances: FloatArray, n_runs: int) -> FloatArray:
    """Return how many standard errors means of differences are; what has no error is infinitely far, unless it is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gaps == 0.0, 0.0, gaps / np.sqrt(variances / (n_runs - 1)))
