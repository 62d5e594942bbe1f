r"""CUSUM-UCB (Liu, Lee and Shroff, AAAI 2018): UCB that forgets an arm when a CUSUM test says that it has changed.

    index_i = S_i / N_i + 2 sigma sqrt(xi ln(n) / N_i),   n = sum of all N_j;   with probability alpha any arm

N_i and S_i count since the arm was last forgotten. The mean u of its first `samples` rewards is what later ones are
compared with, upwards and downwards, and the arm is forgotten when either sum passes `threshold`:

    g+ <- max(0, g+ + y - u - epsilon),   g- <- max(0, g- + u - y - epsilon)

sigma = 1/2 is the original formula, for rewards in [0, 1]. With `shifts` changes in `horizon` rounds its authors take
threshold = ln(horizon / shifts) and alpha = sqrt(shifts / horizon ln(horizon / shifts)), at most 1. Where we differ:
without a horizon that of 10,000 rounds is taken.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, check_number
from corebandit.parts.warm_up import NOMINAL_HORIZON
from corebandit.randomness.stream import Stream

BASE, UP, DOWN = range(3)  # what `tests` holds of an arm


@allocating_nothing
class CUSUMUCBState(NamedTuple):
    """What CUSUM-UCB has learnt since it last forgot."""

    counts: FloatArray  # (n_arms,) pulls
    sums: FloatArray  # (n_arms,) total reward
    tests: FloatArray  # (n_arms, 3) sum of the first rewards; g+; g-
    alpha: float
    threshold: float
    epsilon: float
    samples: float
    xi: float
    sigma: float

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bounds, or, in a round of exploration, with zeros."""
        explores = rng.random() < self.alpha
        total = 0.0
        for count in self.counts:
            total += count
        width = 2.0 * self.sigma * math.sqrt(self.xi * math.log(max(total, 1.0)))
        for arm in range(scores.size):
            n = self.counts[arm]
            if explores:
                scores[arm] = 0.0
            else:
                scores[arm] = np.inf if n == 0.0 else self.sums[arm] / n + width / math.sqrt(n)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward, and forget the arm if it has changed."""
        self.counts[arm] += 1.0
        self.sums[arm] += reward
        test = self.tests[arm]
        if self.counts[arm] <= self.samples:
            test[BASE] += reward
            return
        gap = reward - test[BASE] / self.samples
        test[UP] = max(0.0, test[UP] + gap - self.epsilon)
        test[DOWN] = max(0.0, test[DOWN] - gap - self.epsilon)
        if max(test[UP], test[DOWN]) >= self.threshold:
            self.counts[arm], self.sums[arm] = 0.0, 0.0
            for place in range(test.size):
                test[place] = 0.0


@dataclass(frozen=True)
class CUSUMUCB(Policy):
    """Choose by upper confidence bounds, and forget an arm when a test says that it has changed.

    Parameters
    ----------
    epsilon
        Half the smallest change to look for.
    samples
        First rewards of an arm that later ones are compared with.
    threshold
        When the test says so; None is that of the paper for `shifts` changes within the horizon.
    alpha
        Probability of a round in which any arm is tried; None is that of the paper.
    shifts
        How many changes are expected.
    xi
        Strength of the bounds.
    sigma
        1/2 covers everything in [0, 1].

    >>> CUSUMUCB(epsilon=0.1).label
    'CUSUMUCB(epsilon=0.1)'
    """

    epsilon: float = 0.05
    samples: int = 100
    threshold: float | None = None
    alpha: float | None = None
    shifts: int = 1
    xi: float = 1.0
    sigma: float = 0.5

    def __post_init__(self) -> None:
        check_number("epsilon", self.epsilon, at_least=0)
        check_count("samples", self.samples)
        if self.threshold is not None:
            check_number("threshold", self.threshold, above=0)
        if self.alpha is not None:
            check_number("alpha", self.alpha, at_least=0, at_most=1)
        check_count("shifts", self.shifts)
        check_number("xi", self.xi, at_least=0)
        check_number("sigma", self.sigma, above=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> CUSUMUCBState:
        """Return a state that has seen nothing."""
        rounds_each = max((horizon or NOMINAL_HORIZON) / self.shifts, math.e)
        log_rounds = math.log(rounds_each)
        return CUSUMUCBState(
            counts=np.zeros(n_arms),
            sums=np.zeros(n_arms),
            tests=np.zeros((n_arms, 3)),
            alpha=float(min(1.0, math.sqrt(log_rounds / rounds_each)) if self.alpha is None else self.alpha),
            threshold=float(log_rounds if self.threshold is None else self.threshold),
            epsilon=float(self.epsilon),
            samples=float(self.samples),
            xi=float(self.xi),
            sigma=float(self.sigma),
        )
