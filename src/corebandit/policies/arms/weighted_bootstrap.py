r"""Weighted bootstrap (Vaswani, Kveton, Wen, Rao, Schmidt and Abbasi-Yadkori, 2018).

Every reward of an arm, and two pseudo-rewards low and high, get random weights of mean and variance 1, new in every
round:

    "exponential"  index_i = sum of W_l Y_l / sum of W_l,   W_l ~ Exp(1)
    "gaussian"     index_i = mean_i + sum of (W_l - 1) (Y_l - mean_i) / n_i,   W_l ~ N(1, 1)

where n_i and mean_i count the pseudo-rewards. They keep arms in play that were unlucky at first; without them regret
can be linear. With exponential weights on 0/1 rewards and pseudo-rewards 0 and 1 this is Thompson sampling with the
prior Beta(1, 1).

Where we differ: in cost, equal values share one gamma draw, up to 16 of them, so a round on 0/1 rewards is O(n_arms);
else it is O(t). And Gaussian weights, whose sum may be nothing or less, enter as deviations divided by their expected
sum; the index is then normal with the arm's variance over n_i, one draw for each arm.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_choice, check_number
from corebandit.parts.atoms import Atoms, new_atoms
from corebandit.randomness.stream import Stream

WEIGHTS = ("exponential", "gaussian")


@allocating_nothing
class WeightedBootstrapState(NamedTuple):
    """What the weighted bootstrap has learnt."""

    values: Atoms  # the rewards and pseudo-rewards of each arm (exponential)
    counts: FloatArray  # (n_arms,) how many they are
    means: FloatArray  # (n_arms,)
    squares: FloatArray  # (n_arms,) sum of their squared deviations from the mean
    high: float
    is_gaussian: bool

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with randomly weighted means of each arm's rewards and pseudo-rewards."""
        for arm in range(scores.size):
            if self.is_gaussian:
                spread = math.sqrt(self.squares[arm]) / self.counts[arm]
                scores[arm] = self.means[arm] + spread * rng.standard_normal()
            else:
                scores[arm] = self.values.weighted_mean(arm, self.high, rng)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        if not self.is_gaussian:
            self.values.include(arm, reward)
            return
        self.counts[arm] += 1.0
        gap = reward - self.means[arm]
        self.means[arm] += gap / self.counts[arm]
        self.squares[arm] += gap * (reward - self.means[arm])


@dataclass(frozen=True)
class WeightedBootstrap(Policy):
    """Choose by randomly weighted means of each arm's rewards and two pseudo-rewards, which set the scale.

    Parameters
    ----------
    weights
        "exponential", or "gaussian", whose cost does not grow with history.
    low, high
        Pseudo-rewards, which should enclose most rewards; outside them it settles on arms that happened to be tried
        first.

    >>> WeightedBootstrap(weights="gaussian").label
    "WeightedBootstrap(weights='gaussian')"
    """

    weights: str = "exponential"
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        check_choice("weights", self.weights, WEIGHTS)
        check_number("low", self.low)
        check_number("high", self.high, above=self.low)

    @property
    def looks_back(self) -> bool:
        """Tell whether every round looks at the rewards of all before."""
        return self.weights == "exponential"

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> WeightedBootstrapState:
        """Return a state that has seen nothing."""
        is_gaussian, low, high = self.weights == "gaussian", float(self.low), float(self.high)
        return WeightedBootstrapState(
            values=new_atoms(n_arms, 0 if is_gaussian else capacity, low, high),
            counts=np.full(n_arms, 2.0),
            means=np.full(n_arms, 0.5 * low + 0.5 * high),
            squares=np.full(n_arms, 0.5 * (high - low) ** 2),
            high=high,
            is_gaussian=is_gaussian,
        )
