r"""LinCORe that starts anew when its errors have plainly changed, and else forgets nothing.

    theta~ = G^-1 (sum of x_l Y_l + noise),   noise ~ alpha sd(pool) N(0, G + extra sum of spanning x x')

What the model gets wrong, Y_l - x_l' theta, is watched (`parts/alarm.py`); if that changes plainly everything is
forgotten: the regression, the noise, the pool. This is one half of `DriftingLinCORe`; the other one is
`DiscountedLinCORe`. It notices nothing of rows that it does not try.
"""

from dataclasses import KW_ONLY, dataclass

from corebandit.contracts.validate import check_number
from corebandit.policies.arms.drifting_core import DELTA
from corebandit.policies.linear.drifting_lincore import DriftingLinCOReState, LinForgets


@dataclass(frozen=True)
class RestartingLinCORe(LinForgets):
    """LinCORe that starts anew when its errors have plainly changed; `delta` is the level, of independent rewards.

    >>> RestartingLinCORe(delta=0.1).label
    'RestartingLinCORe(delta=0.1)'
    """

    delta: float = DELTA
    _: KW_ONLY
    alpha: float = 0.6
    extra: int = 4
    lam: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("delta", self.delta, above=0, below=1)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> DriftingLinCOReState:
        """Return a state that has seen nothing."""
        return self.remembering(n_arms, n_features, 1.0, self.delta)
