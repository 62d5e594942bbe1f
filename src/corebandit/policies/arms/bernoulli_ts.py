r"""Thompson sampling for Bernoulli rewards (Thompson, 1933; Agrawal and Goyal, 2012).

    index_i ~ Beta((1 + S_i) / scale^2, (1 + F_i) / scale^2),   S_i successes, F_i failures

Valid for rewards in [0, 1]: one strictly inside counts as a success with just that probability. `scale` stretches the
posterior's standard deviation: 1 is the method itself, 0.5 what the bandit code of CORe's authors runs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import UNIT_INTERVAL, Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.randomness.stream import Stream


@allocating_nothing
class BernoulliTSState(NamedTuple):
    """What Bernoulli Thompson sampling has learnt."""

    successes: FloatArray  # (n_arms,)
    failures: FloatArray  # (n_arms,)
    weight: float  # 1 / scale^2

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with draws from the posterior of each arm's mean."""
        for arm in range(scores.size):
            a, b = 1.0 + self.successes[arm], 1.0 + self.failures[arm]
            scores[arm] = rng.beta(a * self.weight, b * self.weight)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward, rounded at random to 0 or 1."""
        if reward >= 1.0 or (reward > 0.0 and rng.random() < reward):
            self.successes[arm] += 1.0
        else:
            self.failures[arm] += 1.0


@dataclass(frozen=True)
class BernoulliTS(Policy):
    """Choose by a draw from the posterior of each arm's success probability; rewards in [0, 1].

    >>> BernoulliTS(scale=0.5).label
    'BernoulliTS(scale=0.5)'
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        check_number("scale", self.scale, above=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> BernoulliTSState:
        """Return a state that has seen nothing."""
        return BernoulliTSState(np.zeros(n_arms), np.zeros(n_arms), 1.0 / self.scale**2)

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return UNIT_INTERVAL
