"""Where an agent's decisions by features are made."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from corebandit.agents.codec import fill_from_json
from corebandit.agents.desk import Desk, tame_reward
from corebandit.agents.options import MOST_ROWS, Named, Unnamed
from corebandit.agents.steps import learn_row, select_row
from corebandit.agents.traffic import Traffic
from corebandit.contracts.audit import demand
from corebandit.contracts.errors import BadFeatures, BadInput
from corebandit.contracts.features import as_row, as_rows, check_finite
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count
from corebandit.randomness.stream import Stream

N_FEATURES = 3  # while nobody knows


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

    def choose(self, features: Any, arms: Iterable[Hashable] | None, traffic: Traffic) -> tuple[int, FloatArray]:
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
        if traffic.is_limiting:
            offered = self.limited(offered, traffic)
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

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return what a policy's `warm_up_rounds` takes besides the horizon, as far as it is known."""
        return (self.n_features or 1,)

    def plain(self, choice: tuple[int, FloatArray]) -> int:
        """Return the index of the option; its features are saved beside."""
        return choice[0]

    def choices(self, content: dict[str, Any]) -> list[tuple[int, FloatArray]]:
        """Return the choices that were saved, in their order."""
        indices = [self.checked_index("pending", index) for _, index, _ in content["pending"]]
        demand(not indices or self.state is not None, "nothing is chosen before the first features")
        rows = np.empty((len(indices), self.n_features or 0))
        fill_from_json(rows, content["pending_rows"])
        check_finite("pending_rows", rows)
        return list(zip(indices, rows, strict=True))

    def options_of(self, choice: tuple[int, FloatArray]) -> tuple[int, ...]:
        """Return the arm that a choice is of; rows without names are other ones in every decision."""
        return (choice[0],) if isinstance(self.options, Named) else ()

    def content(self, waiting: Sequence[tuple[int, FloatArray]]) -> dict[str, Any]:
        """Return what was learnt, and the features of the choices that wait, ready for JSON."""
        rows = np.array([row for _, row in waiting]).reshape(len(waiting), self.n_features or 0)
        return {
            **super().content(waiting),
            "n_rows": self.n_arms,
            "n_features": self.n_features,
            "pending_rows": rows,
        }

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
