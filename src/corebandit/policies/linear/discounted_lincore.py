r"""LinCORe whose memory fades: every round, what was learnt before counts `discount` times as much.

    theta~ = G^-1 (sum of x_l Y_l + noise),   noise ~ alpha sd(pool) N(0, G + extra sum of spanning x x')

with a discounted regression and pool, as `DriftingLinCORe` has them, of which this is one half: no changes are looked
for. The other half is `RestartingLinCORe`.
"""

from dataclasses import KW_ONLY, dataclass

from corebandit.parts.fading import check_discount
from corebandit.policies.linear.drifting_lincore import DriftingLinCOReState, LinForgets


@dataclass(frozen=True)
class DiscountedLinCORe(LinForgets):
    """LinCORe whose memory fades: a discount of 1 - 1/n remembers about n rounds; any real rewards.

    >>> DiscountedLinCORe(discount=0.99).label
    'DiscountedLinCORe(discount=0.99)'
    """

    discount: float = 0.9995
    _: KW_ONLY
    alpha: float = 0.6
    extra: int = 4
    lam: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_discount(self.discount)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> DriftingLinCOReState:
        """Return a state that has seen nothing."""
        return self.remembering(n_arms, n_features, self.discount, None)
