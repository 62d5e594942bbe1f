"""LinCORe with the setting that the warm-up study recommends."""

from dataclasses import dataclass

from corebandit.parts.warm_up import NOMINAL_HORIZON
from corebandit.policies.linear.lincore import LinCORe, LinCOReState


@dataclass(frozen=True)
class RecommendedLinCORe(LinCORe):
    """LinCORe with the setting that our own study recommends instead of the paper's: see `RecommendedCORe`.

    >>> RecommendedLinCORe().warm_up
    0.5
    """

    alpha: float = 0.6
    warm_up: float = 0.5

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LinCOReState:
        """Return a state that has seen nothing."""
        return super().start(n_arms, n_features, horizon or NOMINAL_HORIZON, capacity)
