r"""D-UCB: discounted upper confidence bounds (Kocsis and Szepesvári, 2006; Garivier and Moulines, ALT 2011).

    index_i = S_i / N_i + 2 B sqrt(xi ln(n) / N_i),   n = sum of all N_j

with discounted counts N_i and sums S_i: every round, what came before counts `discount` times as much. Rewards are in
[0, B]; B = 2 sigma, so that sigma = 1/2 is the original formula for rewards in [0, 1].
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.parts.fading import FORGOTTEN, Faded, check_discount, new_faded
from corebandit.randomness.stream import Stream


@allocating_nothing
class DUCBState(NamedTuple):
    """What D-UCB remembers."""

    arms: Faded
    sigma: float
    xi: float

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bounds."""
        total = 0.0
        for count in self.arms.counts:
            total += count
        width = 4.0 * self.sigma * math.sqrt(self.xi * math.log(max(total, 1.0)))
        for arm in range(scores.size):
            n = self.arms.counts[arm]
            scores[arm] = np.inf if n < FORGOTTEN else self.arms.sums[arm] / n + width / math.sqrt(n)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.arms.push(arm, reward)


@dataclass(frozen=True)
class DUCB(Policy):
    """Choose by upper confidence bounds of rewards that fade, for sigma-sub-Gaussian rewards.

    Parameters
    ----------
    discount
        How much a reward counts a round later; 1 - 1/n remembers about n rounds.
    xi
        Strength of the bounds: 0.6 in the paper's analysis, which needs more than 1/2; 1/2 in its experiments.
    sigma
        1/2 covers everything in [0, 1].

    >>> DUCB(discount=0.99).label
    'DUCB(discount=0.99)'
    """

    discount: float = 0.9995
    xi: float = 0.6
    sigma: float = 0.5

    def __post_init__(self) -> None:
        check_discount(self.discount)
        check_number("xi", self.xi, at_least=0)
        check_number("sigma", self.sigma, above=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> DUCBState:
        """Return a state that has seen nothing."""
        return DUCBState(new_faded(n_arms, self.discount), float(self.sigma), float(self.xi))
