"""Runs drawn anew with replacement, many times: means of resamples and their errors."""

from functools import lru_cache

import numpy as np

from corebandit.contracts.state import FloatArray

N_RESAMPLES, BLOCK = 8000, 400
N_RESAMPLES_OF_BANDS = 2000  # enough for 95 % around a curve; verdicts look further into the tails
MOST_WEIGHTS = 16_000_000  # of a number of runs, kept for the next curve: 128 MB


def resampled_means(values: FloatArray, n_resamples: int = N_RESAMPLES) -> FloatArray:
    """Return means `(resamples, ...)` of `values` `(runs, ...)` over runs drawn with replacement.

    The same runs are drawn for every array of as many runs, so what is paired stays paired.
    """
    n_runs = values.shape[0]
    if n_runs * N_RESAMPLES <= MOST_WEIGHTS:
        return _weights(n_runs)[:n_resamples] @ values
    rng = np.random.default_rng(0)
    parts = [_drawn_weights(rng, n_runs, BLOCK) @ values for _ in range(n_resamples // BLOCK)]
    return np.concatenate(parts)


def resampled(values: FloatArray, n_resamples: int = N_RESAMPLES) -> tuple[FloatArray, FloatArray]:
    """Return resampled means of `values` `(runs, n)` and their standard errors, each `(resamples, n)`."""
    n_runs = len(values)
    centred = values - values.mean(axis=0)  # squares of small numbers lose no digits
    means, squares = resampled_means(centred, n_resamples), resampled_means(centred**2, n_resamples)
    variances = np.maximum(squares - means**2, 0.0)
    variances[variances < 1e-14 * squares] = 0.0  # what rounding leaves where all that was drawn is one number
    return means + values.mean(axis=0), np.sqrt(variances / max(n_runs - 1, 1))


def resampled_covariances(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return resampled means of `samples` `(runs, n)`, and covariances of the means `(resamples, n, n)`."""
    n_runs, n = samples.shape
    centred = samples - samples.mean(axis=0)
    means = resampled_means(centred)
    products = resampled_means((centred[:, :, None] * centred[:, None, :]).reshape(n_runs, n * n)).reshape(-1, n, n)
    covariances = products - means[:, :, None] * means[:, None, :]
    return means + samples.mean(axis=0), covariances / max(n_runs - 1, 1)


@lru_cache(maxsize=3)  # many curves have as many runs
def _weights(n_runs: int) -> FloatArray:
    """Return the weight of each run in each resample, `(resamples, runs)`."""
    rng = np.random.default_rng(0)
    weights = np.concatenate([_drawn_weights(rng, n_runs, BLOCK) for _ in range(N_RESAMPLES // BLOCK)])
    weights.setflags(write=False)
    return weights


def _drawn_weights(rng: np.random.Generator, n_runs: int, n_resamples: int) -> FloatArray:
    """Draw the weight of each run in some resamples."""
    picks = rng.integers(n_runs, size=(n_resamples, n_runs)) + n_runs * np.arange(n_resamples)[:, None]
    counts = np.bincount(picks.ravel(), minlength=n_resamples * n_runs)
    return counts.reshape(n_resamples, n_runs) / n_runs
