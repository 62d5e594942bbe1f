r"""SW-UCB: upper confidence bounds of the last rounds (Garivier and Moulines, ALT 2011).

    index_i = S_i / N_i + B sqrt(xi ln(min(t, window)) / N_i)

with counts N_i and sums S_i of the last `window` rounds. Rewards are in [0, B]; B = 2 sigma, so that sigma = 1/2 is the
original formula for rewards in [0, 1].
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, check_number
from corebandit.parts.recent import Recent, new_recent
from corebandit.randomness.stream import Stream


@allocating_nothing
class SWUCBState(NamedTuple):
    """What SW-UCB has learnt in the last rounds."""

    recent: Recent
    sigma: float
    xi: float

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bounds."""
        n_rounds = min(self.recent.seen[0] + 1, self.recent.window)
        width = 2.0 * self.sigma * math.sqrt(self.xi * math.log(n_rounds))
        for arm in range(scores.size):
            n = self.recent.counts[arm]
            scores[arm] = np.inf if n == 0.0 else self.recent.sums[arm] / n + width / math.sqrt(n)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward, and forget the one that leaves the window."""
        self.recent.push(arm, reward)


@dataclass(frozen=True)
class SWUCB(Policy):
    """Choose by upper confidence bounds of the last `window` rounds, for sigma-sub-Gaussian rewards.

    Parameters
    ----------
    window
        How many rounds are remembered.
    xi
        Strength of the bounds: 0.6 in the paper's experiments; its analysis needs more than 1/2.
    sigma
        1/2 covers everything in [0, 1].

    >>> SWUCB(window=500).label
    'SWUCB(window=500)'
    """

    window: int = 4000
    xi: float = 0.6
    sigma: float = 0.5

    def __post_init__(self) -> None:
        check_count("window", self.window, at_least=2)
        check_number("xi", self.xi, at_least=0)
        check_number("sigma", self.sigma, above=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> SWUCBState:
        """Return a state that has seen nothing."""
        return SWUCBState(new_recent(n_arms, self.window, capacity), float(self.sigma), float(self.xi))
