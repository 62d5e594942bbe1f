r"""CORe with a sliding window: it knows the last `window` rounds, and nothing else.

    index_i = (S_i + A_i) / N_i,   A_i = sum of N_i + extra draws from {±alpha (Y_l - mean(Y))}

where counts N_i, sums S_i and the pool Y are those of the last `window` rounds: a reward that leaves the window leaves
the pool too. An arm not tried in the window is tried at once. There is no warm-up, as in CORe with `warm_up=0` and
`extra`: none could know when the world will change.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_choice, check_count, check_number
from corebandit.parts.pool import SAMPLERS, Pool, new_pool
from corebandit.parts.recent import Recent, new_recent
from corebandit.randomness.stream import Stream


@allocating_nothing
class WindowCOReState(NamedTuple):
    """What CORe has learnt in the last rounds."""

    recent: Recent
    pool: Pool
    alpha: float
    extra: int

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the mean perturbed reward of each arm."""
        for arm in range(scores.size):
            n = self.recent.counts[arm]
            if n == 0.0:
                scores[arm] = np.inf
            else:
                noise = self.alpha * self.pool.draw_sum(int(n) + self.extra, rng)
                scores[arm] = (self.recent.sums[arm] + noise) / n

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward, and forget the one that leaves the window."""
        self.recent.push(arm, reward)
        self.pool.renew(reward, rng)


@dataclass(frozen=True)
class WindowCORe(Policy):
    """CORe that knows the last `window` rounds alone, and so does its pool; any real rewards.

    Parameters
    ----------
    window
        How many rounds are remembered.
    alpha, extra
        Scale of the noise, and draws in each arm's noise besides one for each pull in the window, as in `CORe`.
    sampler
        "fast", "exact" or "halving", as in `CORe`.

    >>> WindowCORe(window=500).label
    'WindowCORe(window=500)'
    """

    window: int = 4000
    alpha: float = 0.6
    extra: int = 4
    sampler: str = "fast"

    def __post_init__(self) -> None:
        check_count("window", self.window, at_least=2)
        check_number("alpha", self.alpha, at_least=0)
        check_count("extra", self.extra, at_least=0)
        check_choice("sampler", self.sampler, SAMPLERS)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> WindowCOReState:
        """Return a state that has seen nothing."""
        return WindowCOReState(
            recent=new_recent(n_arms, self.window, capacity),
            pool=new_pool(capacity, self.sampler, self.window, room=min(self.window, capacity)),
            alpha=float(self.alpha),
            extra=int(self.extra),
        )
