r"""SSMC: sub-sample mean comparison (Chan, Annals of Statistics 2020).

    k challenges if N_k < N_leader and (N_k < sqrt(ln n) or mean_k >= min_t mean of the leader's t, ..., t + N_k - 1)

In rounds: the leader is the arm with the most rewards (ties: the larger mean, then the previous leader, then any). All
challengers are sampled once, in random order; if there is none, the leader. Valid for any real rewards, as only means
of equally many rewards are ever compared.

Where we differ: the original takes the lowest mean of *any* N_k consecutive rewards of the leader, `window="min"`; the
code of CORe's authors takes that of the last ones, `window="last"`, which is LB-SDA (Baudry, Russac and Cappé, ICML
2021). The lowest windows are kept up to date instead of searched for in each round: the leader's new reward adds one
window for each arm, and only an arm's own new reward, or a new leader, calls for a search.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_choice
from corebandit.parts.history import History, new_history
from corebandit.randomness.stream import Stream

WINDOWS = ("min", "last")
MIN, LAST, RANDOM = range(3)  # which window of the leader an arm is compared with


@allocating_nothing
class SSMCState(NamedTuple):
    """What SSMC has learnt."""

    totals: History  # running totals of each arm's rewards, counted from the origin
    origin: FloatArray  # (1,) the first reward of all: keeps the totals small where rewards are far from 0
    queue: IntArray  # (n_arms,) 1 for an arm still to be sampled in this round
    lowest: FloatArray  # (n_arms,) lowest sum of as many consecutive rewards of the leader as the arm has itself
    leader: IntArray  # (1,) negative: none yet
    window: int  # the lowest of all, the last alone, or one at random in each round
    forced: float  # arms of fewer than so many times sqrt(ln n) rewards are sampled anyway

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with 1 for the arms in the queue, 0.5 for the leader, less for the rest, by their rewards.

        Thus if neither the leader nor an arm in the queue is on offer, the arm with the most rewards stands in.
        """
        n, leader = self.totals.counts, self.leader[0]
        unit = 0.5 / (n[leader] + 1.0) if leader >= 0 else 0.0  # no arm has more rewards than the leader
        for arm in range(scores.size):
            scores[arm] = 1.0 if self.queue[arm] == 1 else unit * n[arm]
        if leader >= 0:
            scores[leader] = max(0.5, scores[leader])

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward; begin a new round when this one is done, or was not followed."""
        n = self.totals.counts
        if n.sum() == 0:
            self.origin[0] = reward
        self.totals.append(arm, self.totals.total(arm, n[arm]) + (reward - self.origin[0]))
        if self.window != RANDOM:
            self.keep_lowest(arm)
        was_expected = self.queue[arm] == 1
        self.queue[arm] = 0
        if not was_expected or self.queue.sum() == 0:
            self.queue_challengers(rng)

    def keep_lowest(self, arm: int) -> None:
        """Keep the lowest windows up to date after a reward of this arm."""
        n, leader = self.totals.counts, self.leader[0]
        if arm == leader:
            for other in range(n.size):
                if n[other] <= n[leader]:
                    newest = self.totals.window(leader, n[leader] - n[other], n[other])
                    self.lowest[other] = newest if self.window == LAST else min(self.lowest[other], newest)
        elif leader >= 0:
            self.search(arm)

    def search(self, arm: int) -> None:
        """Find the lowest window of the leader for this arm, infinite if the leader has too few rewards."""
        leader, length, lowest = self.leader[0], self.totals.counts[arm], np.inf
        last = self.totals.counts[leader] - length
        for start in range(max(last, 0) if self.window == LAST else 0, last + 1):
            lowest = min(lowest, self.totals.window(leader, start, length))
        self.lowest[arm] = lowest

    def queue_challengers(self, rng: Stream) -> None:
        """Find the leader and queue its challengers."""
        n = self.totals.counts
        leader = self.find_leader(rng)
        if leader != self.leader[0]:
            self.leader[0] = leader
            if self.window != RANDOM:
                for arm in range(n.size):
                    self.search(arm)
        few = self.forced * math.sqrt(math.log(n.sum()))
        where = rng.random() if self.window == RANDOM else 0.0
        for arm in range(n.size):
            if self.window == RANDOM and n[arm] < n[leader]:
                self.lowest[arm] = self.totals.window(leader, int(where * (n[leader] - n[arm] + 1)), n[arm])
            is_strong = n[arm] < few or self.totals.total(arm, n[arm]) >= self.lowest[arm]
            self.queue[arm] = 1 if n[arm] == 0 or (n[arm] < n[leader] and is_strong) else 0

    def find_leader(self, rng: Stream) -> int:
        """Return the arm with the most rewards; ties: the larger mean, then the previous leader, then any."""
        n, leader, n_tied = self.totals.counts, 0, 1
        for arm in range(1, n.size):
            lead = self.totals.total(arm, n[arm]) - self.totals.total(leader, n[leader])
            if n[arm] > n[leader] or (n[arm] == n[leader] and lead > 0.0):
                leader, n_tied = arm, 1
            elif n[arm] == n[leader] and lead == 0.0:
                n_tied += 1
                if leader != self.leader[0] and (arm == self.leader[0] or rng.integers(n_tied) == 0):
                    leader = arm
        return leader


def new_ssmc_state(n_arms: int, capacity: int, window: int, forced: float) -> SSMCState:
    """Return a state that has seen nothing."""
    return SSMCState(
        totals=new_history(n_arms, capacity),
        origin=np.zeros(1),
        queue=np.ones(n_arms, np.int64),
        lowest=np.full(n_arms, np.inf),
        leader=np.full(1, -1),
        window=window,
        forced=float(forced),
    )


@dataclass(frozen=True)
class SSMC(Policy):
    """Let every arm challenge the most-sampled one, comparing means of equally many rewards; any real rewards.

    Parameters
    ----------
    window
        "min" compares with the lowest mean of consecutive rewards of the leader, "last" with its latest.

    >>> SSMC(window="last").label
    "SSMC(window='last')"
    """

    window: str = "min"

    def __post_init__(self) -> None:
        check_choice("window", self.window, WINDOWS)

    @property
    def looks_back(self) -> bool:
        """Tell whether rounds look at the rewards of all before: a search for the lowest window does."""
        return self.window == "min"

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> SSMCState:
        """Return a state that has seen nothing."""
        return new_ssmc_state(n_arms, capacity, WINDOWS.index(self.window), forced=1.0)
