r"""Any policy for arms, as a ranking policy: the scheme of cascading bandits (Kveton, Szepesvári, Wen, Ashkan, 2015).

    ranking = the n_positions items of the highest scores, best first;   update(item, clicked) for each item looked at

What a user has looked at is a matter of belief: everything down to the last click, and everything if there was none
(cascades), or always everything. What was not looked at is not learnt from.

CORe's warm-up can be read in two ways. "observed": it lasts until so many feedbacks were observed; shown is what was
observed least. "displayed": the first ceil(f / n_positions) rounds show all items equally often, however much of them
is looked at, f = warm_up ln(n) / (z - 1 - ln z) + 1. These are as many rounds as in the code of CORe's authors, but not
the same rankings: which of the items displayed least share a round is drawn at random each time.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corebandit.catalogue import arm_policy_from
from corebandit.clicks.feedback import OBSERVES, n_examined
from corebandit.compiled.bridge import allocating_nothing
from corebandit.compiled.optional_methods import asks_first, prepare, tell_round
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import UNIT_INTERVAL, Policy, RankingPolicy
from corebandit.contracts.state import FloatArray, IntArray, Scratch
from corebandit.contracts.validate import check_choice
from corebandit.parts.choose import best_items
from corebandit.parts.warm_up import known_log, rounds_per_log
from corebandit.policies.arms.core import CORe
from corebandit.randomness.stream import Stream

WARM_UPS = ("observed", "displayed")
DEFAULT = CORe()


@allocating_nothing
class RankedState(NamedTuple):
    """What the policy inside has learnt, and how often each item was shown."""

    inner: Any
    scores: Scratch  # (n_items,) what the policy inside says
    displays: FloatArray  # (n_items,) how often each item was shown
    n_rounds: IntArray  # (1,) rankings learnt from
    observes_all: bool
    n_positions: int
    warm_up: float  # displays for each unit of the log horizon; negative: the policy inside sees to its warm-up
    log_horizon: float  # negative: not known

    def is_displaying(self) -> bool:
        """Tell whether the coming round only shows all items equally often."""
        n_rounds = self.n_rounds[0]
        log_rounds = self.log_horizon if self.log_horizon >= 0.0 else math.log(n_rounds + 1.0)
        return bool(self.warm_up >= 0.0 and n_rounds * self.n_positions < self.warm_up * log_rounds + 1.0)

    def rank(self, rng: Stream, ranking: IntArray) -> None:
        """Fill `ranking` with the items of the highest scores."""
        if self.is_displaying():
            for item in range(self.scores.size):
                self.scores[item] = -self.displays[item]
        else:
            self.inner.score(rng, self.scores)
        best_items(self.scores, rng, ranking)

    def learn(self, ranking: IntArray, clicks: IntArray, rng: Stream) -> None:
        """Learn from every item that was looked at."""
        self.n_rounds[0] += 1
        for item in ranking:
            self.displays[item] += 1.0
        for position in range(clicks.size if self.observes_all else n_examined(clicks)):
            self.inner.update(ranking[position], float(clicks[position]), rng)


@allocating_nothing
class ToldRankedState(RankedState):
    """The same around a policy that is told of rounds, or prepares: a class of its own, so that others pay nothing."""

    def begin_round(self, decided: int, left: int, pending: IntArray) -> None:
        """Tell the policy inside: a ranking is one round, however many items are observed."""
        tell_round(self.inner, decided, left, pending)

    def prepare(self, rng: Stream) -> bool:
        """Prepare the policy inside, unless what it says is not asked for."""
        return False if self.is_displaying() else prepare(self.inner, rng)


@dataclass(frozen=True)
class Ranked(RankingPolicy):
    """Rank by the scores of a policy for arms, and let it learn from every item that was looked at.

    Parameters
    ----------
    policy
        A policy for arms, such as `CORe()`; its name or its description will do.
    observes
        What a user has looked at: "last_click", all down to the last click, or all if there was none; or "all".
    warm_up
        How a policy with a warm-up reads it: "observed" counts feedbacks, "displayed" items shown.

    >>> Ranked(CORe(alpha=0.4)).label
    'CORe(alpha=0.4)'
    >>> Ranked(CORe(), observes="all").label
    "Ranked(CORe, observes='all')"
    """

    policy: Policy = DEFAULT
    observes: str = "last_click"
    warm_up: str = "observed"

    def __post_init__(self) -> None:
        """Validate, and find the policy if only its name or description is given."""
        object.__setattr__(self, "policy", arm_policy(self.policy))
        check_choice("observes", self.observes, OBSERVES)
        check_choice("warm_up", self.warm_up, WARM_UPS)
        if self.warm_up == "displayed" and not hasattr(self.policy, "warm_up_rounds"):
            raise BadInput(f"warm_up 'displayed' needs a policy that has one, such as CORe, not {self.policy.label}")

    @property
    def label(self) -> str:
        """Return the label of the policy inside, with what is not at its default."""
        options = {"observes": self.observes, "warm_up": self.warm_up}
        changed = [f"{name}={value!r}" for name, value in options.items() if value != getattr(Ranked, name)]
        return f"Ranked({', '.join([self.policy.label, *changed])})" if changed else self.policy.label

    def warm_up_rounds(self, n_items: int, n_positions: int, horizon: int) -> int:
        """Return the fewest rounds that the warm-up can take."""
        if self.warm_up == "displayed":
            return math.ceil((self._displays_per_log() * math.log(horizon) + 1.0) / n_positions)
        inner: Any = self.policy
        n_feedbacks = inner.warm_up_rounds(n_items, horizon) if hasattr(inner, "warm_up_rounds") else 0
        return math.ceil(n_feedbacks / n_positions)

    def _displays_per_log(self) -> float:
        inner: Any = self.policy
        return rounds_per_log(inner.z, inner.warm_up) if self.warm_up == "displayed" else -1.0

    def start(self, n_items: int, n_positions: int, horizon: int | None, capacity: int) -> RankedState:
        """Return a state that has seen nothing."""
        policy = self.policy.changed(warm_up=0.0) if self.warm_up == "displayed" else self.policy
        inner = policy.start(n_items, horizon, capacity)
        return (ToldRankedState if asks_first(inner) else RankedState)(
            inner=inner,
            scores=np.zeros(n_items),
            displays=np.zeros(n_items),
            n_rounds=np.zeros(1, np.int64),
            observes_all=self.observes == "all",
            n_positions=n_positions,
            warm_up=self._displays_per_log(),
            log_horizon=known_log(horizon),
        )


def arm_policy(policy: Any) -> Policy:
    """Return a policy for arms that can learn from clicks, given itself, or by name or description."""
    found = arm_policy_from(policy)
    (low, high), (no_click, click) = found.reward_range, UNIT_INTERVAL
    if low > no_click or high < click:
        raise BadInput(f"policy must take clicks, 0 or 1, but {found.label} takes rewards in [{low:g}, {high:g}]")
    return found
