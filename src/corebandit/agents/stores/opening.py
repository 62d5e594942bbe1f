"""From an address to a store: agents of a process that are in one file share it."""

import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from corebandit.agents.forks import Care, after_agents
from corebandit.agents.stores.sqlite import SqliteStore
from corebandit.agents.stores.sqlite_file import SYNCHRONOUS, events_in
from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import check_choice, shortened

PREFIX = "sqlite:///"
LONGEST_NAME, LONGEST_PATH = 200, 4_000  # characters; every event has the name beside it
_stores: dict[Path, SqliteStore] = {}
_opening = threading.Lock()
_dropped: deque[tuple[SqliteStore, str]] = deque()  # agents that nobody closed and nobody holds any more


def path_of(url: str) -> Path:
    """Return the file that an address such as "sqlite:///shop.db" names; one more slash begins an absolute path."""
    if not isinstance(url, str) or not url.startswith(PREFIX) or url == PREFIX or not _is_text(url):
        raise BadInput(
            f"url must be such as 'sqlite:///shop.db', or 'sqlite:////var/shop.db' from the root, not {shortened(url)}"
        )
    path = url.removeprefix(PREFIX)
    if path == ":memory:" or "?" in path:
        raise BadInput(
            f"url must name a file, without options, not {shortened(url)}; an agent that lives in memory is Agent(...)"
        )
    if len(path) > LONGEST_PATH:
        raise BadInput(f"url must name a file in at most {LONGEST_PATH} characters, not {shortened(url)}")
    return Path(path)


def _is_text(given: str) -> bool:
    """Tell whether files and their names can hold this: no zeros, no halves of characters."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in given


def open_store(url: str, name: str, synchronous: str, is_new_fine: bool) -> SqliteStore:
    """Return the store at an address, which may have to be made, where an agent of this name is now open."""
    path = path_of(url).resolve()
    if not isinstance(name, str) or not name:
        raise BadInput(f"name must be a string that is not empty, not {shortened(name)}")
    if len(name) > LONGEST_NAME or not _is_text(name):
        raise BadInput(
            f"name must be text that can be written, of at most {LONGEST_NAME} characters, not {shortened(name)}"
        )
    check_choice("synchronous", synchronous, SYNCHRONOUS)
    if not is_new_fine and not path.exists():
        raise BadInput(f"policy must be given: there is no file {path} yet")
    with _opening:
        _shut_dropped()
        if (store := _stores.get(path)) is not None and store.has_failed:
            raise BadInput(
                f"{path} could not be written: close all its agents of this process first, then open them again"
            )
        if store is not None:
            if store.synchronous != synchronous:
                raise BadInput(
                    f"synchronous must be {store.synchronous!r}, as for the other agents of {path}, not {synchronous!r}"
                )
        else:
            store = _stores[path] = SqliteStore(path, synchronous)
        try:
            store.claim(name)
        except BadInput:
            _close_if_idle(store)
            raise
        return store


def shut_store(store: SqliteStore, name: str, waits: bool = True) -> None:
    """Say that an agent is open no longer; the last one closes the file.

    For an agent that nobody holds any more Python may call this in the middle of anything, also of opening another one:
    then it must not wait, and whoever opens next does it.
    """
    _dropped.append((store, name))
    if _opening.acquire(blocking=waits):
        try:
            _shut_dropped()
        finally:
            _opening.release()


def _shut_dropped() -> None:
    while _dropped:
        store, name = _dropped.popleft()
        store.release(name)
        _close_if_idle(store)


def _close_if_idle(store: SqliteStore) -> None:
    if store.is_idle:
        if _stores.get(store.path) is store:
            del _stores[store.path]
        store.close()


def events_of(url: str, name: str) -> Iterator[tuple[int, str]]:
    """Yield the events of an agent, which another process may be writing."""
    return events_in(path_of(url), name)


def _hold() -> None:
    _opening.acquire()
    for store in _stores.values():
        store.hold()


def _let_go() -> None:
    for store in _stores.values():
        store.let_go()
    _opening.release()


def _abandon() -> None:
    """Leave all stores to the parent, in a forked process."""
    global _opening
    for store in _stores.values():
        store.abandon()
    _stores.clear()
    _dropped.clear()
    _opening = threading.Lock()


after_agents(Care(_hold, _let_go, _abandon))
