r"""CORe: Capitalizing On Rewards (Wang, Kveton and Karimzadehgan, UAI 2021).

Every past reward is perturbed with a draw from the pool of all past rewards, centred and mirrored:

    index_i = (S_i + A_i) / N_i,   A_i = sum of N_i draws from {±alpha (Y_l - mean(Y))}

so exploration scales itself to the variance of the rewards. Valid for any real rewards of finite variance.

Where we differ from the paper: lambda is 0 (an average, as its text says), so adding a constant to all rewards changes
nothing. The warm-up pulls the arm with the fewest pulls, so every arm once before any twice, in an order drawn at
random instead of by index. Without a horizon the current round takes its place (*anytime*).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled import allocating_nothing
from corebandit.pool import SAMPLERS, Pool, new_pool
from corebandit.recipe import Policy
from corebandit.state import FloatArray
from corebandit.stream import Stream
from corebandit.validate import check_choice, check_count, check_number


@allocating_nothing
class COReState(NamedTuple):
    """What CORe has learnt."""

    counts: FloatArray  # (n_arms,) pulls
    sums: FloatArray  # (n_arms,) total reward
    pool: Pool
    alpha: float
    warm_up: float  # warm-up rounds for each unit of the log horizon
    log_horizon: float  # negative: not known

    def is_warming_up(self) -> bool:
        """Tell whether the coming round belongs to the warm-up (Algorithm 1, line 2)."""
        current_round = self.pool.tally[0] + 1
        log_horizon = self.log_horizon if self.log_horizon >= 0.0 else math.log(current_round)
        return bool(current_round <= max(self.counts.size, self.warm_up * log_horizon + 1.0))

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the mean perturbed reward of each arm."""
        if self.is_warming_up():
            for arm in range(scores.size):
                scores[arm] = -self.counts[arm]
            return
        for arm in range(scores.size):
            n = self.counts[arm]
            if n == 0.0:
                scores[arm] = np.inf
            else:
                scores[arm] = (self.sums[arm] + self.alpha * self.pool.draw_sum(int(n), rng)) / n

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        self.sums[arm] += reward
        self.pool.add(reward, rng)


@dataclass(frozen=True)
class CORe(Policy):
    """Perturb each past reward with rewards drawn from everything seen; any real rewards, nothing to tune.

    Parameters
    ----------
    alpha
        Scale of the noise; 0 is greedy.
    z
        Share of the rewards' variance that the warm-up secures, in (0, 1). The warm-up lasts
        `warm_up * ln(horizon) / (z - 1 - ln z) + 1` rounds, at least one for each arm.
    warm_up
        4 is the paper's, 2 the authors' code's.
    sampler
        "fast", whose cost hardly grows with history, or "exact", one draw for each past reward.
    pool_size
        Keep at most so many rewards, a uniform sample of all; None keeps every one.

    >>> CORe(alpha=0.4).label
    'CORe(alpha=0.4)'
    """

    alpha: float = 0.6
    z: float = 0.6
    warm_up: float = 4.0
    sampler: str = "fast"
    pool_size: int | None = None

    def __post_init__(self) -> None:
        """Validate."""
        check_number("alpha", self.alpha, at_least=0)
        check_number("z", self.z, above=0, below=1)
        if self.z - 1.0 - math.log(self.z) <= 0.0:
            raise ValueError(f"z is so close to 1 that the warm-up would never end: {self.z!r}")
        check_number("warm_up", self.warm_up, at_least=0)
        check_choice("sampler", self.sampler, SAMPLERS)
        if self.pool_size is not None:
            check_count("pool_size", self.pool_size, at_least=2)

    def warm_up_rounds(self, n_arms: int, horizon: int) -> int:
        """Return how many rounds the warm-up lasts."""
        return int(max(n_arms, self.warm_up / (self.z - 1.0 - math.log(self.z)) * math.log(horizon) + 1.0))

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> COReState:
        """Return a state that has seen nothing."""
        return COReState(
            counts=np.zeros(n_arms),
            sums=np.zeros(n_arms),
            pool=new_pool(capacity, self.sampler, self.pool_size),
            alpha=float(self.alpha),
            warm_up=self.warm_up / (self.z - 1.0 - math.log(self.z)),
            log_horizon=-1.0 if horizon is None else math.log(horizon),
        )
