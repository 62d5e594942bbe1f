"""Where an agent's decisions by features are made."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from corebandit.agents.batch_steps import are_within_reach, select_rows
from corebandit.agents.codec import fill_from_json
from corebandit.agents.desk import Desk, Look, tame_reward
from corebandit.agents.frames import rows_and_arms
from corebandit.agents.options import MOST_ROWS, Named, Unnamed
from corebandit.agents.propensities import Chances
from corebandit.agents.reach import ENOUGH_SEEN, check_within_reach
from corebandit.agents.steps import draw_rows, learn_row, select_row
from corebandit.agents.traffic import Traffic
from corebandit.agents.widening import widen_over
from corebandit.contracts.errors import BadFeatures, BadInput, demand
from corebandit.contracts.features import LARGEST_FEATURE, as_row, as_rows, check_finite
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_count
from corebandit.parts.rounds import horizon_or_unknown
from corebandit.randomness.stream import Stream

N_FEATURES = 3  # while nobody knows
RowChoice = tuple[int, FloatArray, Chances | None, bool | None]


class FeatureDesk(Desk):
    """Decisions among rows of features. The first row that comes tells how many features there are."""

    draws = draw_rows
    is_apart = False  # whether the policy's model is fitted beside the decisions

    def __init__(
        self,
        policy: FeaturePolicy,
        options: Named | Unnamed,
        horizon: int | None,
        seed: int,
        n_draws: int | None = None,
        floor: float = 0.0,
        limit: float | None = None,
    ) -> None:
        super().__init__(len(options.names or ()), horizon, seed, n_draws, floor)
        self.seen, self.reach = np.zeros((2, 0)), 0.0  # of features: see `reach_of`
        self.limit, self.n_seen = limit, 0  # decisions, up to as many as are needed
        self.policy, self.options = policy, options
        self.set_state(None, self.n_arms, self.capacity)
        # Compile now and not in the first decision: sizes, not known yet, are no part of machine code.
        self.get_ready(policy.start(2, N_FEATURES, horizon, self.capacity), n_arms=2)

    def compile(self, state: Any, n_arms: int, rng: Stream) -> None:
        """Compile for states such as this one of `n_arms` arms, which is used up."""
        rows = np.ones((n_arms, self.n_features or N_FEATURES))
        question = rows, np.zeros(n_arms), np.arange(n_arms)
        self._select = self.function(select_row, state, rng, *question, np.zeros((2, rows.shape[1])), 0.0)
        self._learn = self.function(learn_row, state, rng, 0, rows[0], tame_reward(self.policy))
        if self.n_draws is not None:
            self._draw = self.function(draw_rows, state, rng, *question, True, np.arange(n_arms))

    def fresh_state(self, n_arms: int, capacity: int) -> Any:
        """Return a state that has seen nothing."""
        return self.policy.start(n_arms, self.n_features or 0, self.horizon, capacity)

    def choose(self, features: Any, arms: Iterable[Hashable] | None, traffic: Traffic, answer: Any = None) -> Any:
        """Return the choice of an option to play; or what `answer`, `draw_lot` or `look`, makes of those on offer."""
        if features is None:
            raise BadFeatures(
                f"{self.policy.label} chooses by features; say ask(features), with one row for each option"
            )
        if type(features) is not np.ndarray:
            features, arms = rows_and_arms(features, arms, self.options)
        rows = as_rows(features)
        table, offered = self.options.placed(rows, arms)
        if answer is not None:
            self.check_reach("features", rows)
            return answer(offered, traffic, table)
        choice = self.pick(offered, traffic, table)
        if choice[0] < 0:
            self.check_reach("features", rows)
        return choice

    def pick(self, offered: IntArray, traffic: Traffic, table: FloatArray) -> RowChoice:
        """Return the policy's own choice, or an index below 0 if a feature is not finite or too large."""
        n_rows, d = table.shape
        if d != self.n_features or n_rows > self.n_arms:
            if not is_finite(table):
                return -1, table[0], None, None
            self.make_room_for("features", n_rows, d)
        if self.asks_first:
            self.begin_choice()
        if traffic.is_limiting:
            offered = self.limited(offered, traffic)
        index = int(self._select(self.state, self.rng, table, self.scores[:n_rows], offered, self.seen, self.reach))
        if index < -1:
            index = -2 - index
            self.seen[0] = self.seen[1]
        if self.n_seen < ENOUGH_SEEN and index >= 0:
            self.count_seen(1)
        return index, table[index].copy(), None, None

    def placed(self, tables: FloatArray, arms: Iterable[Hashable] | None) -> tuple[FloatArray, IntArray]:
        """Return tables `(n, rows, d)` with each row at the index of its arm, and the indices on offer, ascending."""
        n_rows = tables.shape[1]
        places, offered = self.options.placed(np.arange(float(n_rows)).reshape(n_rows, 1), arms)
        self.check_as_before("features", tables.shape[2])
        order = places[:, 0].astype(np.int64)
        is_same = np.array_equal(order, np.arange(n_rows))
        return tables if is_same else np.ascontiguousarray(tables[:, order]), offered

    def check_many(self, tables: FloatArray) -> None:
        """Raise BadFeatures that says where, if a number of tables `(n, rows, d)` is too large."""
        for place, table in enumerate(tables):
            self.check_reach(f"features[{place}]", table)

    def choose_many(self, tables: FloatArray, offered: IntArray, traffic: Traffic) -> tuple[list[int], FloatArray]:
        """Return who is chosen in each of many decisions, and their features; nobody if a feature is out of reach."""
        n, n_rows, d = tables.shape
        seen = self.seen if d == self.n_features else np.zeros((2, d))
        if not are_within_reach.compiled(tables, seen, self.reach):
            return [], tables[0]
        if d != self.n_features or n_rows > self.n_arms:
            self.make_room_for("features", n_rows, d)
        counts, is_forced = traffic.counts(), self.is_warming_up
        allowed, winners = np.empty_like(offered), np.empty(n, np.int64)
        decided, _, pending = self.coming_round
        given = self.state, self.rng, tables, self.scores[:n_rows], offered, counts, is_forced, allowed
        select_rows.compiled(*given, decided, horizon_or_unknown(self.horizon), pending.copy(), winners)
        self.seen = seen
        self.count_seen(n)
        return winners.tolist(), tables[np.arange(n), winners]

    def draw_lot(self, offered: IntArray, traffic: Traffic, table: FloatArray) -> RowChoice:
        """Return the choice of one of many draws, and the probabilities it was made with."""
        self.check_floor(offered.size)
        n_rows, d = table.shape
        if d != self.n_features or n_rows > self.n_arms:
            self.make_room_for("features", n_rows, d)
        self.begin_choice()  # and then note: a snapshot may be taken where it prepares
        self.note(table)
        index, known = self.lot(self.limited(offered, traffic), (table,), self.scores[:n_rows])
        return index, table[index].copy(), known, None

    def uniform(self, offered: IntArray, table: FloatArray) -> RowChoice:
        """Return a uniform choice of those on offer."""
        index, known = self.drawn_evenly(offered)
        return index, table[index].copy(), known, True

    def look(self, offered: IntArray, traffic: Traffic, table: FloatArray) -> Look:
        """Return what can be asked who of those on offer would be chosen."""
        n_rows, d = table.shape
        self.check_as_before("features", d)
        n_arms, allowed = max(n_rows, self.n_arms), self.limited(offered, traffic)
        start = partial(self.policy.start, n_arms, d, self.horizon, self.capacity)
        return self.looked_at(start, offered, allowed, table.copy(), np.zeros(n_rows), allowed, True, n_arms=n_arms)

    def row(self, index: int, x: Any) -> FloatArray:
        """Return the features of an option that someone else chose, and make room for it."""
        if x is None:
            raise BadFeatures(f"{self.policy.label} learns from features; say observe(arm, reward, x)")
        row = as_row(x)
        self.check_reach("x", row)
        if row.size != self.n_features or index >= self.n_arms:
            self.make_room_for("x", index + 1, row.size)
        self.note(row)
        return row

    def recorded(self, index: int, features: FloatArray | None, place: int) -> FloatArray:
        """Return the row of a choice that another policy made among these, and make room for it."""
        if features is None:
            raise BadFeatures(f"{self.policy.label} learns from features, and there were none")
        if features.shape[1] != self.n_features or max(index, len(features) - 1) >= self.n_arms:
            self.make_room_for("features", max(index + 1, len(features)), features.shape[1])
        self.note(features)
        return np.array(features[place])

    def rows(self, indices: Sequence[int], x: FloatArray | None) -> Sequence[Any]:
        """Return the features of options that someone else chose, one after the other, and make room for them."""
        if x is None:
            raise BadFeatures(f"{self.policy.label} learns from features; say observe_many(arms, rewards, x)")
        self.check_reach("x", x)
        if len(x) > 0:
            if x.shape[1] != self.n_features or max(indices) >= self.n_arms:
                self.make_room_for("x", max(indices) + 1, x.shape[1])
            self.note(x)
        return list(x)

    # Features that are too large ----------------------------------------------------------------------------------

    def count_seen(self, n: int) -> None:
        """Count decisions until enough is known of how large features are."""
        self.n_seen = min(self.n_seen + n, ENOUGH_SEEN)
        self.reach = 0.0 if self.limit is None or self.n_seen < ENOUGH_SEEN else self.limit

    def note(self, rows: FloatArray) -> None:
        """Take note of the largest features."""
        np.maximum(self.seen[0], np.abs(rows).reshape(-1, self.seen.shape[1]).max(axis=0), out=self.seen[0])
        self.count_seen(1)

    def check_reach(self, name: str, rows: FloatArray) -> None:
        """Raise BadFeatures that says where, if a number of rows `(n, d)` or of a row `(d,)` is too large."""
        check_within_reach(name, rows, self.seen[0], self.reach)

    @contextmanager
    def replaying(self) -> Iterator[None]:
        """Take features of any size for a while: what was taken once is history."""
        limit, self.limit, self.reach = self.limit, None, 0.0
        try:
            with super().replaying():
                yield
        finally:
            self.limit = limit
            self.count_seen(0)

    # Room ---------------------------------------------------------------------------------------------------------

    def make_room_for(self, name: str, n_rows: int, n_features: int) -> None:
        """Make room for so many rows of so many features; once their number is known, it stays."""
        self.check_as_before(name, n_features)
        n_arms = self.n_arms if n_rows <= self.n_arms else max(n_rows, min(2 * self.n_arms, MOST_ROWS))
        if self.n_features is None:
            state = self.policy.start(n_arms, n_features, self.horizon, self.capacity)
            self.n_features, self.seen = n_features, np.zeros((2, n_features))
            self.set_state(state, n_arms, self.capacity)
        else:
            self.make_room(n_arms, self.capacity)

    def set_state(self, state: Any, n_arms: int, capacity: int) -> None:
        """Go on with this state, which has room for so much, and with the model that it may be around."""
        before = getattr(self, "state", None)
        super().set_state(state, n_arms, capacity)
        if self.is_apart and state is not None:
            state.go_on_from(before)

    def copied(self, start: Callable[[], Any], state: Any) -> Any:
        """Return a copy of a state in a fresh one; a model that is fitted beside the decisions answers in both."""
        fresh = super().copied(start, state)
        if self.is_apart:
            fresh.go_on_from(state)
        return fresh

    def widen(self, n_features: int) -> None:
        """Have more columns, which were 0 in all rows so far."""
        if self.n_features is not None and n_features > self.n_features:
            state = self.policy.start(self.n_arms, n_features, self.horizon, self.capacity)
            widen_over(self.state, state)
            self.n_features, seen = n_features, np.zeros((2, n_features))
            seen[:, : self.seen.shape[1]] = self.seen
            self.seen = seen
            self.set_state(state, self.n_arms, self.capacity)

    def widened(self, row: FloatArray) -> FloatArray:
        """Return a row of a decision as it would be now: with zeros for columns that came later."""
        return np.pad(row, (0, (self.n_features or 0) - row.size))

    def check_as_before(self, name: str, n_features: int) -> None:
        """Raise BadFeatures unless there are as many features as ever."""
        if self.n_features is not None and n_features != self.n_features:
            raise BadFeatures(
                f"{name} must hold {self.n_features} numbers for each option, as before, not {n_features}"
            )

    def learn(self, index: int, x: FloatArray, reward: float) -> None:
        """Learn from the reward of a row."""
        if self.n_observations == self.capacity:
            self.make_room(self.n_arms, 2 * self.capacity)
        if x.size != self.n_features:
            x = self.widened(x)
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
            if any(row.size != n_features for row in listed):  # columns were added meanwhile
                listed = [np.pad(row, (0, (n_features or 0) - row.size)) for row in listed]
            return np.array(listed).reshape(len(listed), n_features or 0)

        return {
            **super().content(waiting),
            "n_rows": self.n_arms,
            "n_features": n_features,
            "n_seen": self.n_seen,
            "largest_seen": self.seen[0].copy(),
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
        self.seen = np.zeros((2, self.n_features or 0))
        if "n_seen" in content:  # earlier versions took no notice
            self.count_seen(check_count("n_seen", content["n_seen"], at_least=0))
            fill_from_json(self.seen[0], content["largest_seen"])
            demand(bool((self.seen[0] >= 0.0).all() and is_finite(self.seen[0])), "largest_seen must be sizes")


def is_finite(numbers: FloatArray) -> bool:
    """Tell whether all numbers are finite and not huge."""
    return bool((np.abs(numbers) <= LARGEST_FEATURE).all())
