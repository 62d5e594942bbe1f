r"""NP-TS: non-parametric Thompson sampling (Riou and Honda, ALT 2020).

    index_i = sum_j L_j X_j,   L ~ Dirichlet(1, ..., 1),   X = the known upper bound and the arm's rewards

Valid for rewards that never exceed `upper`; how low they go does not matter. Exact.

Where we differ: in cost only. Up to 16 distinct values of an arm are kept with their counts, as the Dirichlet weight of
a value seen k times is a gamma(k) draw: on 0/1 rewards, where the index is Beta(1 + S, F), a round costs O(n_arms).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import REAL_LINE, Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_flag, check_number
from corebandit.parts.atoms import Atoms, new_atoms
from corebandit.randomness.stream import Stream


@allocating_nothing
class NPTSState(NamedTuple):
    """What NP-TS has learnt."""

    values: Atoms  # the upper bound and the rewards of each arm
    upper: float

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with randomly weighted means of each arm's rewards and the upper bound."""
        for arm in range(scores.size):
            scores[arm] = self.values.weighted_mean(arm, self.upper, rng)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.values.include(arm, reward)


@dataclass(frozen=True)
class NPTS(Policy):
    """Choose by randomly weighted means of each arm's rewards and a known upper bound.

    Parameters
    ----------
    upper
        The largest possible reward.
    any_reward
        Accept larger ones, as the authors of CORe do for Gaussian rewards.

    >>> NPTS(upper=5.0).label
    'NPTS(upper=5.0)'
    """

    upper: float = 1.0
    any_reward: bool = False

    def __post_init__(self) -> None:
        check_flag("any_reward", self.any_reward)
        check_number("upper", self.upper)

    @property
    def looks_back(self) -> bool:
        """Tell whether every round looks at the rewards of all before."""
        return True

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> NPTSState:
        """Return a state that has seen nothing."""
        return NPTSState(new_atoms(n_arms, capacity, float(self.upper)), float(self.upper))

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return REAL_LINE if self.any_reward else (-math.inf, float(self.upper))
