r"""Multinomial Thompson sampling (Riou and Honda, ALT 2020).

    index_i = sum_j L_j j / M,   L ~ Dirichlet(1 + how often the arm paid 0, 1/M, ..., 1)

Valid for rewards in [0, 1]: one between two of the M + 1 values is rounded to either at random, and keeps its mean.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import UNIT_INTERVAL, Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count
from corebandit.randomness.stream import Stream


@allocating_nothing
class MultinomialTSState(NamedTuple):
    """What multinomial Thompson sampling has learnt."""

    counts: FloatArray  # (n_arms, levels + 1) of each value, the prior's 1 included
    levels: int

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the mean of a law drawn from each arm's posterior."""
        for arm in range(scores.size):
            weights, total = 0.0, 0.0
            for level in range(self.levels + 1):
                weight = rng.standard_gamma(self.counts[arm, level])
                weights += weight
                total += weight * level
            scores[arm] = total / weights / self.levels

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward, rounded at random to a neighbouring value."""
        place = min(max(reward, 0.0), 1.0) * self.levels
        level = int(place)
        if place > level and rng.random() < place - level:
            level += 1
        self.counts[arm, level] += 1.0


@dataclass(frozen=True)
class MultinomialTS(Policy):
    """Choose by the mean of a law on 0, 1/levels, ..., 1 drawn from each arm's posterior; rewards in [0, 1].

    >>> MultinomialTS(levels=5).label
    'MultinomialTS(levels=5)'
    """

    levels: int = 10

    def __post_init__(self) -> None:
        check_count("levels", self.levels)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> MultinomialTSState:
        """Return a state that has seen nothing."""
        return MultinomialTSState(np.ones((n_arms, self.levels + 1)), int(self.levels))

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return UNIT_INTERVAL
