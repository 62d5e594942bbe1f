"""CORe with the setting that the warm-up study recommends."""

from dataclasses import dataclass

from corebandit.parts.warm_up import NOMINAL_HORIZON
from corebandit.policies.arms.core import CORe, COReState


@dataclass(frozen=True)
class RecommendedCORe(CORe):
    """CORe with the setting that our own study recommends instead of the paper's: an eighth of the warm-up.

    The warm-up makes up most of CORe's regret. `corebandit reproduce warmup` compares settings with the best rivals,
    over problems and horizons; docs/which_policy.md tells what it found. The risk: with so short a warm-up some runs
    settle on a wrong arm for long, the more the longer the horizon. `alpha=0.8` buys most of that off. Without a
    horizon the warm-up is that of 10,000 rounds: one that grew with the rounds would end after a dozen.

    >>> RecommendedCORe().warm_up
    0.5
    """

    alpha: float = 0.6
    warm_up: float = 0.5

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> COReState:
        """Return a state that has seen nothing."""
        return super().start(n_arms, horizon or NOMINAL_HORIZON, capacity)
