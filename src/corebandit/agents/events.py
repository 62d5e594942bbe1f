"""What a journal is told: everything that changes an agent, ready for JSON, so that it can be done again."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from corebandit.agents.codec import arm_from_json, arm_to_json, array_from_json, array_to_json
from corebandit.agents.frames import rows_and_arms
from corebandit.agents.options import Named, Unnamed, plain_option
from corebandit.contracts.errors import BadInput
from corebandit.contracts.features import as_rows
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import shortened

PREPARE, REFIT, REFIT_DONE, REFIT_FAILED = "prepare", "refit", "refit done", "refit failed"
ASK_MANY, OBSERVE_MANY, COLUMNS, CHANGE = "ask many", "observe many", "columns", "change"
ASK, HOLD_OUT, TELL, OBSERVE, FORGET, EXPIRE, LATE, ADD, RETIRE, TURN_BACK = (
    *("ask", "hold out", "tell", "observe", "forget", "expire", "late", "add", "retire", "turn back"),
)


def as_given(features: Any, arms: Any, options: Named | Unnamed) -> tuple[Any, Any]:
    """Return what was given to `ask` in a form that can be written down."""
    features, arms = rows_and_arms(features, arms, options)
    rows = None if features is None else as_rows(features)
    if arms is None or isinstance(arms, str):  # which is refused in a moment
        return rows, arms
    try:
        named = [plain_option("arm", arm) for arm in arms]
    except TypeError as error:
        raise BadInput(f"arms must be a list of arms, not {shortened(arms)}") from error
    return rows, named


def asked(decision: Any, now: float, features: FloatArray | None, arms: Iterable[Hashable] | None) -> list[Any]:
    """Return a decision as a journal has it: what it was given is left away at the end where it was not."""
    chances = decision.propensities
    event: list[Any] = [
        HOLD_OUT if decision.is_held_out else ASK,
        decision.id,
        now,
        arm_to_json(decision.arm),
        _in_json(chances),
    ]
    if features is not None or arms is not None:
        event.append(None if features is None else array_to_json(features))
    if arms is not None:
        event.append([arm_to_json(arm) for arm in arms])
    return event


def asked_many(decisions: Sequence[Any], now: float, tables: FloatArray, arms: Iterable[Hashable] | None) -> list[Any]:
    """Return many decisions as a journal has them."""
    made = [[each.id, arm_to_json(each.arm), _in_json(each.propensities), each.is_held_out] for each in decisions]
    named = [] if arms is None else [[arm_to_json(arm) for arm in arms]]
    return [ASK_MANY, now, made, array_to_json(tables), *named]


def ranked(ranking: Any, now: float) -> list[Any]:
    """Return a ranking as a journal has it."""
    chances = ranking.propensities
    items = [arm_to_json(item) for item in ranking.items]
    kind = HOLD_OUT if ranking.is_held_out else ASK
    return [kind, ranking.id, now, items, None if chances is None else [_in_json(place) for place in chances]]


def _in_json(chances: Mapping[Hashable, float] | None) -> list[list[Any]] | None:
    return None if chances is None else [[arm_to_json(option), chance] for option, chance in chances.items()]


def from_journal(features: Any = None, arms: Any = None) -> list[Any]:
    """Return what `ask` was given, as the journal had it."""
    if arms is not None:
        arms = [arm_from_json(arm) for arm in arms]
    return [] if features is None and arms is None else [None if features is None else array_from_json(features), arms]
