r"""Giro: garbage in, reward out (Kveton, Szepesvári, Vaswani, Wen, Lattimore and Ghavamzadeh, ICML 2019).

    index_i = mean of N_i + 2 m draws with replacement from the arm's rewards, m zeros and m ones,   m about a N_i

Valid for rewards in [0, 1]; a N_i is rounded at random. The draws are new in every round.

Where we differ: in cost only. An arm that has paid nothing but 0 and 1 needs one binomial draw. For other rewards the
zeros and ones are counted by binomial draws and only the arm's own rewards are drawn one by one.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL, Policy
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_flag, check_number
from corebandit.parts.history import History, new_history
from corebandit.randomness.stream import Stream


@allocating_nothing
class GiroState(NamedTuple):
    """What Giro has learnt."""

    rewards: History
    sums: FloatArray  # (n_arms,) total reward
    others: IntArray  # (n_arms,) rewards that are neither 0 nor 1
    a: float

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the mean of each arm's resampled history."""
        for arm in range(scores.size):
            n = self.rewards.counts[arm]
            if n == 0:
                scores[arm] = np.inf
                continue
            n_zeros = int(self.a * n + rng.random())  # as many ones
            size = n + 2 * n_zeros
            if self.others[arm] == 0:
                total = float(rng.binomial(size, (self.sums[arm] + n_zeros) / size))
            else:
                total = self.draw_sum(arm, size, rng)
            scores[arm] = total / size

    def draw_sum(self, arm: int, size: int, rng: Stream) -> float:
        """Draw the sum of `size` draws from the arm's rewards and as many zeros and ones as make up `size`."""
        n = self.rewards.counts[arm]
        n_real = rng.binomial(size, n / size)
        total = float(rng.binomial(size - n_real, 0.5))
        for _ in range(n_real):
            total += self.rewards.value(arm, rng.integers(n))
        return total

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.rewards.append(arm, reward)
        self.sums[arm] += reward
        if reward != 0.0 and reward != 1.0:
            self.others[arm] += 1


@dataclass(frozen=True)
class Giro(Policy):
    """Resample each arm's history, with pseudo-rewards 0 and 1 added, and choose the best mean.

    Parameters
    ----------
    a
        Pairs of pseudo-rewards for each reward.
    any_reward
        Accept rewards outside [0, 1].

    >>> Giro(a=0.1).label
    'Giro(a=0.1)'
    """

    a: float = 1.0
    any_reward: bool = False

    def __post_init__(self) -> None:
        check_flag("any_reward", self.any_reward)
        check_number("a", self.a, above=0)

    @property
    def looks_back(self) -> bool:
        """Tell whether every round looks at the rewards of all before."""
        return True

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> GiroState:
        """Return a state that has seen nothing."""
        return GiroState(
            rewards=new_history(n_arms, capacity),
            sums=np.zeros(n_arms),
            others=np.zeros(n_arms, np.int64),
            a=float(self.a),
        )

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return REAL_LINE if self.any_reward else UNIT_INTERVAL
