r"""PHE: perturbed-history exploration (Kveton, Szepesvári, Ghavamzadeh and Boutilier, IJCAI 2019).

    index_i = (S_i + U_i) / (N_i + m_i),   U_i = sum of m_i = ceil(a N_i) pseudo-rewards, new in every round

Bernoulli(1/2) pseudo-rewards are made for rewards in [0, 1], which stay as they are. N(1/2, sigma^2) ones suit any
real rewards whose noise is about sigma. The regret bound asks for a > 2; a = 1.1 is the best of the safe choices, 0.5
is often better and at times nearly linear.

Where we differ: a product a N_i that floating point lifts just above a whole number (1.1 x 50) is that whole number.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, inlined
from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL, Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_choice, check_flag, check_number
from corebandit.randomness.stream import Stream

PSEUDO_REWARDS = ("bernoulli", "gaussian")
JUST_BELOW_ONE = 1.0 - 1e-12


@inlined
def n_pseudo_rewards(a: float, n: float) -> int:
    """Return how many pseudo-rewards `n` rewards bring, ceil(a n)."""
    return math.ceil(a * n * JUST_BELOW_ONE)


@inlined
def n_further_pseudo_rewards(a: float, n: float) -> float:
    """Return how many pseudo-rewards one reward more than `n` brings."""
    return float(n_pseudo_rewards(a, n + 1.0) - n_pseudo_rewards(a, n))


def check_pseudo_rewards(a: float, pseudo: str, sigma: float, any_reward: bool) -> None:
    """Raise BadInput unless the parameters make sense."""
    check_flag("any_reward", any_reward)
    check_number("a", a, above=0)
    check_choice("pseudo", pseudo, PSEUDO_REWARDS)
    check_number("sigma", sigma, above=0)


def range_for(pseudo: str, any_reward: bool) -> tuple[float, float]:
    """Return the smallest and the largest reward that such pseudo-rewards are made for."""
    return REAL_LINE if any_reward or pseudo == "gaussian" else UNIT_INTERVAL


@allocating_nothing
class PHEState(NamedTuple):
    """What PHE has learnt."""

    counts: FloatArray  # (n_arms,) pulls
    sums: FloatArray  # (n_arms,) total reward
    a: float
    is_gaussian: bool
    sigma: float

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the mean of each arm's rewards and pseudo-rewards."""
        for arm in range(scores.size):
            n = self.counts[arm]
            if n == 0.0:
                scores[arm] = np.inf
                continue
            n_pseudo = n_pseudo_rewards(self.a, n)
            if self.is_gaussian:
                pseudo = 0.5 * n_pseudo + self.sigma * math.sqrt(n_pseudo) * rng.standard_normal()
            else:
                pseudo = float(rng.binomial(n_pseudo, 0.5))
            scores[arm] = (self.sums[arm] + pseudo) / (n + n_pseudo)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        self.sums[arm] += reward


@dataclass(frozen=True)
class PHE(Policy):
    """Add pseudo-rewards to the history of each arm and choose the best mean.

    Parameters
    ----------
    a
        Pseudo-rewards for each reward.
    pseudo
        "bernoulli" for rewards in [0, 1], "gaussian" for any.
    sigma
        Standard deviation of a Gaussian pseudo-reward.
    any_reward
        Accept rewards outside [0, 1] with Bernoulli pseudo-rewards too.

    >>> PHE(a=0.5).label
    'PHE(a=0.5)'
    """

    a: float = 1.1
    pseudo: str = "bernoulli"
    sigma: float = 0.5
    any_reward: bool = False

    def __post_init__(self) -> None:
        check_pseudo_rewards(self.a, self.pseudo, self.sigma, self.any_reward)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> PHEState:
        """Return a state that has seen nothing."""
        is_gaussian = self.pseudo == "gaussian"
        return PHEState(np.zeros(n_arms), np.zeros(n_arms), float(self.a), is_gaussian, float(self.sigma))

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return range_for(self.pseudo, self.any_reward)
