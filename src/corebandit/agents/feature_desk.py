"""Where an agent's decisions by features are made."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from corebandit.agents.codec import fill_from_json
from corebandit.agents.desk import Desk, Look, tame_reward
from corebandit.agents.options import MOST_ROWS, Named, Unnamed
from corebandit.agents.propensities import Chances
from corebandit.agents.steps import draw_rows, learn_row, select_row
from corebandit.agents.traffic import Traffic
from corebandit.contracts.audit import demand
from corebandit.contracts.errors import BadFeatures, BadInput
from corebandit.contracts.features import as_row, as_rows, check_finite
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_count
from corebandit.randomness.stream import Stream

N_FEATURES = 3  # while nobody knows
RowChoice = tuple[int, FloatArray, Chances | None, bool | None]


class FeatureDesk(Desk):
    """Decisions among rows of features. The first row that comes tells how many features there are."""

    draws = draw_rows

    def __init__(
        self,
        policy: FeaturePolicy,
        options: Named | Unnamed,
        horizon: int | None,
        seed: int,
        n_draws: int | None = None,
        floor: float = 0.0,
    ) -> None:
        super().__init__(len(options.names or ()), horizon, seed, n_draws, floor)
        self.policy, self.options = policy, options
        self.set_state(None, self.n_arms, self.capacity)
        # Compile now and not in the first decision: sizes, not known yet, are no part of machine code.
        self.prepare(policy.start(2, N_FEATURES, horizon, self.capacity), n_arms=2)

    def compile(self, state: Any, n_arms: int, rng: Stream) -> None:
        """Compile for states such as this one of `n_arms` arms, which is used up."""
        rows = np.ones((n_arms, self.n_features or N_FEATURES))
        question = rows, np.zeros(n_arms), np.arange(n_arms)
        self._select = self.function(select_row, state, rng, *question)
        self._learn = self.function(learn_row, state, rng, 0, rows[0], tame_reward(self.policy))
        if self.n_draws is not None:
            self._draw = self.function(draw_rows, state, rng, *question, np.arange(n_arms))

    def fresh_state(self, n_arms: int, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        return self.policy.start(n_arms, self.n_features or 0, self.horizon, capacity)

    def choose(self, features: Any, arms: Iterable[Hashable] | None, traffic: Traffic, answer: Any = None) -> Any:
        """Return the choice of an option to play; or what `answer`, `draw_lot` or `look`, makes of those on offer."""
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
        if answer is not None:
            check_finite("features", rows)
            return answer(offered, traffic, table)
        if table.shape[1] != self.n_features or table.shape[0] > self.n_arms:
            check_finite("features", rows)
        choice = self.pick(offered, traffic, table)
        if choice[0] < 0:
            check_finite("features", rows)
        return choice

    def pick(self, offered: IntArray, traffic: Traffic, table: FloatArray) -> RowChoice:
        """Return the policy's own choice, or an index below 0 if a feature is not finite or is huge."""
        n_rows, d = table.shape
        if d != self.n_features or n_rows > self.n_arms:
            self.make_room_for("features", n_rows, d)
        if traffic.is_limiting:
            offered = self.limited(offered, traffic)
        index = int(self._select(self.state, self.rng, table, self.scores[:n_rows], offered))
        return index, table[index].copy(), None, None

    def draw_lot(self, offered: IntArray, traffic: Traffic, table: FloatArray) -> RowChoice:
        """Return the choice of one of many draws, and the probabilities it was made with."""
        self.check_floor(offered.size)
        n_rows, d = table.shape
        if d != self.n_features or n_rows > self.n_arms:
            self.make_room_for("features", n_rows, d)
        allowed, winners = self.limited(offered, traffic), np.empty(self.n_draws or 0, np.int64)
        self._draw(self.state, self.rng, table, self.scores[:n_rows], allowed, winners)
        index, known = self.lot(winners, allowed)
        return index, table[index].copy(), known, None

    def uniform(self, offered: IntArray, table: FloatArray) -> RowChoice:
        """Return a uniform choice of those on offer."""
        index, known = self.drawn_evenly(offered)
        return index, table[index].copy(), known, True

    def look(self, offered: IntArray, traffic: Traffic, table: FloatArray) -> Look:
        """Return what can be asked who of those on offer would be chosen."""
        n_rows, d = table.shape
        self.check_as_before("features", d)
        start = partial(self.policy.start, max(n_rows, self.n_arms), d, self.horizon, self.capacity)
        allowed = self.limited(offered, traffic)
        return self.looked_at(start, offered, allowed, table.copy(), np.zeros(n_rows), allowed)

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
        self.check_as_before(name, n_features)
        n_arms = self.n_arms if n_rows <= self.n_arms else max(n_rows, min(2 * self.n_arms, MOST_ROWS))
        if self.n_features is None:
            state = self.policy.start(n_arms, n_features, self.horizon, self.capacity)
            self.n_features = n_features
            self.set_state(state, n_arms, self.capacity)
        else:
            self.make_room(n_arms, self.capacity)

    def check_as_before(self, name: str, n_features: int) -> None:
        """Raise BadFeatures unless there are as many features as ever."""
        if self.n_features is not None and n_features != self.n_features:
            raise BadFeatures(
                f"{name} must hold {self.n_features} numbers for each option, as before, not {n_features}"
            )

    def learn(self, index: int, x: FloatArray, reward: float) -> None:
        """Learn from the reward of a row."""
        self.make_room_to_learn()
        self._learn(self.state, self.rng, index, x, reward)
        self.n_observations += 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return what a policy's `warm_up_rounds` takes besides the horizon, as far as it is known."""
        return (self.n_features or 1,)

    def plain(self, choice: RowChoice) -> int:
        """Return the index of the option; its features are saved beside."""
        return choice[0]

    def choices(self, content: dict[str, Any]) -> list[RowChoice]:
        """Return the choices that were saved, in their order."""
        saved = self.saved_choices(content)
        demand(not saved or self.state is not None, "nothing is chosen before the first features")
        rows = np.empty((len(saved), self.n_features or 0))
        fill_from_json(rows, content["pending_rows"])
        check_finite("pending_rows", rows)
        return [(index, row, known, None) for (index, known), row in zip(saved, rows, strict=True)]

    def options_of(self, choice: RowChoice) -> tuple[int, ...]:
        """Return the arm that a choice is of; rows without names are other ones in every decision."""
        return (choice[0],) if isinstance(self.options, Named) else ()

    def content(self, waiting: Callable[[], Iterable[RowChoice]]) -> dict[str, Any]:
        """Return a copy of what was learnt, and of the features of the choices that wait, for `in_json`."""
        n_features = self.n_features

        def rows() -> FloatArray:
            listed = [row for _, row, _, _ in waiting()]
            return np.array(listed).reshape(len(listed), n_features or 0)

        return {
            **super().content(waiting),
            "n_rows": self.n_arms,
            "n_features": n_features,
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
