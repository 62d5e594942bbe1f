r"""NP-TS: non-parametric Thompson sampling (Riou and Honda, ALT 2020).

    index_i = sum_j L_j X_j,   L ~ Dirichlet(1, ..., 1),   X = the known upper bound and the arm's rewards

Valid for rewards that never exceed `upper`; how low they go does not matter. Exact.

Where we differ: in cost only. Up to 16 distinct values of an arm are kept with their counts, as the Dirichlet weight of
a value seen k times is a gamma(k) draw: on 0/1 rewards, where the index is Beta(1 + S, F), a round costs O(n_arms).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled import allocating_nothing, kernel
from corebandit.history import PAGE, History, new_history
from corebandit.recipe import REAL_LINE, Policy
from corebandit.samplers import standard_exponential
from corebandit.state import FloatArray, IntArray
from corebandit.stream import Stream
from corebandit.validate import check_flag, check_number
from corebandit.words import Words

N_ATOMS = 16


@kernel
def _weigh(pages: FloatArray, table: IntArray, arm: int, n: int, upper: float, words: Words) -> tuple[float, float]:
    """Give each of the arm's `n` listed rewards an exponential weight; return their sum and the weighted shortfall."""
    weights, shortfall = 0.0, 0.0
    for start in range(0, n, PAGE):
        page = table[arm, start // PAGE]
        for place in range(min(PAGE, n - start)):
            weight = standard_exponential(words)
            weights += weight
            shortfall += weight * (upper - pages[page, place])
    return weights, shortfall


@allocating_nothing
class NPTSState(NamedTuple):
    """What NP-TS has learnt."""

    atoms: FloatArray  # (n_arms, 16) distinct values of each arm, the upper bound first
    repeats: FloatArray  # (n_arms, 16) how often each was seen
    n_atoms: IntArray  # (n_arms,) how many are in use
    others: History  # the rewards for which there was no room
    upper: float

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with randomly weighted means of each arm's rewards and the upper bound."""
        for arm in range(scores.size):
            weights, shortfall = _weigh(
                self.others.pages, self.others.table, arm, self.others.counts[arm], self.upper, rng.words
            )
            for atom in range(self.n_atoms[arm]):
                weight = rng.standard_gamma(self.repeats[arm, atom])
                weights += weight
                shortfall += weight * (self.upper - self.atoms[arm, atom])
            # Measured from the upper bound, arms that paid nothing less tie exactly.
            scores[arm] = self.upper - shortfall / weights

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        n = self.n_atoms[arm]
        for atom in range(n):
            if self.atoms[arm, atom] == reward:
                self.repeats[arm, atom] += 1.0
                return
        if n < N_ATOMS:
            self.atoms[arm, n] = reward
            self.repeats[arm, n] = 1.0
            self.n_atoms[arm] += 1
        else:
            self.others.append(arm, reward)


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
        """Validate."""
        check_flag("any_reward", self.any_reward)
        check_number("upper", self.upper)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> NPTSState:
        """Return a state that has seen nothing."""
        atoms, repeats = np.zeros((n_arms, N_ATOMS)), np.zeros((n_arms, N_ATOMS))
        atoms[:, 0], repeats[:, 0] = self.upper, 1.0
        return NPTSState(atoms, repeats, np.ones(n_arms, np.int64), new_history(n_arms, capacity), float(self.upper))

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return REAL_LINE if self.any_reward else (-math.inf, float(self.upper))
