"""One decision at a time: ask, tell, observe, save, load."""

import json
import os
import threading
import zlib
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from corebandit.choose import best_arm
from corebandit.compiled import EntryPoint
from corebandit.recipe import Policy
from corebandit.saving import arm_from_json, arm_to_json, array_to_json, fill_from_json, policy_from_json
from corebandit.state import FloatArray, IntArray, arrays_of, carry_over
from corebandit.stream import Stream, stream
from corebandit.validate import check_count, is_finite

FIRST_CAPACITY = 256
FORMAT = 1
LARGEST_REWARD = 1e100  # squares of larger ones leave the range of floats


@EntryPoint
def select(state: Any, rng: Stream, scores: FloatArray, offered: IntArray) -> int:
    """Score all arms and return the best on offer."""
    state.score(rng, scores)
    return best_arm(scores, offered, rng)


@EntryPoint
def learn(state: Any, rng: Stream, arm: int, reward: float) -> None:
    """Learn from one reward."""
    state.update(arm, reward, rng)


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
        A recipe such as `CORe()`.
    arms
        The options: any hashables, all different.
    seed
        Where its randomness starts; the same seed and the same rewards give the same choices.
    horizon
        How many rewards to expect, if you know. Without it CORe runs in its anytime form.

    Several threads may share an agent. Load files only from people you trust not to forge them.

    >>> from corebandit import CORe
    >>> agent = Agent(CORe(), arms=["red", "green", "blue"], seed=7)
    >>> decision = agent.ask()
    >>> agent.tell(decision, reward=3.2)
    >>> agent.observe("green", 1.0)
    >>> agent.n_observations
    2
    """

    def __init__(self, policy: Policy, arms: Iterable[Hashable], *, seed: int = 0, horizon: int | None = None) -> None:
        if not isinstance(policy, Policy):
            raise ValueError(f"policy must be a recipe such as CORe(), not {policy!r}")
        if isinstance(arms, str):
            raise ValueError(f"arms must be a list of options, not the string {arms!r}")
        try:
            self._arms = list(arms)
        except TypeError as error:
            raise ValueError(f"arms must be a list of options, not {arms!r}") from error
        try:
            self._index = {arm: index for index, arm in enumerate(self._arms)}
        except TypeError as error:
            raise ValueError(f"arms must be hashable, such as strings, numbers or tuples: {error}") from error
        if not self._arms:
            raise ValueError("arms must hold at least one option, not none")
        if len(self._index) < len(self._arms):
            twice = next(arm for arm in self._arms if self._arms.count(arm) > 1)
            raise ValueError(f"arms must all be different, but {twice!r} is there twice")
        self.policy = policy
        self.horizon = None if horizon is None else check_count("horizon", horizon, at_least=2)
        self.seed = check_count("seed", seed, at_least=0)
        self._lock = threading.RLock()  # compiled code lets other threads run
        self.n_observations = 0
        self._capacity = FIRST_CAPACITY
        self._retired: set[int] = set()
        self._pending: dict[int, int] = {}  # decision id: arm index
        self._next_id = 0
        self._rng = stream(seed, "agent")
        self._low, self._high = policy.reward_range
        self._set_state(self._fresh_state())
        self._compile()

    # Deciding and learning ----------------------------------------------------------------------------------------

    @property
    def arms(self) -> list[Hashable]:
        """Return the arms on offer."""
        return [self._arms[index] for index in self._offered]

    @property
    def pending(self) -> dict[int, Hashable]:
        """Return the decisions whose reward has not been told: id and arm."""
        return {decision_id: self._arms[index] for decision_id, index in self._pending.items()}

    def ask(self, *, arms: Iterable[Hashable] | None = None) -> Decision:
        """Choose an arm, among all or among `arms`."""
        with self._lock:
            offered = self._offered if arms is None else self._subset(arms)
            if offered.size == 0:
                raise ValueError("there is no arm to choose: all are retired; add one with add_arm")
            index = int(self._select(self._state, self._rng, self._scores, offered))
            decision = Decision(self._arms[index], self._next_id)
            self._pending[self._next_id] = index
            self._next_id += 1
            return decision

    def tell(self, decision: Decision | int, reward: float) -> None:
        """Report the reward of a decision (or of its id), at any delay and in any order, once."""
        with self._lock:
            decision_id = self._pending_id(decision)
            self._learn_reward(self._pending[decision_id], self._checked(reward))
            del self._pending[decision_id]

    def observe(self, arm: Hashable, reward: float) -> None:
        """Learn from a choice that someone else made."""
        with self._lock:
            self._learn_reward(self._index_of(arm), self._checked(reward))

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
            raise ValueError(f"decision must be one that ask() returned, or its id, not {decision!r}")
        index = self._pending.get(int(decision_id))
        if index is None:
            raise ValueError(f"decision {decision_id} was told or forgotten already; a reward is learned only once")
        if isinstance(decision, Decision) and decision.arm != self._arms[index]:
            raise ValueError(
                f"decision must be one of this agent's, which chose {self._arms[index]!r}, not {decision!r}"
            )
        return int(decision_id)

    def _learn_reward(self, index: int, reward: float) -> None:
        if self.n_observations == self._capacity:
            self._capacity *= 2
            self._rebuild()
        self._learn(self._state, self._rng, index, reward)
        self.n_observations += 1

    def _checked(self, reward: float) -> float:
        if not isinstance(reward, Real | np.bool_) or not is_finite(reward) or abs(float(reward)) > LARGEST_REWARD:
            raise ValueError(f"reward must be a finite number of at most {LARGEST_REWARD:g} in size, not {reward!r}")
        if not self._low <= reward <= self._high:
            raise ValueError(
                f"reward must be in [{self._low:g}, {self._high:g}] for {self.policy.label}, not {reward!r}"
            )
        return float(reward)

    # Arms that come and go ----------------------------------------------------------------------------------------

    def add_arm(self, arm: Hashable) -> None:
        """Put a new arm on offer, or a retired one back with what was learnt about it."""
        if not isinstance(arm, Hashable):
            raise ValueError(f"arm must be hashable, such as a string, a number or a tuple, not {arm!r}")
        with self._lock:
            index = self._index.get(arm)
            if index is None:
                self._index[arm] = len(self._arms)
                self._arms.append(arm)
                self._rebuild()
            elif index in self._retired:
                self._retired.discard(index)
                self._set_offered()
            else:
                raise ValueError(f"arm {arm!r} is on offer already")

    def retire_arm(self, arm: Hashable) -> None:
        """Take an arm off offer; rewards of decisions already made can still be told."""
        with self._lock:
            index = self._index_of(arm)
            if index in self._retired:
                raise ValueError(f"arm {arm!r} is retired already")
            self._retired.add(index)
            self._set_offered()

    def _index_of(self, arm: Hashable) -> int:
        try:
            return self._index[arm]
        except (KeyError, TypeError):
            known = ", ".join(repr(known) for known in self._arms[:10]) + (", ..." if len(self._arms) > 10 else "")
            raise ValueError(f"arm must be one of {known}, not {arm!r}") from None

    def _subset(self, arms: Iterable[Hashable]) -> IntArray:
        offered = np.array(sorted({self._index_of(arm) for arm in arms}), dtype=np.int64)
        for index in offered:
            if int(index) in self._retired:
                raise ValueError(f"arms must be on offer, but {self._arms[index]!r} is retired")
        if offered.size == 0:
            raise ValueError("arms must name at least one arm, not none")
        return offered

    # The state ----------------------------------------------------------------------------------------------------

    def _fresh_state(self) -> Any:
        return self.policy.start(len(self._arms), self.horizon, self._capacity)

    def _rebuild(self) -> None:
        """Move what was learnt to a state with room for the arms and observations there are now."""
        state = self._fresh_state()
        carry_over(self._state, state)
        self._set_state(state)

    def _set_state(self, state: Any) -> None:
        self._state = state
        self._scores = np.zeros(len(self._arms))
        self._set_offered()

    def _set_offered(self) -> None:
        on_offer = [index for index in range(len(self._arms)) if index not in self._retired]
        self._offered = np.array(on_offer, dtype=np.int64)

    def _compile(self) -> None:
        """Compile now, on a state to throw away, so that no later call has to."""
        self._select, self._learn = select.prepared(self._state), learn.prepared(self._state)
        state, rng = self._fresh_state(), stream(0)
        arm = self._select(state, rng, self._scores, self._offered)
        self._learn(state, rng, int(arm), min(max(0.0, self._low), self._high))

    # Saving -------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to a JSON file; `Agent.load` continues bit for bit."""
        with self._lock:
            content = self._content()
        part = Path(f"{os.fspath(path)}.{os.getpid()}.part")
        try:
            part.write_text(json.dumps(content))
            os.replace(part, path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise ValueError(f"cannot write the agent to {os.fspath(path)}: {error.strerror}") from error

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "policy": self.policy.describe(),
            "arms": [arm_to_json(arm) for arm in self._arms],
            "seed": self.seed,
            "horizon": self.horizon,
            "n_observations": self.n_observations,
            "capacity": self._capacity,
            "retired": sorted(self._retired),
            "pending": list(self._pending.items()),
            "next_id": self._next_id,
            "rng": array_to_json(self._rng.words),
            "state": [array_to_json(array) for array in arrays_of(self._state)],
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy | None = None) -> "Agent":
        """Read an agent that `save` wrote; give the policy if it is not one of this package's."""
        try:
            content = json.loads(Path(path).read_text())
            version, description = content["format"], content["policy"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{os.fspath(path)} is not a saved agent") from error
        if version != FORMAT:
            raise ValueError(f"{os.fspath(path)} has format {version!r}; this version reads format {FORMAT}")
        policy = policy_from_json(description, policy)
        try:
            return cls._restored(content, policy)
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            raise ValueError(f"{os.fspath(path)} is not a saved agent, or damaged: {error}") from error

    @classmethod
    def _restored(cls, content: dict[str, Any], policy: Policy) -> "Agent":
        arms = [arm_from_json(arm) for arm in content["arms"]]
        agent = cls(policy, arms, seed=content["seed"], horizon=content["horizon"])
        agent._capacity = check_count("capacity", content["capacity"])
        agent.n_observations = check_count("n_observations", content["n_observations"], at_least=0)
        agent._next_id = check_count("next_id", content["next_id"], at_least=0)
        agent._retired = set(content["retired"])
        agent._pending = {int(decision_id): index for decision_id, index in content["pending"]}
        # Compiled code trusts these numbers with memory.
        if (
            agent.n_observations > agent._capacity
            or not {*agent._retired, *agent._pending.values()} <= set(range(len(arms)))
            or any(decision_id >= agent._next_id for decision_id in agent._pending)
        ):
            raise ValueError("its numbers contradict each other")
        fill_from_json(agent._rng.words, content["rng"])
        state = agent._fresh_state()
        for array, saved in zip(arrays_of(state), content["state"], strict=True):
            fill_from_json(array, saved)
        agent._set_state(state)
        return agent

    def __repr__(self) -> str:
        return f"Agent({self.policy.label}, arms={self.arms!r}, n_observations={self.n_observations})"
