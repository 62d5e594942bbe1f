r"""CORe for worlds that change: memory that fades, and a new start where an arm has plainly changed.

    index_i = (S_i + A_i) / N_i,   A_i ~ alpha sd(pool) sqrt(N_i + extra) N(0, 1)

where counts N_i, sums S_i and the pool fade: every round, what was learnt before counts a little less. An arm that is
not tried for long is thus worth less and less draws, its index gets wider, and it is tried again, which is how an arm
is found that has quietly become better. The noise is CORe's, N_i + extra draws from the pool, in its normal limit, for
there are no half draws; and as in CORe without a warm-up every arm is tried once and `extra` draws take care of the
rest, since no warm-up could know when the world will change. Two of them are enough where CORe takes eight: an arm that
had bad luck is looked at again anyway.

Besides, each arm is watched (`parts/alarm.py`). If one's newest rewards are plainly not what they were, all arms are
forgotten, and the pool with them: of the arm that changed, and in the pool, what came after the change is kept.

The form without a warm-up is ours (`CORe` says more), and so is this one; `DiscountedCORe` and `RestartingCORe` are its
two halves.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, check_number
from corebandit.parts.alarm import Alarm, new_alarm
from corebandit.parts.fading import FORGOTTEN, Faded, FadedPool, faded_count, new_faded, new_faded_pool
from corebandit.randomness.stream import Stream

MEMORY = 8.0  # rounds remembered for each unit of sqrt(lasts n_arms), as `reproduce drift` has chosen it
DELTA = 0.01  # of the test for changes


@allocating_nothing
class DriftingCOReState(NamedTuple):
    """What CORe remembers of a world that changes."""

    arms: Faded
    pool: FadedPool
    alarm: Alarm
    alpha: float
    extra: float

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the mean perturbed reward of each arm."""
        deviation = self.alpha * self.pool.deviation()
        for arm in range(scores.size):
            n = self.arms.counts[arm]
            if n < FORGOTTEN:
                scores[arm] = np.inf
            else:
                noise = deviation * math.sqrt(n + self.extra) * rng.standard_normal()
                scores[arm] = (self.arms.sums[arm] + noise) / n

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward, and start anew if the arm has plainly changed."""
        self.arms.push(arm, reward)
        self.pool.add(reward)
        if self.alarm.is_on() and self.alarm.rings(arm, reward):
            self.restart(arm)

    def restart(self, arm: int) -> None:
        """Forget everything but what an arm paid after it changed, which counts as much as if it had faded since."""
        n, mean = faded_count(self.alarm.newest[0], self.arms.discount), self.alarm.newest[1]
        for other in range(self.arms.counts.size):
            self.arms.counts[other] = 0.0
            self.arms.sums[other] = 0.0
        self.arms.counts[arm] = n
        self.arms.sums[arm] = n * mean
        self.pool.restart(n, mean, self.alarm.variance_within(arm))
        self.alarm.forget()


@dataclass(frozen=True, kw_only=True)
class Forgets(Policy):
    """What the forms of CORe share that forget: the noise, which is that of CORe without a warm-up."""

    alpha: float
    extra: int

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, at_least=0)
        check_count("extra", self.extra, at_least=0)

    def remembering(self, n_arms: int, discount: float, delta: float | None) -> DriftingCOReState:
        """Return a state that has seen nothing."""
        return DriftingCOReState(
            arms=new_faded(n_arms, discount),
            pool=new_faded_pool(discount),
            alarm=new_alarm(n_arms, delta),
            alpha=float(self.alpha),
            extra=float(self.extra),
        )


def fading_for(lasts: int, n_choices: int) -> float:
    """Return the discount for a world that stays the same for so many rounds, and so many arms, or features.

    What is looked at again costs n_choices / memory a round, what changes unseen costs memory / lasts: both are least
    together at a memory of sqrt(lasts n_choices), up to a factor.
    """
    return 1.0 - 1.0 / (1.0 + MEMORY * math.sqrt(lasts * n_choices))


@dataclass(frozen=True)
class DriftingCORe(Forgets):
    """CORe for worlds that change, given for how many decisions a world stays about the same; any real rewards.

    Parameters
    ----------
    lasts
        For how many decisions the world stays about the same: your best guess.
    alpha, extra
        Scale of the noise, and draws in each arm's noise besides one for each reward remembered, as in `CORe`.

    >>> DriftingCORe(lasts=2000).label
    'DriftingCORe(lasts=2000)'
    """

    lasts: int = 10_000
    _: KW_ONLY
    alpha: float = 0.4
    extra: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("lasts", self.lasts)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> DriftingCOReState:
        """Return a state that has seen nothing."""
        return self.remembering(n_arms, fading_for(self.lasts, n_arms), DELTA)
