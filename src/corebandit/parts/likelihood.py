"""The penalised log-likelihood of a generalised linear model, in groups of observations that share a row."""

import math

from corebandit.compiled.bridge import inlined, kernel
from corebandit.contracts.state import FloatArray
from corebandit.parts.curvature import ETA, RESIDUAL, SLOPE, STEP_ETA

LINKS = ("logistic", "poisson", "identity")
LOGISTIC, POISSON, IDENTITY = range(3)
LARGEST_LOG = 200.0  # of a Poisson mean; squares of the features times such a mean are still floats


@inlined
def mean_reward(link: int, eta: float) -> float:
    """Return mu(eta)."""
    if link == LOGISTIC:
        rare = math.exp(-abs(eta))
        return (rare if eta < 0.0 else 1.0) / (1.0 + rare)
    return math.exp(min(eta, LARGEST_LOG)) if link == POISSON else eta


@kernel
def log_likelihood(
    link: int,
    precision: float,
    n_groups: int,
    weights: FloatArray,
    responses: FloatArray,
    theta: FloatArray,
    step: FloatArray,
    work: FloatArray,
    scale: float,
) -> float:
    """Return the penalised log-likelihood at theta + `scale` step, and leave the residuals and slopes there."""
    total = 0.0
    for i in range(n_groups):
        eta, n, response = work[ETA, i] + scale * work[STEP_ETA, i], weights[i], responses[i]
        if link == LOGISTIC:
            rare = math.exp(-abs(eta))
            share = rare / (1.0 + rare)
            # Written in terms of the rarer outcome, so that nothing cancels where the other is nearly certain.
            left = response if eta < 0.0 else response - n
            work[RESIDUAL, i] = left - n * share if eta < 0.0 else left + n * share
            work[SLOPE, i] = n * share / (1.0 + rare)
            total += left * eta - n * math.log1p(rare)
        elif link == POISSON:
            if not eta <= LARGEST_LOG:
                return -math.inf
            mean = math.exp(eta)
            work[RESIDUAL, i] = response - n * mean
            work[SLOPE, i] = n * mean
            total += response * eta - n * mean
        else:
            work[RESIDUAL, i] = response - n * eta
            work[SLOPE, i] = n
            total += (response - 0.5 * n * eta) * eta
    for j in range(theta.size):
        entry = theta[j] + scale * step[j]
        total -= 0.5 * precision * entry * entry
    return total


@kernel
def magnitude(link: int, n_groups: int, weights: FloatArray, responses: FloatArray, work: FloatArray) -> float:
    """Return the sizes of the log-likelihood's terms, added up: rounding hides a share of that."""
    total = 0.0
    for i in range(n_groups):
        eta, mean = abs(work[ETA, i]), abs(mean_reward(link, work[ETA, i]))
        total += abs(responses[i]) * eta + weights[i] * max(eta, mean, mean * eta)
    return total
