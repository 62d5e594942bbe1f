r"""RB-SDA: random-block sub-sampling duels (Baudry, Kaufmann and Maillard, NeurIPS 2020).

    k wins its duel if N_k < N_leader and (N_k < forced sqrt(ln n) or mean_k >= mean of a random block of the leader's)

A block is as many consecutive rewards of the leader as k has itself, drawn anew in each round. Rounds, the
leader and its ties are those of SSMC: all that win are sampled once, in random order; if none does, the leader. Valid
for any real rewards. The analysis forces arms of fewer than sqrt(ln n) rewards; its authors' experiments force none.

LB-SDA, with the leader's last block, is `SSMC(window="last")`.

Where we differ: one uniform number a round says where the blocks of all arms begin, so that no choice depends on the
order of the arms; each duel has the law of the paper, but those of a round are not independent. A block may be the
leader's last one, which the authors' code never draws.
"""

from dataclasses import dataclass

from corebandit.contracts.recipe import Policy
from corebandit.contracts.validate import check_number
from corebandit.policies.arms.ssmc import RANDOM, SSMCState, new_ssmc_state


@dataclass(frozen=True)
class RBSDA(Policy):
    """Let every arm duel with the most-sampled one, comparing its mean with that of a random block; any real rewards.

    Parameters
    ----------
    forced
        Arms of fewer than `forced` sqrt(ln n) rewards are sampled anyway, n being the number of rewards.

    >>> RBSDA(forced=1.0).label
    'RBSDA(forced=1.0)'
    """

    forced: float = 0.0

    def __post_init__(self) -> None:
        check_number("forced", self.forced, at_least=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> SSMCState:
        """Return a state that has seen nothing."""
        return new_ssmc_state(n_arms, capacity, RANDOM, self.forced)
