"""What a journal is told: everything that changes an agent, ready for JSON, so that it can be done again."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from corebandit.agents.codec import arm_from_json, arm_to_json, array_from_json, array_to_json
from corebandit.agents.ids import DecisionId
from corebandit.contracts.features import as_rows
from corebandit.contracts.state import FloatArray

ASK, TELL, OBSERVE, FORGET, EXPIRE, LATE, ADD, RETIRE, TURN_BACK = KINDS = (
    *("ask", "tell", "observe", "forget", "expire", "late", "add", "retire", "turn back"),
)


def as_given(features: Any, arms: Iterable[Hashable] | None) -> tuple[FloatArray | None, list[Hashable] | None]:
    """Return what was given to `ask` in a form that can be written down."""
    if isinstance(features, Mapping) and arms is None:
        arms, features = list(features), list(features.values())
    rows = None if features is None else as_rows(features)
    return rows, None if arms is None else list(arms)


def asked(
    decision_id: DecisionId, now: float, chosen: Any, features: FloatArray | None, arms: Iterable[Hashable] | None
) -> list[Any]:
    """Return a decision as a journal has it; what it was not given is left away."""
    event: list[Any] = [ASK, decision_id, now, chosen]
    if features is not None or arms is not None:
        event.append(None if features is None else array_to_json(features))
    if arms is not None:
        event.append([arm_to_json(arm) for arm in arms])
    return event


def from_journal(features: Any = None, arms: Any = None) -> list[Any]:
    """Return what `ask` was given, as the journal had it."""
    if arms is not None:
        arms = [arm_from_json(arm) for arm in arms]
    return [] if features is None and arms is None else [None if features is None else array_from_json(features), arms]
