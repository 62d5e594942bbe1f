r"""GLR-klUCB: KL-UCB that forgets when a likelihood ratio test says that an arm has changed.

(Besson, Kaufmann, Maillard and Seznec, JMLR 2022.)

    index_i = max{q : N_i kl(S_i / N_i, q) <= ln t_i + c ln ln t_i},   t_i = rounds since arm i was last forgotten

N_i and S_i count since then too. A change is seen if a split of the n rewards that the chosen arm has paid since, into
the first s and the rest, has

    s kl(mean of the first, mean of all) + (n - s) kl(mean of the rest, mean of all) >= ln(3 n^(3/2) / delta)

Then all arms are forgotten, restarts="global", or that arm alone, restarts="local". In K of every ceil(K / alpha)
rounds since the last restart each of the K arms is tried once. With U = `shifts` changes, times K for local restarts,
in `horizon` rounds

    delta = 1 / sqrt(U horizon),   alpha = 0.1 sqrt(U ln(horizon) / horizon), at most 1

which are those of the authors' library, SMPyBandits, as is the threshold; the one that is analysed is larger. With the
Bernoulli kl, for any rewards in [0, 1]; with the Gaussian one, for sigma-sub-Gaussian rewards.

Where we differ: forced rounds try the arm whose last turn is longest ago, not the next index, which comes to the same;
without a horizon that of 10,000 rounds is taken. As in that library, only every 10th reward of an arm is tested, at
every 10th split.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_choice, check_count, check_number
from corebandit.parts.history import History, new_history
from corebandit.parts.kl import Family, FamilyPolicy
from corebandit.parts.warm_up import NOMINAL_HORIZON
from corebandit.randomness.stream import Stream

RESTARTS = ("global", "local")
ALPHA_SCALE = 0.1


@allocating_nothing
class GLRKLUCBState(NamedTuple):
    """What GLR-klUCB has learnt, and how much of that it has forgotten."""

    totals: History  # running totals of each arm's rewards
    forgotten: IntArray  # (n_arms,) how many of an arm's rewards were forgotten
    restarts: IntArray  # (n_arms,) how many rewards there were in all when the arm was last forgotten
    tried: IntArray  # (n_arms,) how many there were after it was last chosen; 0: never
    seen: IntArray  # (1,) rewards
    family: Family
    c: float
    period: float  # rounds from one forced try of an arm to the next; infinite: none is forced
    threshold: float  # ln(3 / delta)
    every: int
    step: int
    is_local: bool

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bounds; in forced rounds with how long ago an arm was tried."""
        if self.is_forced():
            for arm in range(scores.size):
                scores[arm] = -self.tried[arm]
            return
        for arm in range(scores.size):
            n = self.totals.counts[arm] - self.forgotten[arm]
            if n == 0:
                scores[arm] = np.inf
            else:
                log_t = math.log(self.seen[0] + 1 - self.restarts[arm])
                exploration = log_t + self.c * math.log(max(1.0, log_t))
                mean = self.totals.window(arm, self.forgotten[arm], n) / n
                scores[arm] = self.family.upper_bound(mean, exploration / n)

    def is_forced(self) -> bool:
        """Tell whether the coming round belongs to forced exploration."""
        if self.period == np.inf:
            return False
        last_restart = 0
        for arm in range(self.restarts.size):
            last_restart = max(last_restart, self.restarts[arm])
        return bool((self.seen[0] - last_restart) % self.period < self.restarts.size)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward, and forget the arm, or all, if it has changed."""
        n_all = self.totals.counts[arm]
        self.totals.append(arm, self.totals.total(arm, n_all) + reward)
        self.seen[0] += 1
        self.tried[arm] = self.seen[0]
        if self.has_changed(arm, n_all + 1 - self.forgotten[arm]):
            for other in range(self.forgotten.size):
                if other == arm or not self.is_local:
                    self.forgotten[other] = self.totals.counts[other]
                    self.restarts[other] = self.seen[0]

    def has_changed(self, arm: int, n: int) -> bool:
        """Tell whether the arm's last n rewards, all that are remembered, are likelier with a change in them."""
        if n % self.every != 0:
            return False
        start, least = self.forgotten[arm], self.threshold + 1.5 * math.log(n)
        total = self.totals.window(arm, start, n)
        for first in range(self.step, n, self.step):
            before = self.totals.window(arm, start, first)
            ratio = first * self.family.divergence(before / first, total / n)
            ratio += (n - first) * self.family.divergence((total - before) / (n - first), total / n)
            if ratio >= least:
                return True
        return False


@dataclass(frozen=True)
class GLRKLUCB(FamilyPolicy):
    """Choose by the bounds of KL-UCB, and forget when a likelihood ratio test says that an arm has changed.

    Parameters
    ----------
    restarts
        "global" forgets all arms, "local" the one that has changed.
    delta
        Level of the test; None is that of the authors for `shifts` changes within the horizon.
    alpha
        Share of the rounds in which arms are tried in turn; None is that of the authors.
    shifts
        How many changes are expected.
    every, step
        How many rewards of an arm lie between two tests, and how many between two splits; 1 tests all.
    c
        Weight of ln ln t.
    family
        "bernoulli" covers any rewards in [0, 1], "gaussian" sigma-sub-Gaussian ones.
    sigma
        Of the Gaussian family.

    >>> GLRKLUCB(restarts="local").label
    "GLRKLUCB(restarts='local')"
    """

    restarts: str = "global"
    delta: float | None = None
    alpha: float | None = None
    shifts: int = 1
    every: int = 10
    step: int = 10
    c: float = 0.0
    family: str = "bernoulli"
    sigma: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("restarts", self.restarts, RESTARTS)
        if self.delta is not None:
            check_number("delta", self.delta, above=0, below=1)
        if self.alpha is not None:
            check_number("alpha", self.alpha, at_least=0, at_most=1)
        for name in ("shifts", "every", "step"):
            check_count(name, getattr(self, name))
        check_number("c", self.c, at_least=0)

    @property
    def looks_back(self) -> bool:
        """Tell whether rounds look at the rewards of all before: tests do."""
        return True

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> GLRKLUCBState:
        """Return a state that has seen nothing."""
        is_local, n_rounds = self.restarts == "local", max(horizon or NOMINAL_HORIZON, 2)
        n_changes = self.shifts * (n_arms if is_local else 1)
        delta = 1.0 / math.sqrt(n_changes * n_rounds) if self.delta is None else self.delta
        alpha = ALPHA_SCALE * math.sqrt(n_changes * math.log(n_rounds) / n_rounds) if self.alpha is None else self.alpha
        return GLRKLUCBState(
            totals=new_history(n_arms, capacity),
            forgotten=np.zeros(n_arms, np.int64),
            restarts=np.zeros(n_arms, np.int64),
            tried=np.zeros(n_arms, np.int64),
            seen=np.zeros(1, np.int64),
            family=self.new_family(),
            c=float(self.c),
            period=float(np.ceil(n_arms / min(1.0, alpha))) if alpha > 0.0 else math.inf,
            threshold=math.log(3.0 / delta),
            every=int(self.every),
            step=int(self.step),
            is_local=is_local,
        )
