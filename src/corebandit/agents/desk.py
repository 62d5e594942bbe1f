"""Where an agent's decisions are made: a policy's state, its random numbers, and room that grows with both.

There is a desk for policies that choose among arms and one for policies that choose by features.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from corebandit.agents.codec import array_to_json, fill_from_json, size_in_json
from corebandit.agents.migrations import in_todays_layout
from corebandit.agents.options import MOST_ROWS, Named, Unnamed
from corebandit.agents.steps import learn, learn_row, select, select_row
from corebandit.compiled.bridge import EntryPoint, machine_type
from corebandit.contracts.audit import MOST_OBSERVATIONS, audit, demand
from corebandit.contracts.errors import BadFeatures, BadInput
from corebandit.contracts.features import as_row, as_rows, check_finite
from corebandit.contracts.recipe import FeaturePolicy, Policy
from corebandit.contracts.state import FloatArray, arrays_of, carry_over
from corebandit.contracts.validate import check_count
from corebandit.randomness.stream import Stream, stream

FIRST_CAPACITY = 256
N_FEATURES = 3  # while nobody knows
LARGEST_GROWTH = 8  # times what was saved that may be allocated: earlier versions may have kept less


class Desk:
    """What the two desks share."""

    policy: Any
    state: Any  # None until the number of features is known
    n_features: int | None = None
    _prepared: Any = None  # the kind of states that the functions are for

    def __init__(self, n_arms: int, horizon: int | None, seed: int) -> None:
        self.n_arms = n_arms  # that the state has room for
        self.horizon = horizon
        self.capacity = FIRST_CAPACITY  # observations that the state has room for
        self.n_observations = 0
        self.rng = stream(seed, "agent")

    def fresh_state(self, n_arms: int, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        raise NotImplementedError

    def compile(self, state: Any, n_arms: int, rng: Stream) -> None:
        """Compile for states such as this one of `n_arms` arms, which is used up."""
        raise NotImplementedError

    def function(self, entry: EntryPoint, *arguments: Any) -> Callable[..., Any]:
        """Return what to call with such arguments, which are used up: machine code, or Python if the policy asks."""
        return entry.compiled_for(*arguments) if self.policy.runs_compiled else entry.in_python

    def kind(self, state: Any) -> Any:
        """Return what the functions for a state depend on."""
        return machine_type(state) if self.policy.runs_compiled else type(state)

    def prepare(self, state: Any, n_arms: int) -> None:
        """Have functions for states such as this one, which is used up."""
        self._prepared = self.kind(state)
        self.compile(state, n_arms, stream(0))

    def set_state(self, state: Any, n_arms: int, capacity: int) -> None:
        """Go on with this state, which has room for so much."""
        self.state, self.n_arms, self.capacity = state, n_arms, capacity
        self.scores = np.zeros(n_arms)
        if state is not None and self.kind(state) != self._prepared:
            self.prepare(self.fresh_state(n_arms, capacity), n_arms)

    def make_room(self, n_arms: int, capacity: int) -> None:
        """Move what was learnt to a state with more room."""
        state = None
        if self.state is not None:
            state = self.fresh_state(n_arms, capacity)
            carry_over(self.state, state)
        self.set_state(state, n_arms, capacity)

    def make_room_to_learn(self) -> None:
        """Make room for one more observation."""
        if self.n_observations == self.capacity:
            self.make_room(self.n_arms, 2 * self.capacity)

    def content(self) -> dict[str, Any]:
        """Return what was learnt, ready for JSON."""
        return {
            "n_observations": self.n_observations,
            "capacity": self.capacity,
            "rng": array_to_json(self.rng.words),
            "state": [array_to_json(array) for array in arrays_of(self.state or ())],
        }

    def restore(self, content: dict[str, Any]) -> None:
        """Go on with what was saved for `n_arms` arms. Compiled code trusts these numbers with memory."""
        n_observations = check_count("n_observations", content["n_observations"], at_least=0)
        demand(n_observations <= MOST_OBSERVATIONS, "there must not be more observations than anyone can make")
        capacity = self.capacity
        while capacity < n_observations:
            capacity *= 2
        # Room is made before anything is learnt in it, which may fail.
        is_doubled = content["capacity"] == 2 * capacity and capacity == n_observations
        demand(
            is_doubled or content["capacity"] == capacity,
            f"capacity must be {capacity} for {n_observations} observations",
        )
        capacity = content["capacity"]
        fill_from_json(self.rng.words, content["rng"])
        demand(self.rng.words.any(), "the random generator must not be all zeros, which it would never leave")
        if self.state is None and self.n_features is None:
            demand(n_observations == 0 and content["state"] == [], "nothing is learnt from before the first features")
        else:
            state = self.room_for(content["state"], capacity)
            for array, saved in zip(arrays_of(state), in_todays_layout(state, content["state"]), strict=True):
                fill_from_json(array, saved)
            self.audit(state, self.fresh_state(self.n_arms, capacity), n_observations)
            self.set_state(state, self.n_arms, capacity)
        self.n_observations = n_observations

    def room_for(self, saved: list[Any], capacity: int) -> Any:
        """Return a fresh state for the arrays that were saved.

        A file may claim any number of observations and features. So the state is made in smaller sizes first, each at
        most a few times the one before, and none that is much larger than all that was saved.
        """
        n_saved = sum(size_in_json(array) for array in saved)
        for state in self.growing_states(capacity):
            n_numbers = sum(array.size for array in arrays_of(state))
            demand(n_numbers <= LARGEST_GROWTH * n_saved, f"{n_saved} numbers must be {n_numbers} or more")
        return state

    def growing_states(self, capacity: int) -> Iterator[Any]:
        """Yield fresh states of ever more room, up to that for `capacity` observations."""
        room = self.capacity
        while room < capacity:
            yield self.fresh_state(self.n_arms, room)
            room *= 2
        yield self.fresh_state(self.n_arms, capacity)

    def audit(self, state: Any, fresh: Any, n_observations: int) -> None:
        """Raise a DamagedFile unless the numbers of a state fit together."""
        audit(state, fresh, range(n_observations, n_observations + 1))


class ArmDesk(Desk):
    """Decisions among arms."""

    def __init__(self, policy: Policy, options: Named, horizon: int | None, seed: int) -> None:
        super().__init__(len(options.names), horizon, seed)
        self.policy, self.options = policy, options
        self.set_state(self.fresh_state(self.n_arms, self.capacity), self.n_arms, self.capacity)

    def compile(self, state: Any, n_arms: int, rng: Stream) -> None:
        """Compile for states such as this one of `n_arms` arms, which is used up."""
        self._select = self.function(select, state, rng, np.zeros(n_arms), np.arange(n_arms))
        self._learn = self.function(learn, state, rng, 0, tame_reward(self.policy))

    def fresh_state(self, n_arms: int, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        return self.policy.start(n_arms, self.horizon, capacity)

    def choose(self, features: Any, arms: Iterable[Hashable] | None) -> tuple[int, None]:
        """Return the index of the arm to play."""
        if features is not None:
            raise BadFeatures(
                f"{self.policy.label} takes no features; to choose by them take a policy such as LinCORe, to choose "
                "among some arms say ask(arms=[...])"
            )
        offered = self.options.offered(arms)
        if arms is not None:
            offered = np.unique(offered)
        return int(self._select(self.state, self.rng, self.scores, offered)), None

    def row(self, index: int, x: Any) -> None:
        """Refuse features."""
        if x is not None:
            raise BadFeatures(f"{self.policy.label} takes no features; say observe(arm, reward), without x")

    def learn(self, index: int, x: None, reward: float) -> None:
        """Learn from the reward of an arm."""
        self.make_room_to_learn()
        self._learn(self.state, self.rng, index, reward)
        self.n_observations += 1


class FeatureDesk(Desk):
    """Decisions among rows of features. The first row that comes tells how many features there are."""

    def __init__(self, policy: FeaturePolicy, options: Named | Unnamed, horizon: int | None, seed: int) -> None:
        super().__init__(len(options.names or ()), horizon, seed)
        self.policy, self.options = policy, options
        self.set_state(None, self.n_arms, self.capacity)
        # Compile now and not in the first decision: sizes, not known yet, are no part of machine code.
        self.prepare(policy.start(2, N_FEATURES, horizon, self.capacity), n_arms=2)

    def compile(self, state: Any, n_arms: int, rng: Stream) -> None:
        """Compile for states such as this one of `n_arms` arms, which is used up."""
        rows = np.ones((n_arms, self.n_features or N_FEATURES))
        self._select = self.function(select_row, state, rng, rows, np.zeros(n_arms), np.arange(n_arms))
        self._learn = self.function(learn_row, state, rng, 0, rows[0], tame_reward(self.policy))

    def fresh_state(self, n_arms: int, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        return self.policy.start(n_arms, self.n_features or 0, self.horizon, capacity)

    def choose(self, features: Any, arms: Iterable[Hashable] | None) -> tuple[int, FloatArray]:
        """Return the index of the option to play, and a copy of its features."""
        if features is None:
            raise BadFeatures(
                f"{self.policy.label} chooses by features; say ask(features), with one row for each option"
            )
        if isinstance(features, Mapping):
            if arms is not None:
                raise BadInput("arms must not be given beside a mapping, whose keys name the arms")
            arms, features = list(features), list(features.values())
        rows = as_rows(features)
        table, offered = self.options.placed(rows, arms)
        n_rows, d = table.shape
        if d != self.n_features or n_rows > self.n_arms:
            check_finite("features", rows)
            self.make_room_for("features", n_rows, d)
        index = int(self._select(self.state, self.rng, table, self.scores[:n_rows], offered))
        if index < 0:
            check_finite("features", rows)
        return index, table[index].copy()

    def row(self, index: int, x: Any) -> FloatArray:
        """Return the features of an option that someone else chose, and make room for it."""
        if x is None:
            raise BadFeatures(f"{self.policy.label} learns from features; say observe(arm, reward, x)")
        row = as_row(x)
        if row.size != self.n_features or index >= self.n_arms:
            self.make_room_for("x", index + 1, row.size)
        return row

    def make_room_for(self, name: str, n_rows: int, n_features: int) -> None:
        """Make room for so many rows of so many features; once their number is known, it stays."""
        n_arms = self.n_arms if n_rows <= self.n_arms else max(n_rows, min(2 * self.n_arms, MOST_ROWS))
        if self.n_features is None:
            state = self.policy.start(n_arms, n_features, self.horizon, self.capacity)
            self.n_features = n_features
            self.set_state(state, n_arms, self.capacity)
        elif n_features != self.n_features:
            raise BadFeatures(
                f"{name} must hold {self.n_features} numbers for each option, as before, not {n_features}"
            )
        else:
            self.make_room(n_arms, self.capacity)

    def learn(self, index: int, x: FloatArray, reward: float) -> None:
        """Learn from the reward of a row."""
        self.make_room_to_learn()
        self._learn(self.state, self.rng, index, x, reward)
        self.n_observations += 1

    def content(self) -> dict[str, Any]:
        """Return what was learnt, ready for JSON."""
        return {**super().content(), "n_rows": self.n_arms, "n_features": self.n_features}

    def restore(self, content: dict[str, Any]) -> None:
        """Go on with what was saved."""
        n_rows, n_features = content["n_rows"], content["n_features"]
        if isinstance(self.options, Unnamed):
            self.n_arms = min(check_count("n_rows", n_rows, at_least=0), MOST_ROWS)
        if n_rows != self.n_arms:
            raise BadInput(f"n_rows must be {self.n_arms}, not {n_rows!r}")
        if n_features is not None:
            self.n_features = check_count("n_features", n_features)
        super().restore(content)

    def growing_states(self, capacity: int) -> Iterator[Any]:
        """Yield fresh states of ever more room, for ever more features and then observations."""
        n_features = N_FEATURES
        while n_features < (self.n_features or 0):
            yield self.policy.start(self.n_arms, n_features, self.horizon, self.capacity)
            n_features *= 2
        yield from super().growing_states(capacity)


def tame_reward(policy: Policy | FeaturePolicy) -> float:
    """Return a reward that the policy is made for."""
    low, high = policy.reward_range
    return float(min(max(0.0, low), high))
