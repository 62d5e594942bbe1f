r"""SW-TS: Thompson sampling with a sliding window (Trovò, Paladino, Restelli and Gatti, JAIR 2020).

    index_i ~ Beta(1 + S_i, 1 + F_i),   S_i successes, F_i failures in the last `window` rounds

Valid for rewards in [0, 1]: one strictly inside counts as a success with just that probability.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import UNIT_INTERVAL, Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count
from corebandit.parts.recent import Recent, new_recent
from corebandit.randomness.stream import Stream


@allocating_nothing
class SWTSState(NamedTuple):
    """What Thompson sampling has learnt in the last rounds."""

    recent: Recent  # whose rewards are 0 or 1

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with draws from the posterior of each arm's mean."""
        for arm in range(scores.size):
            n, successes = self.recent.counts[arm], self.recent.sums[arm]
            scores[arm] = rng.beta(1.0 + successes, 1.0 + n - successes)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward, rounded at random to 0 or 1, and forget the one that leaves the window."""
        self.recent.push(arm, 1.0 if reward >= 1.0 or (reward > 0.0 and rng.random() < reward) else 0.0)


@dataclass(frozen=True)
class SWTS(Policy):
    """Choose by a draw from the posterior of each arm, of the last `window` rounds alone; rewards in [0, 1].

    >>> SWTS(window=500).label
    'SWTS(window=500)'
    """

    window: int = 4000

    def __post_init__(self) -> None:
        check_count("window", self.window, at_least=2)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> SWTSState:
        """Return a state that has seen nothing."""
        return SWTSState(new_recent(n_arms, self.window, capacity))

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return UNIT_INTERVAL
