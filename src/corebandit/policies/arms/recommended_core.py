"""CORe with the setting that our own study recommends: no warm-up, no horizon, nothing to choose."""

from dataclasses import dataclass, field

from corebandit.parts.warm_up import NOMINAL_HORIZON
from corebandit.policies.arms.core import CORe, COReState


@dataclass(frozen=True)
class RecommendedCORe(CORe):
    """CORe with the setting that our own study recommends instead of the paper's: no warm-up, noise that grows.

    The warm-up makes up most of the paper's CORe's regret; a short one lets runs settle on a wrong arm for long. Here
    every arm is tried once, and the noise of arms that have fallen behind grows with the log of how far, which brings
    those back that had bad luck. `corebandit reproduce exploration` compares settings with the best rivals, over
    problems and horizons; docs/which_policy.md tells what it found, and where others are better. Until version 0.4 this
    was `CORe(alpha=0.6, warm_up=0.5)`; agents saved with that go on with it. A warm-up, if one is asked for, is without
    a horizon that of 10,000 rounds: one that grew with the rounds would end after a dozen.

    >>> RecommendedCORe().warm_up, RecommendedCORe().extra, RecommendedCORe().growth
    (0.0, 1, 1.0)
    """

    alpha: float = 0.4
    warm_up: float = 0.0
    extra: int = field(default=1, kw_only=True)
    growth: float = field(default=1.0, kw_only=True)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> COReState:
        """Return a state that has seen nothing."""
        return super().start(n_arms, horizon or NOMINAL_HORIZON, capacity)
