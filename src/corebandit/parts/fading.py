r"""Memory that fades: every round, what was learnt before counts `discount` times as much as in the round before.

    N_i <- discount N_i + [i was chosen],   S_i <- discount S_i + reward [i was chosen]

A discount of 1 forgets nothing; one of 1 - 1/n remembers about n rounds.
"""

import math
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, inlined
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number

FORGOTTEN = 1e-9  # an arm of less weight was as good as never tried
WEIGHT, MEAN, M2 = range(3)


@inlined
def fade(numbers: FloatArray, discount: float) -> None:
    """Let numbers count less than in the round before."""
    if discount < 1.0:
        for place in range(numbers.size):
            numbers[place] *= discount


@inlined
def faded_count(n: float, discount: float) -> float:
    """Return what the last n rewards count together."""
    return n if discount >= 1.0 else (1.0 - discount**n) / (1.0 - discount)


def check_discount(discount: float) -> None:
    """Raise BadInput unless memory fades, and not at once."""
    check_number("discount", discount, above=0, at_most=1)


@allocating_nothing
class Faded(NamedTuple):
    """Counts and sums of rewards that fade, by arm. Make one with `new_faded`."""

    counts: FloatArray  # (n_arms,)
    sums: FloatArray  # (n_arms,)
    discount: float

    def push(self, arm: int, reward: float) -> None:
        """Learn a reward, and let those before it fade."""
        fade(self.counts, self.discount)
        fade(self.sums, self.discount)
        self.counts[arm] += 1.0
        self.sums[arm] += reward


def new_faded(n_arms: int, discount: float) -> Faded:
    """Return counts and sums that have seen nothing."""
    return Faded(np.zeros(n_arms), np.zeros(n_arms), float(discount))


@allocating_nothing
class FadedPool(NamedTuple):
    """The weight, mean and spread of rewards that fade: all that CORe's noise needs in its normal limit."""

    moments: FloatArray  # (3,) weight, mean, weighted sum of squared deviations
    discount: float

    def add(self, reward: float) -> None:
        """Add a reward, and let those before it fade."""
        self.moments[WEIGHT] = self.discount * self.moments[WEIGHT] + 1.0
        gap = reward - self.moments[MEAN]
        self.moments[MEAN] += gap / self.moments[WEIGHT]
        self.moments[M2] = self.discount * self.moments[M2] + gap * (reward - self.moments[MEAN])

    def restart(self, weight: float, mean: float, variance: float) -> None:
        """Forget everything but some rewards."""
        self.moments[WEIGHT] = weight
        self.moments[MEAN] = mean
        self.moments[M2] = weight * variance

    def deviation(self) -> float:
        """Return the standard deviation of the rewards; zero if there are none."""
        return math.sqrt(self.moments[M2] / self.moments[WEIGHT]) if self.moments[M2] > 0.0 else 0.0


def new_faded_pool(discount: float) -> FadedPool:
    """Return an empty pool."""
    return FadedPool(np.zeros(3), float(discount))
