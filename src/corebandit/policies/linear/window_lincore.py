r"""LinCORe with a sliding window: it knows the last `window` rounds, and nothing else.

    theta~ = G^-1 (sum of x_l Y_l + noise),   noise ~ alpha sd(pool) N(0, G + extra sum of spanning x x')

where G = lam I + sum of x_l x_l', the sum of x_l Y_l and the pool are of the last `window` rounds: a reward that leaves
the window leaves the pool too. The rest is as in `DriftingLinCORe`.
"""

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, Scratch
from corebandit.contracts.validate import check_count
from corebandit.parts.fading_ridge import RecentRidge, Widened, new_recent_ridge, new_widened
from corebandit.parts.pool import Pool, new_pool
from corebandit.parts.ridge import predict
from corebandit.policies.linear.drifting_lincore import LinForgets
from corebandit.randomness.stream import Stream


@allocating_nothing
class WindowLinCOReState(NamedTuple):
    """What LinCORe has learnt in the last rounds."""

    model: RecentRidge
    noise: Widened
    pool: Pool
    counts: FloatArray  # (n_arms,) how often each was chosen
    perturbed: Scratch  # (d,) the perturbed estimate
    alpha: float

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the perturbed estimate of each row's reward."""
        if self.noise.span.favours_new(features, self.counts, scores):
            return
        self.noise.shift(self.model.factor, self.alpha * self.pool.deviation(), rng, self.perturbed)
        for j in range(self.perturbed.size):
            self.perturbed[j] += self.model.theta[j]
        predict(features, self.perturbed, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward, and forget the one that leaves the window."""
        self.counts[arm] += 1.0
        self.model.push(x, reward)
        self.noise.add(x)
        self.pool.renew(reward, rng)


@dataclass(frozen=True)
class WindowLinCORe(LinForgets):
    """LinCORe that knows the last `window` rounds alone, and so does its pool; any real rewards.

    >>> WindowLinCORe(window=500).label
    'WindowLinCORe(window=500)'
    """

    window: int = 4000
    _: KW_ONLY
    alpha: float = 0.6
    extra: int = 4
    lam: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("window", self.window, at_least=2)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> WindowLinCOReState:
        """Return a state that has seen nothing."""
        return WindowLinCOReState(
            model=new_recent_ridge(n_features, self.lam, self.window, capacity),
            noise=new_widened(n_features, self.extra),
            pool=new_pool(capacity, "fast", self.window, room=min(self.window, capacity)),
            counts=np.zeros(n_arms),
            perturbed=np.zeros(n_features),
            alpha=float(self.alpha),
        )
