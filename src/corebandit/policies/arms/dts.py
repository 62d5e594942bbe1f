r"""dTS: discounted Thompson sampling (Raj and Kalyani, 2017).

    index_i ~ Beta(1 + S_i, 1 + F_i),   S_i successes, F_i failures, both discounted

Every round, what came before counts `discount` times as much, so that an arm not tried for long goes back to the prior.
Valid for rewards in [0, 1]: one strictly inside counts as a success with just that probability.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import UNIT_INTERVAL, Policy
from corebandit.contracts.state import FloatArray
from corebandit.parts.fading import Faded, check_discount, new_faded
from corebandit.randomness.stream import Stream


@allocating_nothing
class DTSState(NamedTuple):
    """What discounted Thompson sampling remembers."""

    arms: Faded  # whose sums are successes

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with draws from the posterior of each arm's mean."""
        for arm in range(scores.size):
            n, successes = self.arms.counts[arm], self.arms.sums[arm]
            scores[arm] = rng.beta(1.0 + successes, 1.0 + max(n - successes, 0.0))

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward, rounded at random to 0 or 1."""
        self.arms.push(arm, 1.0 if reward >= 1.0 or (reward > 0.0 and rng.random() < reward) else 0.0)


@dataclass(frozen=True)
class DTS(Policy):
    """Choose by a draw from the posterior of each arm, of successes and failures that fade; rewards in [0, 1].

    `discount` is how much a reward counts a round later; 1 - 1/n remembers about n rounds.

    >>> DTS(discount=0.99).label
    'DTS(discount=0.99)'
    """

    discount: float = 0.9995

    def __post_init__(self) -> None:
        check_discount(self.discount)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> DTSState:
        """Return a state that has seen nothing."""
        return DTSState(new_faded(n_arms, self.discount))

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return UNIT_INTERVAL
