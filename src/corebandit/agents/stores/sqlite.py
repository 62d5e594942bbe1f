"""Agents in an SQLite file: many in one, written by one process, read by any.

Threads that wait for the disk wait together: whoever comes first writes what all have queued, in one transaction. A
large snapshot is written in pieces, between which events are; it counts once its last piece is there.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corebandit.agents.stores.store import Snapshot
from corebandit.agents.stores.writer_lock import WriterLock
from corebandit.contracts.errors import BadInput, CannotWrite, DamagedFile
from corebandit.contracts.validate import check_choice, shortened

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE about (schema_version INTEGER NOT NULL);
CREATE TABLE events (
    agent TEXT NOT NULL, number INTEGER NOT NULL, event TEXT NOT NULL, PRIMARY KEY (agent, number)
) WITHOUT ROWID;
CREATE TABLE snapshots (agent TEXT NOT NULL, n_events INTEGER NOT NULL, PRIMARY KEY (agent, n_events)) WITHOUT ROWID;
CREATE TABLE pieces (
    agent TEXT NOT NULL, n_events INTEGER NOT NULL, piece INTEGER NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (agent, n_events, piece)
);
"""
MIGRATIONS: dict[int, str] = {}  # statements that lead from a version to the next
SYNCHRONOUS = {"full": "FULL", "normal": "NORMAL"}
PIECE = 256 * 1024  # characters
KEPT_SNAPSHOTS = 2  # the one before is there if the last cannot be read
TRIMMED_AT_ONCE = 2_000  # events


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
        check_choice("synchronous", synchronous, SYNCHRONOUS)
        self.path, self.synchronous = path, synchronous
        self._lock = WriterLock(path)
        try:
            self._connection = _connected(path, SYNCHRONOUS[synchronous])
            with self._errors():
                self._prepare()
        except BaseException:
            self._lock.release()
            raise
        self._names: set[str] = set()
        self._queue: list[tuple[str, int, str]] = []
        self._queueing, self._writing = threading.Lock(), threading.Lock()
        self._n_queued = self._n_written = 0
        self._failure: Exception | None = None
        self._is_abandoned = False

    @property
    def has_failed(self) -> bool:
        """Tell whether nothing can be written any more."""
        return self._failure is not None

    def hold(self) -> None:
        """Let nobody write, while the process forks."""
        self._writing.acquire()
        self._queueing.acquire()

    def let_go(self) -> None:
        """Let others write again."""
        self._queueing.release()
        self._writing.release()

    def _prepare(self) -> None:
        connection = self._connection
        found = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found == 0:
            connection.executescript(f"BEGIN; {SCHEMA} INSERT INTO about VALUES ({SCHEMA_VERSION}); COMMIT;")
        version = _schema_version(connection, self.path)
        while version < SCHEMA_VERSION:
            connection.executescript(
                f"BEGIN; {MIGRATIONS[version]} UPDATE about SET schema_version = {version + 1}; COMMIT;"
            )
            version += 1

    # Who is open --------------------------------------------------------------------------------------------------

    def claim(self, name: str) -> None:
        """Say that an agent is open here, or raise BadInput: it is open already."""
        with self._queueing:
            if name in self._names:
                raise BadInput(f"agent {shortened(name)} of {self.path} is open in this process already: share it")
            self._names.add(name)

    def release(self, name: str) -> None:
        """Say that it is open no longer."""
        with self._queueing:
            self._names.discard(name)

    @property
    def is_idle(self) -> bool:
        """Tell whether no agent is open."""
        return not self._names

    def close(self) -> None:
        """Close the file, when all that was written is on disk."""
        with contextlib.suppress(BadInput):
            self.sync()
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
        self._queueing, self._writing = threading.Lock(), threading.Lock()

    # Reading ------------------------------------------------------------------------------------------------------

    def snapshots(self, name: str) -> Iterator[Snapshot]:
        """Yield what was kept of an agent, the latest first; nothing if there is no such agent."""
        with self._errors(), self._writing:
            numbers = [row[0] for row in self._connection.execute(SNAPSHOTS, (name,))]
        for number in numbers:
            with self._errors(), self._writing:
                rows = self._connection.execute(PIECES, (name, number)).fetchall()
            yield Snapshot(number, "".join(row[0] for row in rows))

    def events(self, name: str, after: int = 0) -> Iterator[tuple[int, str]]:
        """Yield the events of an agent after so many, with their numbers."""
        while True:
            with self._errors(), self._writing:
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
                with self._errors():
                    self._connection.execute("BEGIN IMMEDIATE")
                    self._connection.executemany("INSERT INTO events VALUES (?, ?, ?)", queue)
                    self._connection.execute("COMMIT")
            except BaseException as error:
                # Memory is ahead of the disk now: nothing more may be acknowledged.
                self._failure = CannotWrite(
                    f"cannot write {self.path}: {error}; what nobody was told of is not kept, so open its agents again"
                )
                with contextlib.suppress(sqlite3.Error):
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                if not isinstance(error, Exception):
                    raise  # someone wants the process to stop
                raise self._failure from error
            self._n_written += len(queue)

    def keep(self, name: str, snapshot: Snapshot) -> None:
        """Keep a snapshot, whole or not at all, and drop all but the last two."""
        content, number = snapshot.content, snapshot.n_events
        for piece, start in enumerate(range(0, len(content), PIECE)):
            part = content[start : start + PIECE]
            self._execute(("INSERT OR REPLACE INTO pieces VALUES (?, ?, ?, ?)", (name, number, piece, part)))
        n_pieces = -(-len(content) // PIECE)
        self._execute(
            ("DELETE FROM pieces WHERE agent = ? AND n_events = ? AND piece >= ?", (name, number, n_pieces)),
            ("INSERT OR IGNORE INTO snapshots VALUES (?, ?)", (name, number)),
        )
        with self._errors(), self._writing:
            old = [row[0] for row in self._connection.execute(SNAPSHOTS, (name,))][KEPT_SNAPSHOTS:]
            unfinished = [row[0] for row in self._connection.execute(UNFINISHED, (name, number, name))]
        for past in old:
            self._execute(("DELETE FROM snapshots WHERE agent = ? AND n_events = ?", (name, past)))
        for past in [*old, *unfinished]:
            self._execute(("DELETE FROM pieces WHERE agent = ? AND n_events = ?", (name, past)))

    def trim(self, name: str) -> None:
        """Drop the events that no snapshot needs, some at a time."""
        with self._errors(), self._writing:
            oldest = [row[0] for row in self._connection.execute(SNAPSHOTS, (name,))][-1]
            first = self._connection.execute("SELECT min(number) FROM events WHERE agent = ?", (name,)).fetchone()[0]
        for start in range(first or 0, oldest + 1, TRIMMED_AT_ONCE):
            end = min(start + TRIMMED_AT_ONCE - 1, oldest)
            self._execute(("DELETE FROM events WHERE agent = ? AND number BETWEEN ? AND ?", (name, start, end)))

    def _execute(self, *statements: tuple[str, tuple[Any, ...]]) -> None:
        """Carry out statements, all or none; others may write before and after."""
        with self._writing, self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for statement, values in statements:
                    self._connection.execute(statement, values)
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _errors(self) -> "_Errors":
        return _Errors(self.path)


SNAPSHOTS = "SELECT n_events FROM snapshots WHERE agent = ? ORDER BY n_events DESC"
PIECES = "SELECT content FROM pieces WHERE agent = ? AND n_events = ? ORDER BY piece"
EVENTS = "SELECT number, event FROM events WHERE agent = ? AND number > ? ORDER BY number LIMIT 10000"
UNFINISHED = (
    "SELECT DISTINCT n_events FROM pieces WHERE agent = ? AND n_events < ? "
    "EXCEPT SELECT n_events FROM snapshots WHERE agent = ?"
)


class _Errors:
    """Turns what SQLite says into sentences."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Say what was wrong with which file."""
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            raise DamagedFile(f"{self.path} is not a file of agents, or damaged: {error}") from error
        if isinstance(error, sqlite3.Error):
            raise CannotWrite(f"cannot use {self.path}: {error}") from error


def events_in(path: Path, name: str) -> Iterator[tuple[int, str]]:
    """Yield the events of an agent in a file that is only read; whoever writes it is not disturbed."""
    if not path.is_file():
        raise BadInput(f"there is no file {path}")
    with _Errors(path):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        after = 0
        with _Errors(path):
            _schema_version(connection, path)
            names = [row[0] for row in connection.execute("SELECT DISTINCT agent FROM snapshots ORDER BY agent")]
            if name not in names:
                known = ", ".join(map(shortened, names)) or "none"
                raise BadInput(f"there is no agent {shortened(name)} in {path}; there are {known}")
            while rows := connection.execute(EVENTS, (name, after)).fetchall():
                yield from rows
                after = rows[-1][0]
    finally:
        connection.close()


def _connected(path: Path, synchronous: str) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path, timeout=10.0, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise CannotWrite(f"cannot open {path}: {error}") from error
    with _Errors(path):
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise CannotWrite(
                f"cannot use {path}: its file system has no write-ahead log, so readers would block writers"
            )
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        for pragma in ("fullfsync", "checkpoint_fullfsync"):  # without which macOS does not flush the drive
            connection.execute(f"PRAGMA {pragma} = 1")
    return connection


def _schema_version(connection: sqlite3.Connection, path: Path) -> int:
    try:
        version = connection.execute("SELECT schema_version FROM about").fetchone()[0]
    except TypeError as error:
        raise DamagedFile(f"{path} is no file of agents") from error
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            raise DamagedFile(f"{path} is no file of agents") from error
        raise
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise DamagedFile(f"{path} has schema {shortened(version)}; this version reads schemas up to {SCHEMA_VERSION}")
    return version
