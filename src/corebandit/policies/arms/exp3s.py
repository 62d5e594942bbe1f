r"""Exp3.S (Auer, Cesa-Bianchi, Freund and Schapire, SIAM J. Comput. 2002): exponential weights that share a little.

    p_i = (1 - gamma) w_i / W + gamma / K,   W = sum of all w_j
    w_i <- w_i exp(gamma x_i / K) + e alpha W / K,   x_i = reward / p_i if i was chosen, else 0

Made for rewards in [0, 1] that an adversary may choose, and for following the best arm as it changes. To follow a
sequence of arms of hardness S, which is 1 + the number of its changes, through `horizon` rounds its authors take
alpha = 1 / horizon and

    gamma = sqrt(K (S ln(K horizon) + e) / ((e - 1) horizon)), at most 1

with S = 1 + shifts here, so that `shifts` are changes, as in `CUSUMUCB`.

Where we differ: without a horizon that of 10,000 rounds is taken, and weights are scaled to an average of 1, which
changes no probability. An arm is drawn as the largest p_i / E_i, E_i standard exponential: where some are not on offer,
the rest keep their proportions.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import UNIT_INTERVAL, Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, check_number
from corebandit.parts.warm_up import NOMINAL_HORIZON
from corebandit.randomness.stream import Stream


@allocating_nothing
class Exp3SState(NamedTuple):
    """What Exp3.S has learnt."""

    weights: FloatArray  # (n_arms,) 1 on average
    gamma: float
    alpha: float

    def chance(self, arm: int) -> float:
        """Return the probability of an arm."""
        n_arms = self.weights.size
        return float((1.0 - self.gamma) * self.weights[arm] / self.total() + self.gamma / n_arms)

    def total(self) -> float:
        """Return W."""
        total = 0.0
        for weight in self.weights:
            total += weight
        return total

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` so that each arm's is the highest with its probability."""
        total, n_arms = self.total(), self.weights.size
        for arm in range(scores.size):
            chance = (1.0 - self.gamma) * self.weights[arm] / total + self.gamma / n_arms
            scores[arm] = chance / rng.standard_exponential()

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        n_arms, total = self.weights.size, self.total()
        estimate, shared = reward / self.chance(arm), math.e * self.alpha * total / n_arms
        self.weights[arm] *= math.exp(self.gamma * estimate / n_arms)
        for other in range(n_arms):
            self.weights[other] += shared
        scale = n_arms / self.total()
        for other in range(n_arms):
            self.weights[other] *= scale


@dataclass(frozen=True)
class Exp3S(Policy):
    """Choose by exponential weights that share a little, against any rewards in [0, 1] whatever; follows changes.

    Parameters
    ----------
    gamma
        Share of decisions that explore; None takes that of the paper for `shifts` changes within the horizon.
    alpha
        Share of all weight that every arm gets; None is 1 / horizon.
    shifts
        How often the best arm is expected to change.

    >>> Exp3S(gamma=0.1).label
    'Exp3S(gamma=0.1)'
    """

    gamma: float | None = None
    alpha: float | None = None
    shifts: int = 1

    def __post_init__(self) -> None:
        if self.gamma is not None:
            check_number("gamma", self.gamma, above=0, at_most=1)
        if self.alpha is not None:
            check_number("alpha", self.alpha, at_least=0, at_most=1)
        check_count("shifts", self.shifts, at_least=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> Exp3SState:
        """Return a state that has seen nothing."""
        n_rounds, hardness = horizon or NOMINAL_HORIZON, 1 + self.shifts
        spread = n_arms * (hardness * math.log(n_arms * n_rounds) + math.e) / ((math.e - 1.0) * n_rounds)
        return Exp3SState(
            weights=np.ones(n_arms),
            gamma=float(min(1.0, math.sqrt(spread)) if self.gamma is None else self.gamma),
            alpha=float(1.0 / n_rounds if self.alpha is None else self.alpha),
        )

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return UNIT_INTERVAL
