r"""CORe that starts anew when an arm has plainly changed, and else forgets nothing.

    index_i = (S_i + A_i) / N_i,   A_i ~ alpha sd(pool) sqrt(N_i + extra) N(0, 1)

Each arm is watched by a test for a change (`parts/alarm.py`). If it rings, all arms are forgotten, and the pool with
them: of the arm that changed, and in the pool, what came after the change is kept. This is one half of `DriftingCORe`;
the other one is `DiscountedCORe`.

It notices nothing of arms that it does not try. Where one of them becomes the best while the arm that is played stays
as it is, or all arms jump and the one that is played hardly does, it goes on with what it has, maybe for ever, as plain
CORe does. `DriftingCORe` looks at such arms again.
"""

from dataclasses import KW_ONLY, dataclass

from corebandit.contracts.validate import check_number
from corebandit.policies.arms.drifting_core import DELTA, DriftingCOReState, Forgets


@dataclass(frozen=True)
class RestartingCORe(Forgets):
    """CORe that starts anew when an arm has plainly changed; `delta` is the level of the test, of independent rewards.

    An arm that it has given up may become the best without its noticing: see `DriftingCORe`.

    >>> RestartingCORe(delta=0.1).label
    'RestartingCORe(delta=0.1)'
    """

    delta: float = DELTA
    _: KW_ONLY
    alpha: float = 0.6
    extra: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("delta", self.delta, above=0, below=1)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> DriftingCOReState:
        """Return a state that has seen nothing."""
        return self.remembering(n_arms, 1.0, self.delta)
