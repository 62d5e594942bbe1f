"""LinCORe with the setting that the warm-up study recommends."""

from dataclasses import dataclass

from corebandit.policies.lincore import LinCORe


@dataclass(frozen=True)
class RecommendedLinCORe(LinCORe):
    """LinCORe with the setting that our own study recommends instead of the paper's: see `RecommendedCORe`.

    >>> RecommendedLinCORe().warm_up
    0.5
    """

    alpha: float = 0.6
    warm_up: float = 0.5
