"""When SQLite's log is long, its pages go into the file in a thread of their own: nobody who decides waits for that.

SQLite itself does it within a commit, as soon as the log has a thousand pages, and syncs the disk twice: whoever asked
just then waited. Here a second connection does it while the first goes on writing. Only where that is written faster
than it is copied, so that the log would never begin anew, writers wait in the end, for the last few pages.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Callable
from typing import Any

PAGE = 4096  # bytes
PAGES = 1_000  # after which the log is copied into the file
MOST_PAGES = 2_000  # of a log from which on writers wait: a file that does not grow is synced in half the time


class Checkpoints:
    """Copies the log of a file when enough was written.

    Parameters
    ----------
    connect
        Makes a connection to the file.
    writing
        The lock of whoever writes.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], writing: Any) -> None:
        self.copying = threading.RLock()  # held meanwhile
        self._connect, self._writing = connect, writing
        self._n_pages = 0  # about, since the last time
        self._thread: threading.Thread | None = None

    def count(self, n_characters: int) -> None:
        """Count what was written in one commit, and begin to copy if that is enough; `writing` is held."""
        self._n_pages += 2 + n_characters // PAGE
        if self._n_pages >= PAGES and (self._thread is None or not self._thread.is_alive()):
            self._n_pages = 0
            self._thread = threading.Thread(target=self._copy, daemon=True)
            with contextlib.suppress(RuntimeError):  # there can be no more threads: another time
                self._thread.start()

    def _copy(self) -> None:
        # What cannot be copied now, on a full disk say, stays in the log, where nothing is lost.
        with self.copying, contextlib.suppress(sqlite3.Error), contextlib.closing(self._connect()) as connection:
            if _pages_after_copying(connection) > MOST_PAGES:
                with self._writing:
                    _pages_after_copying(connection)

    def wait(self) -> None:
        """Return when nothing is being copied."""
        if self._thread is not None and self._thread.ident and self._thread is not threading.current_thread():
            self._thread.join()


def _pages_after_copying(connection: sqlite3.Connection) -> int:
    """Copy what can be without anybody waiting, and return how many pages the log has had since it began anew."""
    _, n_pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return int(n_pages)
