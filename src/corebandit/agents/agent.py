"""One decision at a time: ask, tell, observe, save, load."""

import os
import threading
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from corebandit.agents.codec import (
    DAMAGED,
    arm_from_json,
    arm_to_json,
    array_to_json,
    fill_from_json,
    policy_from_json,
    read_content,
    write_content,
)
from corebandit.agents.desk import ArmDesk, FeatureDesk
from corebandit.agents.options import Named, Unnamed
from corebandit.contracts.errors import AlreadyTold, BadInput, BadReward, DamagedFile, UnknownDecision
from corebandit.contracts.features import check_finite
from corebandit.contracts.recipe import LARGEST_REWARD, AnyPolicy, FeaturePolicy, Policy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, is_finite, range_in_words, shortened
from corebandit.parts.warm_up import warn_if_endless


@dataclass(frozen=True, slots=True)
class Decision:
    """An arm that was chosen, and the id to report its reward under."""

    arm: Hashable
    id: int


class Agent:
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

    def __init__(
        self, policy: AnyPolicy, arms: Iterable[Hashable] | None = None, *, seed: int = 0, horizon: int | None = None
    ) -> None:
        if not isinstance(policy, Policy | FeaturePolicy):
            raise BadInput(f"policy must be a recipe such as CORe() or LinCORe(), not {shortened(policy)}")
        self.policy = policy
        self.horizon = None if horizon is None else check_count("horizon", horizon, at_least=2)
        self.seed = check_count("seed", seed, at_least=0)
        self._lock, self._saving = threading.RLock(), threading.Lock()  # compiled code lets other threads run
        self._pending: dict[int, tuple[int, FloatArray | None]] = {}  # decision id: index and features of the option
        self._next_id = 0
        self._low, self._high = policy.reward_range
        if self.horizon is not None and hasattr(policy, "warm_up_rounds"):
            warn_if_endless(policy.label, policy.warm_up_rounds(1, self.horizon), self.horizon, stacklevel=3)
        self._options = Unnamed() if arms is None else Named(arms)
        self._desk: Any
        if isinstance(policy, FeaturePolicy):
            self._desk = FeatureDesk(policy, self._options, self.horizon, self.seed)
        elif isinstance(self._options, Named):
            self._desk = ArmDesk(policy, self._options, self.horizon, self.seed)
        else:
            raise BadInput(f"arms must be given: {policy.label} knows its options by their names, not by features")

    # Deciding and learning ----------------------------------------------------------------------------------------

    @property
    def arms(self) -> list[Hashable]:
        """Return the arms on offer; none if the options have no names."""
        with self._lock:
            return list(self._options.on_offer)

    @property
    def pending(self) -> dict[int, Hashable]:
        """Return the decisions whose reward has not been told: id and arm."""
        with self._lock:
            return {decision_id: self._options.name(index) for decision_id, (index, _) in self._pending.items()}

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
            index, row = self._desk.choose(features, arms)
            decision = Decision(self._options.name(index), self._next_id)
            self._pending[self._next_id] = index, row
            self._next_id += 1
            return decision

    def tell(self, decision: Decision | int, reward: float) -> None:
        """Report the reward of a decision (or of its id), at any delay and in any order, once."""
        with self._lock:
            decision_id = self._pending_id(decision)
            index, row = self._pending[decision_id]
            self._desk.learn(index, row, self._checked(reward))
            del self._pending[decision_id]

    def observe(self, arm: Hashable, reward: float, x: Any = None) -> None:
        """Learn from a choice that someone else made; `x` `(d,)` are its features, if the policy chooses by them."""
        with self._lock:
            index, reward = self._options.index_of(arm), self._checked(reward)
            self._desk.learn(index, self._desk.row(index, x), reward)

    def forget(self, decision: Decision | int) -> None:
        """Drop a decision whose reward will never come."""
        with self._lock:
            del self._pending[self._pending_id(decision)]

    def _pending_id(self, decision: Decision | int) -> int:
        """Return the id of a decision that waits for its reward, or say why there is none."""
        decision_id = decision.id if isinstance(decision, Decision) else decision
        if (
            isinstance(decision_id, bool)
            or not isinstance(decision_id, Integral)
            or not 0 <= decision_id < self._next_id
        ):
            raise UnknownDecision(f"decision must be one that ask() returned, or its id, not {shortened(decision)}")
        if int(decision_id) not in self._pending:
            raise AlreadyTold(f"decision {decision_id} was told or forgotten already; a reward is learned only once")
        arm = self._options.name(self._pending[int(decision_id)][0])
        if isinstance(decision, Decision) and decision.arm != arm:
            raise UnknownDecision(
                f"decision must be one of this agent's, which chose {shortened(arm)}, not {shortened(decision)}"
            )
        return int(decision_id)

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
        if not isinstance(arm, Hashable):
            raise BadInput(f"arm must be hashable, such as a string, a number or a tuple, not {shortened(arm)}")
        with self._lock:
            arms = self._named("added")
            if not arms.knows(arm):
                self._desk.make_room(len(arms.names) + 1, self._desk.capacity)
                arms.add(arm)
            elif (index := arms.index_of(arm)) in arms.retired:
                arms.retire(arms.retired - {index})
            else:
                raise BadInput(f"arm {shortened(arm)} is on offer already")

    def retire_arm(self, arm: Hashable) -> None:
        """Take an arm off offer; rewards of decisions already made can still be told."""
        with self._lock:
            arms = self._named("retired")
            index = arms.index_of(arm)
            if index in arms.retired:
                raise BadInput(f"arm {shortened(arm)} is retired already")
            arms.retire(arms.retired | {index})

    def _named(self, what: str) -> Named:
        if isinstance(self._options, Unnamed):
            raise BadInput(f"arms cannot be {what}: this agent was made without arms, so its options are rows")
        return self._options

    # Saving -------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to a JSON file; `Agent.load` continues bit for bit."""
        with self._saving:  # of two that save at once, the later state is written last
            with self._lock:
                content = self._content()
            write_content(path, content)

    def _content(self) -> dict[str, Any]:
        names = self._options.names
        content = {
            "policy": self.policy.describe(),
            "arms": None if names is None else [arm_to_json(arm) for arm in names],
            "seed": self.seed,
            "horizon": self.horizon,
            "retired": sorted(self._options.retired),
            "pending": [[decision_id, index] for decision_id, (index, _) in self._pending.items()],
            "next_id": self._next_id,
            **self._desk.content(),
        }
        if isinstance(self._desk, FeatureDesk):
            rows = np.array([row for _, row in self._pending.values()])
            content["pending_rows"] = array_to_json(rows.reshape(len(rows), self._desk.n_features or 0))
        return content

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: AnyPolicy | None = None) -> "Agent":
        """Read an agent that `save` wrote; give the policy if it is not one of this package's."""
        content = read_content(path)
        if "items" in content:
            raise BadInput(f"{os.fspath(path)} holds an agent that ranks: read it with RankingAgent.load")
        policy = policy_from_json(content["policy"], policy)
        try:
            return cls._restored(content, policy)
        except DAMAGED as error:
            raise DamagedFile(f"{os.fspath(path)} is not a saved agent, or damaged: {error}") from error

    @classmethod
    def _restored(cls, content: dict[str, Any], policy: AnyPolicy) -> "Agent":
        arms = None if content["arms"] is None else [arm_from_json(arm) for arm in content["arms"]]
        agent = cls(policy, arms, seed=content["seed"], horizon=content["horizon"])
        agent._desk.restore(content)
        agent._next_id = check_count("next_id", content["next_id"], at_least=0)
        retired = [check_count("retired", index, at_least=0) for index in content["retired"]]
        ids = [check_count("pending", decision_id, at_least=0) for decision_id, _ in content["pending"]]
        indices = [check_count("pending", index, at_least=0) for _, index in content["pending"]]
        # Compiled code trusts these numbers with memory.
        if (
            any(index >= agent._desk.n_arms for index in retired + indices)
            or any(decision_id >= agent._next_id for decision_id in ids)
            or len(set(ids)) < len(ids)
            or (ids and agent._desk.state is None)
        ):
            raise DamagedFile("its numbers contradict each other")
        rows: Iterable[FloatArray | None] = [None] * len(ids)
        if isinstance(agent._desk, FeatureDesk):
            table = np.empty((len(ids), agent._desk.n_features or 0))
            fill_from_json(table, content["pending_rows"])
            check_finite("pending_rows", table)
            rows = table
        agent._pending = dict(zip(ids, zip(indices, rows, strict=True), strict=True))
        if retired:
            agent._named("retired").retire(retired)
        return agent

    def __repr__(self) -> str:
        arms = "" if self._options.names is None else f"arms={self.arms!r}, "
        return f"Agent({self.policy.label}, {arms}n_observations={self.n_observations})"
