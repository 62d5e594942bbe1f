"""Failed runs: which they are, and what runs that show few of them cannot exclude.

Now and then a policy settles on a wrong option, and such a run costs as much as a hundred others. A run has failed if
its regret is over five times what a run usually costs on its problem: the median of the policy with the lowest mean
there. The yardstick is one for all policies of a problem: by its own median a setting that is dear in every run would
look safe.

Of n runs that show no failure, 1 - 0.05^(1/n) of all may fail, about 3/n, at 95 %. No test on these runs can see that.
So a statement about means stands if it would still do were the mean higher by what so many failures cost, each a
hundred usual runs: then it is false in at most 5 % of all samples, however rare the failures, unless they are dearer.
"""

from collections.abc import Iterable

import numpy as np

from corebandit.contracts.state import FloatArray

FAILED = 5.0  # times what a run usually costs
DEAREST = 100.0  # the same, of failures that nobody has seen
UNSEEN = 0.05  # the chance that so many failures do not show


def usual_cost(regrets: Iterable[FloatArray]) -> float:
    """Return what a run usually costs on a problem, from the runs of all policies on it.

    >>> usual_cost([np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.5, 90.0])])
    2.0
    """
    best = min(regrets, key=lambda regret: float(regret.mean()))
    return max(0.0, float(np.median(best)))


def share_failed(regret: FloatArray, usual: float) -> float:
    """Return the share of runs that have failed, where a run usually costs so much."""
    return float((regret > FAILED * usual).mean())


def share_unseen(n_runs: int) -> float:
    """Return the share of runs that may fail though n runs show none.

    >>> round(share_unseen(1_000), 4)
    0.003
    """
    return float(1.0 - UNSEEN ** (1.0 / n_runs))


def unseen_cost(usual: float, n_runs: int) -> float:
    """Return how much higher a mean may be because of failures that n runs do not show."""
    return share_unseen(n_runs) * DEAREST * usual
