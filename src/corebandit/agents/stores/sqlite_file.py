"""A file of SQLite that holds agents: its tables, connections to it, and what it says in sentences."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corebandit.contracts.errors import BadInput, CannotWrite, DamagedFile
from corebandit.contracts.validate import shortened

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
LARGEST_LOG = 16 << 20  # bytes that a log which begins anew keeps
AGENTS = "SELECT DISTINCT agent FROM snapshots ORDER BY agent"
EVENTS = "SELECT number, event FROM events WHERE agent = ? AND number > ? ORDER BY number LIMIT 1000"


class Sentences:
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
    with Sentences(path):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        after = 0
        with Sentences(path):
            schema_version(connection, path)
            names = [row[0] for row in connection.execute(AGENTS)]
            if name not in names:
                known = ", ".join(map(shortened, names)) or "none"
                raise BadInput(f"there is no agent {shortened(name)} in {path}; there are {known}")
            while rows := connection.execute(EVENTS, (name, after)).fetchall():
                yield from rows
                after = rows[-1][0]
    finally:
        connection.close()


def connected(path: Path, synchronous: str) -> sqlite3.Connection:
    """Return a connection that writes."""
    try:
        connection = sqlite3.connect(path, timeout=10.0, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise CannotWrite(f"cannot open {path}: {error}") from error
    with Sentences(path):
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise CannotWrite(
                f"cannot use {path}: its file system has no write-ahead log, so readers would block writers"
            )
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # Checkpoints does it
        connection.execute(f"PRAGMA journal_size_limit = {LARGEST_LOG}")
        for pragma in ("fullfsync", "checkpoint_fullfsync"):  # without which macOS does not flush the drive
            connection.execute(f"PRAGMA {pragma} = 1")
    return connection


def schema_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of a file's tables, or raise a DamagedFile if they are none that this version reads."""
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
