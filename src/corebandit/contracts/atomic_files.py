"""Files that are whole or not there: written beside, made durable, then moved into place.

Whoever reads a path sees all of the old content or all of the new, whatever happens meanwhile: other savers of the same
path, `kill -9`, a power cut. `sealed` content carries a digest, so that damage done later shows too.
"""

import contextlib
import glob
import hashlib
import json
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from corebandit.contracts.errors import CannotWrite, DamagedFile

PART = ".part"
LONGEST_NAME = 50  # of the target, in the name of a part: names have at most 255 bytes
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
            if sys.platform == "win32":  # which does not move open files, and has no lock to hold
                file.close()
            os.replace(part, target)
        _sync_folder(target.parent)
    except BaseException as error:
        part.unlink(missing_ok=True)
        # What is named by another path was not ours to write.
        if isinstance(error, OSError) and error.filename in (None, str(part)):
            raise _cannot_write(path, error) from error
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise CannotWrite if a file cannot be written, before there is anything to write."""
    target = Path(os.path.realpath(path))
    _mode_to_keep(path, target)
    part, file = _new_part(path, target)
    file.close()
    part.unlink()


def remove_leftovers(folder: str | os.PathLike[str], name: str = "") -> None:
    """Remove the parts of files called `name`, or of any, that killed writers have left; leave those being written."""
    if sys.platform == "win32":  # which has no such locks
        return
    for part in Path(folder).glob(f".{glob.escape(name[:LONGEST_NAME]) or '*'}.*{PART}"):
        with contextlib.suppress(OSError), part.open("rb") as file:
            _lock(file, wait=False)  # whoever writes it holds this
            part.unlink()


def make_folder(folder: Path) -> None:
    """Make a folder that can be written, and those above it, or raise CannotWrite."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"cannot write results to {folder}: {error.strerror}") from error
    if not os.access(folder, os.W_OK):
        raise CannotWrite(f"cannot write results to {folder}: the folder is not writable")


def sealed(content: bytes) -> bytes:
    """Return the content behind its digest."""
    return SEAL + digest_of(content).encode() + b"\n" + content


def unsealed(content: bytes) -> bytes:
    """Return what was sealed, or raise DamagedFile."""
    body = content[SEAL_SIZE:]
    if content[:SEAL_SIZE] != sealed(body)[:SEAL_SIZE]:
        raise DamagedFile("its content does not fit its digest")
    return body


def digest_of(content: bytes) -> str:
    """Return the digest of content: 64 characters that change with any bit of it."""
    return hashlib.sha256(content).hexdigest()


def json_with_digest(content: dict[str, Any], indent: int | None = None) -> str:
    """Return content as JSON, with a digest of itself as one more key."""
    return json.dumps({**content, "digest": _digest_of_json(content)}, indent=indent) + "\n"


def fits_its_digest(content: dict[str, Any]) -> bool:
    """Tell whether content that comes back from JSON is what was written, however it is spaced."""
    rest = {key: value for key, value in content.items() if key != "digest"}
    return bool(_digest_of_json(rest) == content.get("digest"))


def _digest_of_json(content: dict[str, Any]) -> str:
    return digest_of(json.dumps(content, sort_keys=True).encode())


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
        part = target.with_name(f".{target.name[:LONGEST_NAME]}.{secrets.token_hex(8)}{PART}")
        try:
            file = part.open("xb")
            _lock(file, wait=True)
        except OSError as error:
            raise _cannot_write(path, error) from error
        if part.exists():  # else it was taken for a leftover before it was locked
            return part, file
        file.close()


def _lock(file: IO[bytes], wait: bool) -> None:
    """Hold a file until it is closed, where the system can; without waiting, raise an OSError if another holds it."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


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
