r"""UCB-V (Audibert, Munos and Szepesvári, 2009).

    index_i = mean_i + sqrt(2 V_i E / N_i) + 3 c b E / N_i,   V_i = variance of the arm's rewards (divided by N_i)

Valid for rewards within a known range of width b. The original explores by E = zeta ln t. The horizon form,
E = ln 3 + 2 ln n, is the one behind the figures of the CORe paper, and much more cautious.

Where we differ: the variance is kept by a one-pass update, so rewards far from 0 lose no digits.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import REAL_LINE, Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_choice, check_flag, check_number
from corebandit.randomness.stream import Stream

EXPLORATIONS = ("horizon", "anytime")


@allocating_nothing
class UCBVState(NamedTuple):
    """What UCB-V has learnt."""

    counts: FloatArray  # (n_arms,) pulls
    means: FloatArray  # (n_arms,) mean reward
    squares: FloatArray  # (n_arms,) sum of the squared deviations from the mean
    fixed: float  # E of the horizon form; negative: zeta ln t
    zeta: float
    width: float  # c b

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bounds."""
        exploration = self.fixed if self.fixed >= 0.0 else self.zeta * math.log(1.0 + self.counts.sum())
        for arm in range(scores.size):
            n = self.counts[arm]
            if n == 0.0:
                scores[arm] = np.inf
            else:
                share = exploration / n
                spread = math.sqrt(2.0 * self.squares[arm] / n * share)
                scores[arm] = self.means[arm] + spread + 3.0 * self.width * share

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        gap = reward - self.means[arm]
        self.means[arm] += gap / self.counts[arm]
        self.squares[arm] += gap * (reward - self.means[arm])


@dataclass(frozen=True)
class UCBV(Policy):
    """Choose by upper confidence bounds that know the variance of the rewards.

    Parameters
    ----------
    exploration
        "horizon" explores by ln 3 + 2 ln(horizon), "anytime" by zeta ln(round).
    zeta
        How much the anytime form explores; the analysis asks for more than 1.
    c
        Weight of the correction for few pulls.
    width
        Width of the range of the rewards, which is [0, width].
    any_reward
        Accept rewards outside that range, as the authors of CORe do for Gaussian ones.

    >>> UCBV(exploration="anytime").label
    "UCBV(exploration='anytime')"
    """

    exploration: str = "horizon"
    zeta: float = 1.2
    c: float = 1.0
    width: float = 1.0
    any_reward: bool = False

    def __post_init__(self) -> None:
        check_flag("any_reward", self.any_reward)
        check_choice("exploration", self.exploration, EXPLORATIONS)
        check_number("zeta", self.zeta, above=0)
        check_number("c", self.c, at_least=0)
        check_number("width", self.width, above=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> UCBVState:
        """Return a state that has seen nothing."""
        fixed = -1.0
        if self.exploration == "horizon":
            if horizon is None:
                raise BadInput("UCBV(exploration='horizon') needs a horizon: give one, or use exploration='anytime'")
            fixed = math.log(3.0) + 2.0 * math.log(horizon)
        return UCBVState(
            counts=np.zeros(n_arms),
            means=np.zeros(n_arms),
            squares=np.zeros(n_arms),
            fixed=fixed,
            zeta=float(self.zeta),
            width=float(self.c * self.width),
        )

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return REAL_LINE if self.any_reward else (0.0, float(self.width))
