"""What a store of agents can do. A file is one; a database server may be another.

Of every agent it keeps *events*, numbered from 1, and *snapshots*: all that makes the agent after so many events. The
agent is its last snapshot with the events after it done again.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol


class Snapshot(NamedTuple):
    """All that makes an agent after so many events, as text."""

    n_events: int
    content: str


class Store(Protocol):
    """What an open agent needs of where it is kept: agents have names, and one process writes them."""

    def agents(self) -> list[str]:
        """Return the names of all agents."""

    def snapshots(self, name: str) -> Iterator[Snapshot]:
        """Yield what was kept of an agent, the latest first; nothing if there is no such agent."""

    def events(self, name: str, after: int = 0) -> Iterator[tuple[int, str]]:
        """Yield the events of an agent after so many, with their numbers."""

    def write(self, name: str, number: int, event: str) -> None:
        """Take an event; it is kept once `sync` returns. Whoever calls this in order has it kept in this order."""

    def sync(self) -> None:
        """Return when all that was written before is on disk."""

    def keep(self, name: str, snapshot: Snapshot, event: str | None = None) -> None:
        """Keep a snapshot, whole or not at all, and drop those that are not needed any more.

        With it comes, if it is given, its last event, which was not written yet: both are kept or neither.
        """

    def trim(self, name: str) -> None:
        """Drop the events that no snapshot needs."""
