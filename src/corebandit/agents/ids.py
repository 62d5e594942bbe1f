"""Names of decisions that never name another one: across restarts, forks, replicas and copies of a file.

An id is the name of a session, drawn from the operating system, and a number that counts up in it: `"k5x...a-17"`.
A session ends with the process, or is left behind by whoever loads what was saved: from then on ids are of another.
"""

import base64
import secrets
from numbers import Integral
from typing import Any

from corebandit.contracts.audit import demand
from corebandit.contracts.validate import check_count

DecisionId = str | int  # numbers are ids that versions before 0.5 gave
MOST_SESSIONS = 10_000  # that are remembered
GIVEN, LOST, UNKNOWN = "given", "lost", "unknown"


class Ids:
    """Gives ids, and tells of any whether it was given here.

    >>> ids = Ids()
    >>> first, second = ids.new(), ids.new()
    >>> first.endswith("-0"), second.endswith("-1"), first == second
    (True, True, False)
    >>> ids.what_became_of(first), ids.what_became_of("elsewhere-3")
    ('given', 'unknown')
    """

    def __init__(self) -> None:
        self.n_numbers = 0  # ids of earlier versions: 0, 1, ... below it
        self.sessions: dict[str, int] = {}  # how many ids each gave, as far as is known here
        self._session: str | None = None
        self._prefix, self._count = "", 0

    def new(self) -> str:
        """Return an id that nobody has."""
        if self._session is None:
            self._session = base64.b32encode(secrets.token_bytes(10)).decode().lower()
            self._prefix, self._count = f"{self._session}-", 0
        count = self._count
        self._count = count + 1
        return f"{self._prefix}{count}"

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
        while len(self.sessions) > MOST_SESSIONS:
            del self.sessions[next(iter(self.sessions))]

    def note_id(self, decision_id: str) -> None:
        """Remember an id that was given before, as a journal tells."""
        session, _, number = decision_id.rpartition("-")
        self.note(session, int(number) + 1)

    def what_became_of(self, decision_id: Any) -> str:
        """Tell whether an id was given here, was lost after what was saved, or is not of this agent."""
        if isinstance(decision_id, Integral) and not isinstance(decision_id, bool):
            return GIVEN if 0 <= int(decision_id) < self.n_numbers else UNKNOWN
        session, _, number = decision_id.rpartition("-") if isinstance(decision_id, str) else ("", "", "")
        if not (number.isascii() and number.isdigit() and str(int(number)) == number):
            return UNKNOWN
        if session == self._session:
            return GIVEN if int(number) < self._count else UNKNOWN
        if session not in self.sessions:
            return UNKNOWN
        return GIVEN if int(number) < self.sessions[session] else LOST

    def content(self) -> dict[str, Any]:
        """Return what there is, ready for JSON."""
        sessions = dict(self.sessions)
        if self._session is not None:
            sessions[self._session] = self._count
        return {"n_numbers": self.n_numbers, "sessions": sessions}

    def restore(self, content: dict[str, Any]) -> None:
        """Go on after what was saved, in a session of its own."""
        n_numbers = check_count("n_numbers", content["n_numbers"], at_least=0)
        sessions = content["sessions"]
        demand(isinstance(sessions, dict), "sessions must be a table of counts")
        counts = {session: check_count("sessions", count, at_least=0) for session, count in sessions.items()}
        self.n_numbers, self.sessions, self._session = n_numbers, counts, None
