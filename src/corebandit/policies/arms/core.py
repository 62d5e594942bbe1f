r"""CORe: Capitalizing On Rewards (Wang, Kveton and Karimzadehgan, UAI 2021).

Every past reward is perturbed with a draw from the pool of all past rewards, centred and mirrored:

    index_i = (S_i + A_i) / N_i,   A_i = sum of N_i draws from {±alpha (Y_l - mean(Y))}

so exploration scales itself to the variance of the rewards. Valid for any real rewards of finite variance.

Instead of a warm-up, `warm_up=0` tries every arm once and `extra` gives each arm's sum some draws more,

    index_i = (S_i + A_i) / N_i,   A_i = sum of N_i + extra draws from {±alpha (Y_l - mean(Y))}

which weigh much for an arm with few pulls, so that it comes back after bad luck, and nothing for one with many. That
needs neither z nor a horizon. With `growth` the noise of an arm that has fallen behind an equal share of the t rounds
so far grows with the log of how far, as bonuses do in MOSS (Audibert and Bubeck, 2009),

    alpha_i^2 = alpha^2 (1 + growth max(0, ln(t / (K N_i))))

so that arms are given up early where there are many, and come back late where one was given up too early.

Where we differ from the paper: lambda is 0 (an average, as its text says), so adding a constant to all rewards changes
nothing. The warm-up pulls the arm with the fewest pulls, so every arm once before any twice, in an order drawn at
random instead of by index. Without a horizon the current round takes its place (*anytime*).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import Policy, added_after_0_4
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, check_number
from corebandit.parts.pool import SEEN, Pool, check_form, new_pool
from corebandit.parts.warm_up import WarmsUp, favour_least_chosen, is_warming_up, known_log, rounds_per_log
from corebandit.randomness.stream import Stream


@allocating_nothing
class COReState(NamedTuple):
    """What CORe has learnt."""

    counts: FloatArray  # (n_arms,) pulls
    sums: FloatArray  # (n_arms,) total reward
    pool: Pool
    alpha: float
    warm_up: float  # warm-up rounds for each unit of the log horizon
    log_horizon: float  # negative: not known
    extra: int  # draws in each arm's sum besides one for each pull
    growth: float  # of the noise's variance, for each unit of the log of how far an arm has fallen behind

    def is_warming_up(self) -> bool:
        """Tell whether the coming round belongs to the warm-up."""
        return is_warming_up(self.pool.tally[SEEN] + 1, self.counts.size, self.warm_up, self.log_horizon)

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the mean perturbed reward of each arm."""
        if self.is_warming_up():
            favour_least_chosen(self.counts, scores)
            return
        for arm in range(scores.size):
            n = self.counts[arm]
            if n == 0.0:
                scores[arm] = np.inf
            else:
                noise = self.alpha * self.pool.draw_sum(int(n) + self.extra, rng)
                if self.growth > 0.0:
                    noise *= self.grown(n)
                scores[arm] = (self.sums[arm] + noise) / n

    def grown(self, n: float) -> float:
        """Return how many times as large the noise of an arm with n pulls is than without growth."""
        behind = self.pool.tally[SEEN] / (self.counts.size * n)
        return math.sqrt(1.0 + self.growth * math.log(behind)) if behind > 1.0 else 1.0

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        self.sums[arm] += reward
        self.pool.add(reward, rng)


@dataclass(frozen=True)
class CORe(WarmsUp, Policy):
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
    extra
        Draws in each arm's noise besides one for each pull. With `warm_up=0` they take the place of the warm-up.
    sampler
        "fast", whose cost hardly grows with history, or "exact", one draw for each past reward. "halving" has the law
        of "fast" and is made for GPUs and rewards of at most 16 distinct values, such as 0 and 1: a processor takes
        longer with it.
    pool_size
        Keep at most so many rewards, a uniform sample of all; None keeps every one.
    pool
        "mirrored", the paper's, or "plain", which draws the rewards themselves, neither centred nor mirrored: to study
        what those do. It needs `sampler="exact"`.
    growth
        How much the noise's variance grows for each unit of ln(rounds / (arms * pulls)), of arms with less than an
        equal share of all pulls; 0 in a plain pool.

    >>> CORe(alpha=0.4).label
    'CORe(alpha=0.4)'
    """

    sampler: str = "fast"
    pool_size: int | None = None
    pool: str = "mirrored"
    growth: float = added_after_0_4(0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_form(self.sampler, self.pool)
        check_number("growth", self.growth, at_least=0)
        if self.growth > 0 and self.pool == "plain":  # its draws have a mean, which would grow with the noise
            raise BadInput(f"pool='plain' needs growth=0, not {self.growth:g}: only noise that is centred may grow")
        if self.pool_size is not None:
            check_count("pool_size", self.pool_size, at_least=2)

    @property
    def looks_back(self) -> bool:
        """Tell whether every round looks at the rewards of all before."""
        return self.sampler == "exact"

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> COReState:
        """Return a state that has seen nothing."""
        return COReState(
            counts=np.zeros(n_arms),
            sums=np.zeros(n_arms),
            pool=new_pool(capacity, self.sampler, self.pool_size, self.pool),
            alpha=float(self.alpha),
            warm_up=rounds_per_log(self.z, self.warm_up),
            log_horizon=known_log(horizon),
            extra=int(self.extra),
            growth=float(self.growth),
        )
