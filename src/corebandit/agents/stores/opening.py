"""From an address to a store: agents of a process that are in one file share it."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

from corebandit.agents.stores.sqlite import SqliteStore, events_in
from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import shortened

PREFIX = "sqlite:///"
_stores: dict[Path, SqliteStore] = {}
_opening = threading.Lock()


def path_of(url: str) -> Path:
    """Return the file that an address such as "sqlite:///shop.db" names; one more slash begins an absolute path."""
    if not isinstance(url, str) or not url.startswith(PREFIX) or url == PREFIX:
        raise BadInput(
            f"url must be such as 'sqlite:///shop.db', or 'sqlite:////var/shop.db' from the root, not {shortened(url)}"
        )
    return Path(url.removeprefix(PREFIX))


def open_store(url: str, name: str, synchronous: str) -> SqliteStore:
    """Return the store at an address, where an agent of this name is now open."""
    path = path_of(url).resolve()
    if not isinstance(name, str) or not name:
        raise BadInput(f"name must be a string that is not empty, not {shortened(name)}")
    with _opening:
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


def shut_store(store: SqliteStore, name: str) -> None:
    """Say that an agent is open no longer; the last one closes the file."""
    with _opening:
        try:
            store.release(name)
        finally:
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
    _opening = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_abandon)
