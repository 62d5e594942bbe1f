r"""LinCORe for worlds that change: memory that fades, and a new start where the model's errors have plainly changed.

    theta~ = G^-1 (sum of x_l Y_l + noise),   noise ~ alpha sd(pool) N(0, G + extra sum of spanning x x')

where G = lam I + sum of x_l x_l', the sum of x_l Y_l and the pool fade: every round, what was learnt before counts a
little less, only the ridge does not. The rows that pointed out of everything seen before them, at most d, count `extra`
times more in the noise and never fade. So directions that were not looked at for long get noisier, and rows along them
are tried again. On one-hot features with lam -> 0 this is `DriftingCORe`, which says more.

Besides, what the model gets wrong, Y_l - x_l' theta, is watched (`parts/alarm.py`), once each feature has been seen
`SETTLED` times over. If that changes plainly everything is forgotten: the regression, the noise, the pool.

Where we differ from LinCORe: no warm-up, and the noise's covariance has the ridge in it, which is next to nothing where
there is any memory, and makes rows that were forgotten worth trying.
"""

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, IntArray, Scratch
from corebandit.contracts.validate import check_count, check_number
from corebandit.parts.alarm import Alarm, new_alarm
from corebandit.parts.fading import FadedPool, new_faded_pool
from corebandit.parts.fading_ridge import FadedRidge, Widened, new_faded_ridge, new_widened
from corebandit.policies.arms.drifting_core import DELTA, fading_for
from corebandit.randomness.stream import Stream

SETTLED = 20  # rounds for each feature after a start, before errors are watched: estimates are still moving


@allocating_nothing
class DriftingLinCOReState(NamedTuple):
    """What LinCORe remembers of a world that changes."""

    model: FadedRidge
    noise: Widened
    pool: FadedPool
    alarm: Alarm  # of the errors, as one arm
    since: IntArray  # (1,) rounds since the last start
    counts: FloatArray  # (n_arms,) how often each was chosen
    perturbed: Scratch  # (d,) the perturbed estimate
    alpha: float

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the perturbed estimate of each row's reward."""
        if self.noise.span.favours_new(features, self.counts, scores):
            return
        ridge = self.model.ridge
        self.noise.shift(ridge.factor, self.alpha * self.pool.deviation(), rng, self.perturbed)
        ridge.predict_shifted(features, self.perturbed, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward, and start anew if errors have plainly changed."""
        error = reward
        for j in range(x.size):
            error -= x[j] * self.model.ridge.theta[j]
        self.counts[arm] += 1.0
        self.model.push(x, reward)
        self.noise.add(x)
        self.pool.add(reward)
        self.since[0] += 1
        if self.alarm.is_on() and self.since[0] > SETTLED * x.size and self.alarm.rings(0, error):
            self.model.forget()
            self.noise.forget()
            self.pool.restart(0.0, 0.0, 0.0)
            self.alarm.forget()
            self.since[0] = 0


@dataclass(frozen=True, kw_only=True)
class LinForgets(FeaturePolicy):
    """What the forms of LinCORe share that forget: the noise, which is that of LinCORe without a warm-up."""

    alpha: float
    extra: int
    lam: float

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, at_least=0)
        check_count("extra", self.extra, at_least=0)
        check_number("lam", self.lam, above=0)

    def remembering(self, n_arms: int, n_features: int, discount: float, delta: float | None) -> DriftingLinCOReState:
        """Return a state that has seen nothing."""
        return DriftingLinCOReState(
            model=new_faded_ridge(n_features, self.lam, discount),
            noise=new_widened(n_features, self.extra),
            pool=new_faded_pool(discount),
            alarm=new_alarm(1, delta),
            since=np.zeros(1, np.int64),
            counts=np.zeros(n_arms),
            perturbed=np.zeros(n_features),
            alpha=float(self.alpha),
        )


@dataclass(frozen=True)
class DriftingLinCORe(LinForgets):
    """LinCORe for worlds that change, given for how many decisions a world stays about the same; any real rewards.

    Parameters
    ----------
    lasts
        For how many decisions the world stays about the same: your best guess.
    alpha, extra, lam
        As in `LinCORe` without a warm-up.

    >>> DriftingLinCORe(lasts=2000).label
    'DriftingLinCORe(lasts=2000)'
    """

    lasts: int = 10_000
    _: KW_ONLY
    alpha: float = 0.4
    extra: int = 4
    lam: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("lasts", self.lasts)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> DriftingLinCOReState:
        """Return a state that has seen nothing."""
        return self.remembering(n_arms, n_features, fading_for(self.lasts, n_features), DELTA)
