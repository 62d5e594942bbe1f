"""Files that are whole or not there: written beside, made durable, then moved into place.

Whoever reads a path sees all of the old content or all of the new, whatever happens meanwhile: other savers of the same
path, `kill -9`, a power cut. `sealed` content carries a digest, so that damage done later shows too.
"""

import contextlib
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from corebandit.contracts.errors import CannotWrite, DamagedFile

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore

PART = ".part"
SEAL = b"corebandit sealed "
SEAL_SIZE = len(SEAL) + 64 + 1  # the words, a SHA-256 in hexadecimal, a newline


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Replace the content of a file, or make the file; it keeps its mode, and links stay links."""
    with writing_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def writing_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to write; it takes the place of the old one when the context is left without an error.

    Raises CannotWrite, an OSError too, with nothing changed, if the path is anything but a regular file or cannot be
    written.
    """
    target = Path(os.path.realpath(path))
    mode = _mode_to_keep(path, target)
    part, file = _new_part(path, target)
    try:
        with file:
            yield file
            file.flush()
            if mode is not None:
                os.chmod(part, mode)
            os.fsync(file.fileno())
            os.replace(part, target)
        _sync_folder(target.parent)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _cannot_write(path, error) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def remove_leftovers(folder: str | os.PathLike[str], name: str = "") -> None:
    """Remove the parts of files called `name`, or of any, that killed writers have left; leave those being written."""
    if fcntl is None:
        return
    for part in Path(folder).glob(f".{name or '*'}.*{PART}"):
        with contextlib.suppress(OSError), part.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # whoever writes it holds this
            part.unlink()


def sealed(content: bytes) -> bytes:
    """Return the content behind its digest."""
    return SEAL + hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def unsealed(content: bytes) -> bytes:
    """Return what was sealed, or raise DamagedFile."""
    body = content[SEAL_SIZE:]
    if content[:SEAL_SIZE] != sealed(body)[:SEAL_SIZE]:
        raise DamagedFile("its content does not fit its digest")
    return body


def _mode_to_keep(path: str | os.PathLike[str], target: Path) -> int | None:
    """Return the mode of the file that is there, or None; refuse what is no regular file."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _cannot_write(path, error) from error
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "a device, a pipe or a socket"
        raise CannotWrite(f"cannot write {os.fspath(path)}: it is {what}, not a file")
    return stat.S_IMODE(found.st_mode)


def _new_part(path: str | os.PathLike[str], target: Path) -> tuple[Path, IO[bytes]]:
    """Open a new file beside the target, locked, so that nobody takes it for a leftover."""
    while True:
        part = target.with_name(f".{target.name}.{secrets.token_hex(8)}{PART}")
        try:
            file = part.open("xb")
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            raise _cannot_write(path, error) from error
        if part.exists():  # else it was taken for a leftover before it was locked
            return part, file
        file.close()


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _cannot_write(path: str | os.PathLike[str], error: OSError) -> CannotWrite:
    return (
        error
        if isinstance(error, CannotWrite)
        else CannotWrite(f"cannot write {os.fspath(path)}: {error.strerror or error}")
    )
