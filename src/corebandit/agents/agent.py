"""One decision at a time: ask, tell, observe, save, load."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from corebandit.agents.desk import ArmDesk
from corebandit.agents.feature_desk import FeatureDesk
from corebandit.agents.ledger import Ledger
from corebandit.agents.live_agent import LiveAgent
from corebandit.agents.options import Named, Unnamed
from corebandit.contracts.errors import BadInput, BadReward
from corebandit.contracts.recipe import LARGEST_REWARD, AnyPolicy, FeaturePolicy, Policy, RankingPolicy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import is_finite, range_in_words, shortened

Choice = tuple[int, FloatArray | None]  # the index of an option, and its features


@dataclass(frozen=True, slots=True)
class Decision:
    """An arm that was chosen, and the id to report its reward under."""

    arm: Hashable
    id: int


class Agent(LiveAgent[Hashable, Choice]):
    """A policy that chooses among your options, one decision at a time.

    Parameters
    ----------
    policy
        A recipe: `CORe()` chooses among arms, `LinCORe()` by their features.
    arms
        The options: any hashables, all different. A policy that chooses by features can do without: its options are
        then the rows of features, as many as you like in every decision, and `decision.arm` is the index of a row.
    seed
        Where its randomness starts; the same seed and the same rewards give the same choices.
    horizon
        How many rewards to expect, if you know. Without it CORe runs in its anytime form.

    Several threads may share an agent. Load files only from people you trust not to forge them.

    >>> from corebandit.policies import CORe, LinCORe
    >>> agent = Agent(CORe(), arms=["red", "green", "blue"], seed=7)
    >>> decision = agent.ask()
    >>> agent.tell(decision, reward=3.2)
    >>> agent.observe("green", 1.0)
    >>> agent.n_observations
    2

    By features, here of two items with a price and an age:

    >>> agent = Agent(LinCORe(), seed=7)
    >>> decision = agent.ask([[9.5, 1.0], [8.0, 3.0]])
    >>> agent.tell(decision, reward=3.2)
    """

    _kind: ClassVar[str] = "agent"
    _listed_as: ClassVar[str] = "arms"
    _desk: Any  # an ArmDesk or a FeatureDesk

    def __init__(
        self, policy: AnyPolicy, arms: Iterable[Hashable] | None = None, *, seed: int = 0, horizon: int | None = None
    ) -> None:
        ledger = Ledger[Hashable, Choice]("decision", "a reward is", lambda arm: f"chose {shortened(arm)}")
        super().__init__(policy, seed, horizon, ledger)
        self._low, self._high = policy.reward_range
        self._options = Unnamed() if arms is None else Named(arms)
        if isinstance(policy, FeaturePolicy):
            self._desk = FeatureDesk(policy, self._options, self.horizon, self.seed)
        elif isinstance(policy, Policy) and isinstance(self._options, Named):
            self._desk = ArmDesk(policy, self._options, self.horizon, self.seed)
        else:
            raise BadInput(f"arms must be given: {policy.label} knows its options by their names, not by features")
        self._warn_of_endless_warm_up()

    @staticmethod
    def _check_policy(policy: Any) -> None:
        if not isinstance(policy, Policy | FeaturePolicy):
            hint = "; it ranks, so say RankingAgent" if isinstance(policy, RankingPolicy) else ""
            raise BadInput(f"policy must be a recipe such as CORe() or LinCORe(), not {shortened(policy)}{hint}")

    @classmethod
    def _made_from(cls, content: dict[str, Any], policy: AnyPolicy, names: list[Hashable] | None) -> Self:
        return cls(policy, names, seed=content["seed"], horizon=content["horizon"])

    def _chosen(self, choice: Choice) -> Hashable:
        return self._options.name(choice[0])

    # Deciding and learning ----------------------------------------------------------------------------------------

    @property
    def arms(self) -> list[Hashable]:
        """Return the arms on offer; none if the options have no names."""
        return self._on_offer()

    @property
    def n_observations(self) -> int:
        """Return how many rewards were learnt."""
        return int(self._desk.n_observations)

    def ask(self, features: Any = None, *, arms: Iterable[Hashable] | None = None) -> Decision:
        """Choose an arm, among all or among `arms`.

        A policy that chooses by features takes them as an array `(rows, d)` (or a list, or a data frame) with one row
        for each arm on offer, in the order of `agent.arms`, or in that of `arms`; or as a mapping from arms to rows.

        >>> from corebandit.policies import LinCORe
        >>> agent = Agent(LinCORe(), arms=["red", "green", "blue"])
        >>> agent.ask([[1, 0], [0, 1]], arms=["blue", "red"]).arm in ("blue", "red")
        True
        >>> agent.ask({"green": [1, 1]}).arm
        'green'
        """
        with self._lock:
            choice = self._desk.choose(features, arms)
            arm = self._options.name(choice[0])
            return Decision(arm, self._ledger.enter(arm, choice))

    def tell(self, decision: Decision | int, reward: float) -> None:
        """Report the reward of a decision (or of its id), at any delay and in any order, once."""
        with self._lock:
            decision_id, (index, row) = self._found(decision)
            self._desk.learn(index, row, self._checked(reward))
            self._ledger.close(decision_id)

    def observe(self, arm: Hashable, reward: float, x: Any = None) -> None:
        """Learn from a choice that someone else made; `x` `(d,)` are its features, if the policy chooses by them."""
        with self._lock:
            index, reward = self._options.index_of(arm), self._checked(reward)
            self._desk.learn(index, self._desk.row(index, x), reward)

    def forget(self, decision: Decision | int) -> None:
        """Drop a decision whose reward will never come."""
        with self._lock:
            decision_id, _ = self._found(decision)
            self._ledger.close(decision_id)

    def _found(self, decision: Decision | int) -> tuple[int, Choice]:
        if isinstance(decision, Decision):
            return self._ledger.find(decision.id, decision, decision.arm)
        return self._ledger.find(decision)

    def _checked(self, reward: float) -> float:
        if not isinstance(reward, Real | np.bool_) or not is_finite(reward) or abs(float(reward)) > LARGEST_REWARD:
            raise BadReward(
                f"reward must be a finite number of at most {LARGEST_REWARD:g} in size, not {shortened(reward)}"
            )
        if not self._low <= reward <= self._high:
            raise BadReward(
                f"reward must be {range_in_words(self._low, self._high).removeprefix('of ')} for {self.policy.label}, "
                f"not {shortened(reward)}"
            )
        return float(reward)

    # Arms that come and go ----------------------------------------------------------------------------------------

    def add_arm(self, arm: Hashable) -> None:
        """Put a new arm on offer, or a retired one back with what was learnt about it."""
        self._add(arm)

    def retire_arm(self, arm: Hashable) -> None:
        """Take an arm off offer; rewards of decisions already made can still be told."""
        self._retire(arm)

    def __repr__(self) -> str:
        return self._described(n_observations=self.n_observations)
