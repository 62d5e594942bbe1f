r"""CORe whose memory fades: every round, what was learnt before counts `discount` times as much.

    index_i = (S_i + A_i) / N_i,   A_i ~ alpha sd(pool) sqrt(N_i + extra) N(0, 1)

with discounted counts N_i, sums S_i and pool, as `DriftingCORe` has them, of which this is one half: no changes are
looked for. The other half is `RestartingCORe`.
"""

from dataclasses import KW_ONLY, dataclass

from corebandit.parts.fading import check_discount
from corebandit.policies.arms.drifting_core import DriftingCOReState, Forgets


@dataclass(frozen=True)
class DiscountedCORe(Forgets):
    """CORe whose memory fades: a discount of 1 - 1/n remembers about n rounds; any real rewards.

    >>> DiscountedCORe(discount=0.99).label
    'DiscountedCORe(discount=0.99)'
    """

    discount: float = 0.9995
    _: KW_ONLY
    alpha: float = 0.6
    extra: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_discount(self.discount)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> DriftingCOReState:
        """Return a state that has seen nothing."""
        return self.remembering(n_arms, self.discount, None)
