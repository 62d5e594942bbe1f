"""One writing process for a file: a lock that the operating system takes back whatever becomes of the process."""

import os
import sys
from pathlib import Path

from corebandit.contracts.errors import BadInput, CannotWrite

FAR = 1 << 30


class WriterLock:
    """Held from its making until `release`, or until the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}.writer")
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise CannotWrite(f"cannot write {path}, nor {self._path.name} beside it: {error.strerror}") from error
        self._file: int | None = file
        if not _is_locked(file):
            holder = os.read(file, 32).decode("ascii", "replace").strip() or "another"
            self.release()
            raise BadInput(
                f"{path} is written by process {holder} already: one process writes a file of agents, and others may "
                "read it; let that one decide for all, or give each a file of its own"
            )
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let others write; a number of a file that was closed may be another's."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


def _is_locked(file: int) -> bool:
    """Lock an open file, and tell whether that was possible."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, FAR, os.SEEK_SET)  # a locked byte cannot be read, and the first ones say who holds it
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            os.lseek(file, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
