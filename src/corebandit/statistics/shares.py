"""Shares of trials: exact intervals, and tests of whether something happens in less than a share of them."""

from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, shortened
from corebandit.statistics.estimates import LEVEL, Interval


def frequency_interval(failures: int, runs: int, clustering: float = 1.0) -> Interval:
    """Return the share of failures and its exact 95 % interval (Clopper and Pearson, 1934).

    Where runs hang together, so many of them count as one (`clustering`, which `design_effect` estimates).

    >>> round(frequency_interval(0, 1000).high, 5)
    0.00368
    """
    from scipy.stats import beta

    check_count("runs", runs)
    if check_count("failures", failures, at_least=0) > runs:
        raise BadInput(f"failures must be a whole number of at most {runs}, the runs, not {shortened(failures)}")
    tail = (1.0 - LEVEL) / 2.0
    bad, good = failures / clustering, (runs - failures) / clustering
    low = beta.ppf(tail, bad, good + 1.0) if failures > 0 else 0.0
    high = beta.ppf(1.0 - tail, bad + 1.0, good) if failures < runs else 1.0
    return Interval(failures / runs, float(low), float(high))


def design_effect(failures: FloatArray, trials: FloatArray) -> float:
    """Return how many trials are worth an independent one, from the numbers of both in each group of trials.

    It is the variance of the share over groups, divided by what it were if all trials were independent (Kish, 1965); 1
    at least. Groups of ten trials that all end alike:

    >>> import numpy as np
    >>> round(design_effect(np.array([10.0, 0.0] * 50), np.full(100, 10.0)), 1)
    10.1
    """
    share = failures.sum() / trials.sum()
    if not 0.0 < share < 1.0 or failures.size < 2:
        return 1.0
    beyond = failures - share * trials
    spread = float((beyond**2).sum()) * failures.size / (failures.size - 1)
    return max(1.0, spread / float(trials.sum() * share * (1.0 - share)))


def share_chances(bound: float, failures: int, trials: int, clustering: float = 1.0) -> tuple[float, float]:
    """Return the p-values of "a share of `bound` or more fails" and of "less than `bound` does", by binomial tests.

    That too many fail is told by all trials: each fails with a chance of `bound` at most, given all before, if not.
    """
    from scipy.stats import beta, binom

    good = trials - failures
    is_less = float(beta.sf(bound, failures / clustering + 1.0, good / clustering)) if good else 1.0
    return is_less, float(binom.sf(failures - 1, trials, bound))
