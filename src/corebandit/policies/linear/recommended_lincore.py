"""LinCORe with the setting that our own study recommends: no warm-up, no horizon, nothing to choose."""

from dataclasses import dataclass, field

from corebandit.parts.warm_up import NOMINAL_HORIZON
from corebandit.policies.linear.lincore import LinCORe, LinCOReState


@dataclass(frozen=True)
class RecommendedLinCORe(LinCORe):
    """LinCORe with the setting that our own study recommends instead of the paper's: extra draws, no warm-up.

    `RecommendedCORe` says why. Here it is extra draws alone that bring back what had bad luck.

    >>> RecommendedLinCORe().warm_up, RecommendedLinCORe().extra
    (0.0, 4)
    """

    alpha: float = 0.8
    warm_up: float = 0.0
    extra: int = field(default=4, kw_only=True)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LinCOReState:
        """Return a state that has seen nothing."""
        return super().start(n_arms, n_features, horizon or NOMINAL_HORIZON, capacity)
