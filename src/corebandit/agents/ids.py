"""Names of decisions that never name another one: across restarts, forks, replicas and copies of a file.

An id is `"FAMILY-SESSION-17"`: the family is an agent and all that were ever loaded or copied from it; a session is
drawn from the operating system in each process anew, and left behind by whoever loads what was saved; a number counts
up in it. So an id of the family whose session is not known here was given after what was loaded had been saved.
"""

import base64
import secrets
from collections.abc import Iterable
from numbers import Integral
from typing import Any

from corebandit.contracts.errors import demand
from corebandit.contracts.validate import check_count, shortened

DecisionId = str | int  # numbers are ids that versions before 0.5 gave
MOST_SESSIONS = 10_000  # that are saved, besides those whose decisions wait
MOST_DIGITS = 20  # of a count
GIVEN, LOST, UNKNOWN = "given", "lost", "unknown"


class Ids:
    """Gives ids, and tells of any whether it was given here.

    >>> ids = Ids()
    >>> first, second = ids.new(), ids.new()
    >>> first.endswith("-0"), second.endswith("-1")
    (True, True)
    >>> ids.what_became_of(first), ids.what_became_of("elsewhere-3")
    ('given', 'unknown')
    """

    def __init__(self) -> None:
        self.family = _drawn(5)
        self.n_numbers = 0  # ids of earlier versions: 0, 1, ... below it
        self.sessions: dict[str, int] = {}  # how many ids each gave, as far as is known here
        self._session: str | None = None
        self._prefix, self._count = "", 0

    def new(self) -> str:
        """Return an id that nobody has."""
        if self._session is None:
            self._session, self._count = _drawn(10), 0
            self._prefix = f"{self.family}-{self._session}-"
        count = self._count
        self._count = count + 1
        return f"{self._prefix}{count}"

    def new_many(self, n: int) -> list[str]:
        """Return so many ids that nobody has."""
        if n == 0:
            return []
        first = self.new()
        prefix, start = self._prefix, self._count
        self._count = start + n - 1
        return [first, *[f"{prefix}{count}" for count in range(start, start + n - 1)]]

    @property
    def n_given(self) -> int:
        """Return how many ids were given, as far as is known here."""
        return self.n_numbers + sum(self.sessions.values()) + (0 if self._session is None else self._count)

    def leave_session(self) -> None:
        """Give no more ids of this session: someone else may go on with it."""
        if self._session is not None:
            self.note(self._session, self._count)
            self._session = None

    def note(self, session: str, count: int) -> None:
        """Remember that a session gave so many ids."""
        self.sessions[session] = max(count, self.sessions.get(session, 0))

    def note_id(self, decision_id: str) -> None:
        """Remember an id that was given before, as a journal tells."""
        family, session, count = _parts(decision_id)
        demand(family == self.family, f"ids must be of the family {self.family}, not {shortened(decision_id)}")
        self.note(session, count + 1)

    def what_became_of(self, decision_id: Any) -> str:
        """Tell whether an id was given here, was lost after what was saved, or is not of this agent."""
        if isinstance(decision_id, Integral) and not isinstance(decision_id, bool):
            return GIVEN if 0 <= int(decision_id) < self.n_numbers else UNKNOWN
        family, session, count = _parts(decision_id)
        if family != self.family:
            return UNKNOWN
        if session == self._session:
            return GIVEN if count < self._count else UNKNOWN
        return GIVEN if count < self.sessions.get(session, 0) else LOST

    def content(self, in_use: Iterable[DecisionId] = ()) -> dict[str, Any]:
        """Return what there is, ready for JSON; of sessions without ids in use only the last are kept."""
        sessions = dict(self.sessions)
        if self._session is not None:
            sessions[self._session] = self._count
        if len(sessions) > MOST_SESSIONS:
            needed = {_parts(decision_id)[1] for decision_id in in_use}
            spare = [session for session in sessions if session not in needed]
            for session in spare[: len(sessions) - MOST_SESSIONS]:
                del sessions[session]
        return {"family": self.family, "n_numbers": self.n_numbers, "sessions": sessions}

    def restore(self, content: dict[str, Any]) -> None:
        """Go on after what was saved, in a session of its own."""
        n_numbers = check_count("n_numbers", content["n_numbers"], at_least=0)
        family, sessions = content["family"], content["sessions"]
        demand(family is None or _is_drawn(family), f"family must be of letters and digits, not {shortened(family)}")
        demand(isinstance(sessions, dict) and all(map(_is_drawn, sessions)), "sessions must be a table of counts")
        counts = {session: check_count("sessions", count, at_least=0) for session, count in sessions.items()}
        self.family = self.family if family is None else family  # versions before 0.5 had none
        self.n_numbers, self.sessions, self._session = n_numbers, counts, None


def _drawn(n_bytes: int) -> str:
    return base64.b32encode(secrets.token_bytes(n_bytes)).decode().lower()


def _is_drawn(name: Any) -> bool:
    return isinstance(name, str) and name.isascii() and name.isalnum()


def _parts(decision_id: Any) -> tuple[str, str, int]:
    """Return family, session and number of an id; of what is none, a family that nobody has."""
    family, session, number = decision_id.split("-") if _has_three_parts(decision_id) else ("", "", "")
    is_number = number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS and str(int(number)) == number
    return (family, session, int(number)) if is_number and _is_drawn(session) else ("", "", 0)


def _has_three_parts(decision_id: Any) -> bool:
    return isinstance(decision_id, str) and decision_id.count("-") == 2
