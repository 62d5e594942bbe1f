"""The decisions of an agent as a table, from what its journal tells."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from corebandit.agents.codec import arm_from_json
from corebandit.agents.events import ASK, ASK_MANY, EXPIRE, FORGET, HOLD_OUT, LATE, OBSERVE, OBSERVE_MANY, TELL
from corebandit.agents.looking import in_utc, shown_names
from corebandit.contracts.errors import DamagedFile

if TYPE_CHECKING:
    import polars as pl

OPEN, REWARDED, DEFAULTED, DROPPED = "open", "rewarded", "defaulted", "dropped"
COLUMNS = ("id", "asked", "chosen", "outcome", "reward", "answered", "late", "held_out", "propensity", "propensities")


def frame_of_events(events: Iterable[tuple[int, str]]) -> "pl.DataFrame":
    """Return a row for each decision, and for each choice that others made, in the order they were made."""
    import polars as pl

    try:
        rows = _rows(events)
    except (TypeError, LookupError, json.JSONDecodeError) as error:
        raise DamagedFile(f"the events cannot be read: {error}") from error
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in COLUMNS}
    columns["chosen"] = _shown(columns["chosen"])
    columns["propensities"] = [None if each is None else json.dumps(each) for each in columns["propensities"]]
    series = {name: pl.Series(values, strict=False) for name, values in columns.items() if name not in MOMENTS}
    for name in MOMENTS:
        series[name] = pl.Series([in_utc(at) for at in columns[name]], dtype=pl.Datetime("us", "UTC"))
    return pl.DataFrame(series).select(pl.col("id").cast(pl.String), *COLUMNS[1:])


MOMENTS = ("asked", "answered")


def _rows(events: Iterable[tuple[int, str]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    decisions: dict[Any, dict[str, Any]] = {}

    def end(decision_id: Any, outcome: str, reward: Any, answered: float | None) -> None:
        if (row := decisions.get(decision_id)) is not None:  # its beginning may have been trimmed
            row.update(outcome=outcome, reward=reward, answered=answered)

    def begin(decision_id: Any, now: float, chosen: Any, chances: Any, is_held_out: bool) -> None:
        row = _row(decision_id, now, chosen, OPEN, None, None, 0, is_held_out, _of(chosen, chances), chances)
        decisions[decision_id] = row
        rows.append(row)

    for _, text in events:
        kind, *told = json.loads(text)
        if kind in (ASK, HOLD_OUT):
            decision_id, now, chosen, chances = told[:4]
            begin(decision_id, now, chosen, chances, kind == HOLD_OUT)
        elif kind == ASK_MANY:
            for decision_id, chosen, chances, is_held_out in told[1]:
                begin(decision_id, told[0], chosen, chances, is_held_out)
        elif kind == OBSERVE_MANY:
            for chosen, reward in zip(told[1], told[2], strict=True):
                rows.append(_row(None, told[0], chosen, REWARDED, reward, told[0], 0, False, None, None))
        elif kind == TELL:
            end(told[0], REWARDED, told[2], told[1])
        elif kind == OBSERVE:
            rows.append(_row(None, told[0], told[1], REWARDED, told[2], told[0], 0, False, None, None))
        elif kind == FORGET:
            end(told[0], DROPPED, None, None)
        elif kind == EXPIRE:
            now, reward, decision_ids = told
            for decision_id in decision_ids:
                row = decisions.get(decision_id, {})
                ranks = isinstance(row.get("chosen"), list) and reward is not None
                learned = [0] * len(row["chosen"]) if ranks else reward
                end(decision_id, DROPPED if reward is None else DEFAULTED, learned, now)
        elif kind == LATE and (found := decisions.get(told[0])) is not None:
            found["late"] += 1
    return rows


def _row(*values: Any) -> dict[str, Any]:
    return dict(zip(COLUMNS, values, strict=True))


def _of(chosen: Any, chances: list[list[Any]] | None) -> float | None:
    """Return the probability of the arm that was chosen; a ranking has one for each place."""
    if chances is None or isinstance(chosen, list):
        return None
    return float(next(chance for option, chance in chances if option == chosen))


def _shown(chosen: list[Any]) -> list[Any]:
    """Return arms as they are where all are of one kind that a column can hold, else in words."""
    names = [list(map(arm_from_json, each)) if isinstance(each, list) else arm_from_json(each) for each in chosen]
    flat = [item for each in names for item in (each if isinstance(each, list) else [each])]
    if len(kinds := {type(item) for item in flat}) <= 1 and (kinds <= {float, bool} or shown_names(flat) == flat):
        return names
    return [[repr(item) for item in each] if isinstance(each, list) else repr(each) for each in names]
