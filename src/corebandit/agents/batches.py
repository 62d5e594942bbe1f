"""Many decisions, and many observations, at once."""

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from corebandit.agents.agent_views import AgentViews
from corebandit.agents.codec import arm_to_json, array_to_json
from corebandit.agents.decision import Arm, Decision, Decisions
from corebandit.agents.events import OBSERVE_MANY, asked, asked_many
from corebandit.agents.frames import tables_and_arms
from corebandit.agents.ids import DecisionId
from corebandit.agents.options import plain_options
from corebandit.agents.rewards import Reward
from corebandit.agents.settings import MANY_OPEN
from corebandit.contracts.errors import BadFeatures, BadInput
from corebandit.contracts.features import as_rows
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import shortened


class BatchAgent(AgentViews[Arm]):
    """An agent that is asked, and told, many things at once."""

    def _checked(self, reward: Reward) -> float:
        raise NotImplementedError

    def _receipt(self, decision_id: DecisionId, choice: Any) -> Decision[Arm]:
        raise NotImplementedError

    def ask_many(self, features: Any, *, arms: Iterable[Arm] | None = None) -> Decisions[Arm]:
        """Make many decisions by features, one for each table of `features` `(n, rows, d)`.

        The choices are those of `ask` for one table after the other with nothing told in between; only `max_open` ends
        decisions not before all are made. Features that are refused change nothing. An array takes a fraction of the
        time of a loop. Tables may also be frames or mappings, as in `ask`, that all name the same arms.

        With a context, `features` is a list of users, and `arms` is as in `ask`, the same for all. That takes about
        half the time of a loop: most of it goes into making rows of dictionaries. Words that are new have their columns
        before the first choice, so the choices may differ from those of a loop.

        >>> from corebandit import Agent, LinTS
        >>> agent = Agent(LinTS(), arms=["red", "green"], seed=7)
        >>> users = [[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.0], [0.0, 0.5]]]
        >>> len(agent.ask_many(users))
        2

        What is returned is a sequence of decisions, with all `arms` and `ids` of them.
        """
        if not isinstance(self.policy, FeaturePolicy):
            raise BadFeatures(f"{self.policy.label} takes no features; ask() once for each decision")
        named: Any = None
        if self._encoder is None:
            features, named = tables_and_arms(features, arms, self._options)
            tables = as_tables(features)
        with self._lock:
            now = self._now()
            if self._ends_decisions:
                self._end_what_is_due(now)
            if len(self._ledger.waiting) >= MANY_OPEN and not self._has_warned:
                self._warn_of_many()
            if self._encoder is not None:
                tables, named = self._in_columns(_listed("features", features), arms)
            decisions = self._ask_many(tables, named, now)
            if self._journal is not None and not self._desk.beginning.prepares:  # which is told between decisions
                self._journal(asked_many(decisions, now, tables, named))
            if self._refits is not None:
                self._refits.step(self._journal)
            if self._ends_decisions:
                self._end_what_is_too_much(now)
            return decisions

    def _ask_many(
        self, tables: FloatArray, arms: list[Any] | None, now: float, ids: Sequence[str] | None = None
    ) -> Decisions[Arm]:
        """Make many decisions; a journal tells the ids of old ones."""
        ledger, desk = self._ledger, self._desk
        placed, offered = desk.placed(tables, arms)
        is_plain = self._by_lot is None and self.settings.max_share == 1.0 and not desk.beginning.prepares
        if is_plain and self.policy.runs_compiled:
            chosen, rows = desk.choose_many(placed, offered, ledger.traffic)
            if not chosen:
                desk.check_many(tables)
            known = self._options.names
            names: list[Any] = chosen if known is None else list(map(known.__getitem__, chosen))
            choices = list(zip(chosen, rows, repeat(None), repeat(None)))
            return Decisions(names, ledger.enter_many(names, choices, now, ids))
        desk.check_many(tables)
        decisions = list[Decision[Arm]]()
        try:
            for place, table in enumerate(tables):
                choice = desk.choose(table, arms, ledger.traffic, self._by_lot)
                decision_id = ledger.enter(self._chosen(choice), choice, now, None if ids is None else ids[place])
                decisions.append(self._receipt(decision_id, choice))
                if desk.beginning.prepares and self._journal is not None:
                    self._journal(asked(decisions[-1], now, table, arms))
        except BaseException:
            for decision in decisions:
                if desk.beginning.prepares:
                    self._close(decision.id)
                else:
                    ledger.cancel(decision.id)
            raise
        return Decisions([made.arm for made in decisions], [made.id for made in decisions], decisions)

    def observe_many(self, arms: Iterable[Arm], rewards: Iterable[Reward], x: Any = None) -> None:
        """Learn from many choices that others made, in their order: a warm start from past data, say.

        `x` `(n, d)` are their features, if the policy chooses by them; with a context, a list of dictionaries. All is
        learnt, or, if something is refused, nothing.

        >>> from corebandit import Agent, CORe
        >>> agent = Agent(CORe(), arms=["red", "green"], seed=7)
        >>> agent.observe_many(["red", "green", "red"], [1.0, 0.0, 0.5])
        >>> agent.n_observations
        3
        """
        indices = list(map(self._options.index_of, plain_options("arms", "arm", arms)))
        checked = [self._checked(reward) for reward in _listed("rewards", rewards)]
        if len(checked) != len(indices):
            raise BadInput(f"rewards must be as many as arms, {len(indices)}, not {len(checked)}")
        rows = None if x is None or self._encoder is not None else as_rows(x, "x")
        if rows is not None and len(rows) != len(indices):
            raise BadFeatures(f"x must have one row for each of {len(indices)} arms, not the shape {rows.shape}")
        with self._lock:
            now = self._now()
            if self._encoder is not None and indices:
                rows = self._rows_in_columns(list(map(self._options.name, indices)), x)
            self._observe_many(indices, checked, rows, now)
            if self._journal is not None and indices:
                names = [arm_to_json(self._options.name(index)) for index in indices]
                self._journal([OBSERVE_MANY, now, names, checked, *([] if rows is None else [array_to_json(rows)])])

    def _observe_many(
        self, indices: Sequence[int], rewards: Sequence[float], rows: FloatArray | None, now: float
    ) -> None:
        checked = self._desk.rows(indices, rows)
        for index, reward, row in zip(indices, rewards, checked, strict=True):
            self._learn((index, row, None, None), reward, now)


def as_tables(features: Any) -> FloatArray:
    """Return features `(n, rows, d)` as floats, or say what is wrong; their values are looked at later.

    >>> as_tables([[[1, 0], [0, 1]]]).shape
    (1, 2, 2)
    """
    try:
        array = np.asarray(_unmasked(features))
    except ValueError:
        array = np.empty(0)
    if array.ndim != 3 or array.size == 0:
        raise BadFeatures(
            f"features must have the shape (n, rows, d), at least one of each, not {array.shape or shortened(features)}"
        )
    rows = as_rows(array.reshape(-1, array.shape[-1]))
    return rows.reshape(array.shape)


def _unmasked(features: Any) -> Any:
    """Return features with NaN, which is refused, for what is missing."""
    if isinstance(features, np.ma.MaskedArray):
        return np.ma.filled(features.astype(float), np.nan)
    if isinstance(features, list | tuple) and any(isinstance(table, np.ma.MaskedArray) for table in features):
        return [_unmasked(table) for table in features]
    return features


def _listed(name: str, given: Any) -> list[Any]:
    try:
        return list(given)
    except TypeError as error:
        raise BadInput(f"{name} must be a list, not {shortened(given)}") from error
