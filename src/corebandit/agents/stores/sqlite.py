"""Agents in an SQLite file: many in one, written by one process, read by any.

Threads that wait for the disk wait together: whoever comes first writes what all have queued, in one transaction. A
large snapshot is written in pieces, between which events are; it counts once its last piece is there.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from corebandit.agents.stores.checkpoints import Checkpoints
from corebandit.agents.stores.sqlite_file import (
    AGENTS,
    EVENTS,
    MIGRATIONS,
    SCHEMA,
    SCHEMA_VERSION,
    SYNCHRONOUS,
    Sentences,
    connected,
    schema_version,
)
from corebandit.agents.stores.store import Snapshot
from corebandit.agents.stores.writer_lock import WriterLock
from corebandit.contracts.errors import BadInput, CannotWrite
from corebandit.contracts.validate import shortened

PIECE = 64 * 1024  # characters
KEPT_SNAPSHOTS = 2  # the one before is there if the last cannot be read
DROPPED_AT_ONCE = 16  # pieces
TRIMMED_AT_ONCE = 500  # events
PAUSE = 0.001  # seconds between two writes that nobody waits for, so that others come in between


class SqliteStore:
    """A file of agents.

    Parameters
    ----------
    path
        The file; it is made if there is none.
    synchronous
        "full": what is acknowledged survives that the power fails; "normal": that the process is killed.
    """

    def __init__(self, path: Path, synchronous: str = "full") -> None:
        self.path, self.synchronous = path, synchronous
        self._sentences = Sentences(path)
        self._lock = WriterLock(path)
        connect = partial(connected, path, SYNCHRONOUS[synchronous])
        try:
            self._connection = connect()
            with self._sentences:
                self._prepare()
        except BaseException:
            self._lock.release()
            raise
        self._names: set[str] = set()
        self._queue: list[tuple[str, int, str]] = []
        self._queueing, self._writing = threading.Lock(), threading.RLock()
        self._checkpoints = Checkpoints(connect, self._writing)
        self._n_queued = self._n_written = 0
        self._failure: Exception | None = None
        self._is_abandoned = False

    @property
    def has_failed(self) -> bool:
        """Tell whether nothing can be written any more."""
        return self._failure is not None

    def hold(self) -> None:
        """Let nobody write, while the process forks."""
        self._checkpoints.copying.acquire()
        self._writing.acquire()
        self._queueing.acquire()

    def let_go(self) -> None:
        """Let others write again."""
        self._queueing.release()
        self._writing.release()
        self._checkpoints.copying.release()

    def _prepare(self) -> None:
        connection = self._connection
        found = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found == 0:
            connection.executescript(f"BEGIN; {SCHEMA} INSERT INTO about VALUES ({SCHEMA_VERSION}); COMMIT;")
        version = schema_version(connection, self.path)
        while version < SCHEMA_VERSION:
            connection.executescript(
                f"BEGIN; {MIGRATIONS[version]} UPDATE about SET schema_version = {version + 1}; COMMIT;"
            )
            version += 1

    # Who is open --------------------------------------------------------------------------------------------------

    def claim(self, name: str) -> None:
        """Say that an agent is open here, or raise BadInput: it is open already."""
        if name in self._names:
            raise BadInput(f"agent {shortened(name)} of {self.path} is open in this process already: share it")
        self._names.add(name)

    def release(self, name: str) -> None:
        """Say that it is open no longer."""
        self._names.discard(name)

    @property
    def is_idle(self) -> bool:
        """Tell whether no agent is open."""
        return not self._names

    def close(self) -> None:
        """Close the file, when all that was written is on disk."""
        with contextlib.suppress(BadInput):
            self.sync()
        if not self._is_abandoned:
            self._checkpoints.wait()
        with self._writing:
            self._failure = self._failure or CannotWrite(f"{self.path} was closed")
            if not self._is_abandoned:  # else the connection is another process's
                self._connection.close()
            self._lock.release()

    def abandon(self) -> None:
        """Let go of it in a forked process, to which it does not belong."""
        self._lock.release()
        self._is_abandoned = True
        self._failure = BadInput(
            f"this process was forked from the one that writes {self.path}: let that one decide, or open another file"
        )
        self._queueing, self._writing = threading.Lock(), threading.RLock()

    # Reading ------------------------------------------------------------------------------------------------------

    def agents(self) -> list[str]:
        """Return the names of all agents."""
        with self._sentences, self._writing:
            return [row[0] for row in self._connection.execute(AGENTS)]

    def snapshots(self, name: str) -> Iterator[Snapshot]:
        """Yield what was kept of an agent, the latest first; nothing if there is no such agent."""
        with self._sentences, self._writing:
            numbers = [row[0] for row in self._connection.execute(SNAPSHOTS, (name,))]
        for number in numbers:
            with self._sentences, self._writing:
                rows = self._connection.execute(PIECES, (name, number)).fetchall()
            yield Snapshot(number, "".join(row[0] for row in rows))

    def events(self, name: str, after: int = 0) -> Iterator[tuple[int, str]]:
        """Yield the events of an agent after so many, with their numbers."""
        while True:
            with self._sentences, self._writing:
                rows = self._connection.execute(EVENTS, (name, after)).fetchall()
            if not rows:
                return
            yield from rows
            after = rows[-1][0]

    # Writing ------------------------------------------------------------------------------------------------------

    def write(self, name: str, number: int, event: str) -> None:
        """Take an event; it is kept once `sync` returns."""
        with self._queueing:
            self._queue.append((name, number, event))
            self._n_queued += 1

    def sync(self) -> None:
        """Return when all that was written before is on disk."""
        wanted = self._n_queued
        if self._n_written >= wanted:
            return
        with self._writing:
            if self._n_written >= wanted:  # someone else has written it meanwhile
                return
            if self._failure is not None:
                raise self._failure
            try:
                with self._queueing:
                    queue, self._queue = self._queue, []
                with self._sentences:
                    self._connection.execute("BEGIN IMMEDIATE")
                    self._connection.executemany("INSERT INTO events VALUES (?, ?, ?)", queue)
                    self._connection.execute("COMMIT")
                self._n_written += len(queue)
            except BaseException as error:
                # Memory is ahead of the disk now: nothing more may be acknowledged.
                self._failure = CannotWrite(
                    f"cannot write {self.path}: {error}; what nobody was told of is not kept, so open its agents again"
                )
                self._roll_back()
                if not isinstance(error, Exception):
                    raise  # someone wants the process to stop
                raise self._failure from error
            self._checkpoints.count(sum(len(event) for _, _, event in queue))

    def keep(self, name: str, snapshot: Snapshot, event: str | None = None) -> None:
        """Keep a snapshot, whole or not at all, with its last event if that is given, and drop all but the last two."""
        content, number = snapshot.content, snapshot.n_events
        for piece, start in enumerate(range(0, len(content), PIECE)):
            part = content[start : start + PIECE]
            self._execute(("INSERT OR REPLACE INTO pieces VALUES (?, ?, ?, ?)", (name, number, piece, part)))
        n_pieces = -(-len(content) // PIECE)
        self._execute(
            ("DELETE FROM pieces WHERE agent = ? AND n_events = ? AND piece >= ?", (name, number, n_pieces)),
            ("INSERT OR IGNORE INTO snapshots VALUES (?, ?)", (name, number)),
            *([] if event is None else [("INSERT INTO events VALUES (?, ?, ?)", (name, number, event))]),
        )
        with self._sentences, self._writing:
            old = [row[0] for row in self._connection.execute(SNAPSHOTS, (name,))][KEPT_SNAPSHOTS:]
            unfinished = [row[0] for row in self._connection.execute(UNFINISHED, (name, number, name))]
        for past in old:
            self._execute(("DELETE FROM snapshots WHERE agent = ? AND n_events = ?", (name, past)))
        for past in [*old, *unfinished]:
            self._drop_pieces(name, past)

    def _drop_pieces(self, name: str, n_events: int) -> None:
        """Drop a snapshot that does not count any more, some pieces at a time."""
        last = "SELECT max(piece) FROM pieces WHERE agent = ? AND n_events = ?"
        with self._sentences, self._writing:
            n_pieces = 1 + (self._connection.execute(last, (name, n_events)).fetchone()[0] or 0)
        for end in range(n_pieces - n_pieces % DROPPED_AT_ONCE, -1, -DROPPED_AT_ONCE):
            dropped = "DELETE FROM pieces WHERE agent = ? AND n_events = ? AND piece >= ?"
            self._execute((dropped, (name, n_events, end)))

    def trim(self, name: str) -> None:
        """Drop the events that no snapshot needs, some at a time."""
        with self._sentences, self._writing:
            oldest = [row[0] for row in self._connection.execute(SNAPSHOTS, (name,))][-1]
            first = self._connection.execute("SELECT min(number) FROM events WHERE agent = ?", (name,)).fetchone()[0]
        for start in range(first or 0, oldest + 1, TRIMMED_AT_ONCE):
            end = min(start + TRIMMED_AT_ONCE - 1, oldest)
            self._execute(("DELETE FROM events WHERE agent = ? AND number BETWEEN ? AND ?", (name, start, end)))

    def _execute(self, *statements: tuple[str, tuple[Any, ...]]) -> None:
        """Carry out statements, all or none; others may write before and after."""
        with self._writing, self._sentences:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                for statement, values in statements:
                    self._connection.execute(statement, values)
                self._connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            self._checkpoints.count(PIECE)
        time.sleep(PAUSE)

    def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


SNAPSHOTS = "SELECT n_events FROM snapshots WHERE agent = ? ORDER BY n_events DESC"
PIECES = "SELECT content FROM pieces WHERE agent = ? AND n_events = ? ORDER BY piece"
UNFINISHED = (
    "SELECT DISTINCT n_events FROM pieces WHERE agent = ? AND n_events < ? "
    "EXCEPT SELECT n_events FROM snapshots WHERE agent = ?"
)
