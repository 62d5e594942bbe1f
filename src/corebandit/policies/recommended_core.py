"""CORe with the setting that the warm-up study recommends."""

from dataclasses import dataclass

from corebandit.policies.core import CORe


@dataclass(frozen=True)
class RecommendedCORe(CORe):
    """CORe with the setting that our own study recommends instead of the paper's: a far shorter warm-up.

    The warm-up makes up most of CORe's regret. `corebandit reproduce warmup` compares settings with the best rivals,
    over problems and horizons; docs/which_policy.md tells what it found, and the risks.

    >>> RecommendedCORe().warm_up
    0.5
    """

    alpha: float = 0.6
    warm_up: float = 0.5
