"""Keep machine code on disk, so that it is compiled once, and never run when it is old.

* The folder carries a fingerprint of the package's sources. Numba looks only at the file of the function it compiled,
  so without this an edited policy would go on running its old machine code.
* Each signature has a file of its own. Numba numbers them in an index, which two processes that write at once can mix
  up: one then runs the machine code of the other's types.
"""

import contextlib
import hashlib
import os
import re
import shutil
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from numba.core import caching

PACKAGE = Path(__file__).parent
UNUSED_AFTER = 30 * 24 * 3600  # seconds; then the machine code of other sources is removed
PRESENTATION = ("cli", "paper", "publish.py", "report", "studies")  # the top layers: no number comes from here

config: Any = numba.config  # numba fills it at run time, unseen by type checkers
host: Any = llvmlite.binding
IndexedFiles: Any = caching.IndexDataCacheFile


@cache
def fingerprint() -> str:
    """Identify the sources and libraries that decide what the numbers are."""
    digest = hashlib.sha256()
    for source in sorted(PACKAGE.rglob("*.py")):
        if source.relative_to(PACKAGE).parts[0] in PRESENTATION:
            continue
        digest.update(str(source.relative_to(PACKAGE)).encode() + source.read_bytes())
    # Sums may be added up in another order on another processor, and are not in plain Python.
    built = (numba.__version__, np.__version__, config.DISABLE_JIT, host.get_host_cpu_name())
    digest.update(f"{sys.version_info[:2]} {built}".encode())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Return the folder for machine code of exactly these sources (a bounds-checked build has its own)."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        root = Path(chosen)
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    checked = "-boundscheck" if config.BOUNDSCHECK else ""
    return root / "corebandit" / f"{fingerprint()}{checked}"


def keep_on_disk(dispatcher: Any) -> None:
    """Cache `dispatcher` in our folder; where none can be written, leave it to compile in every process."""
    if config.DISABLE_JIT:
        return
    try:
        folder = cache_directory()
    except RuntimeError:  # there is no home
        return
    if not _can_be_used(folder):
        return
    # Numba reads this setting only while caching is being enabled: set it for that moment, for our functions alone.
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        dispatcher.enable_caching()
    finally:
        config.CACHE_DIR = before
    dispatcher._cache._cache_file = SignatureFiles.instead_of(dispatcher._cache._cache_file)


@cache
def _can_be_used(folder: Path) -> bool:
    """Make the folder if need be, and mark it as used. With a new one, those that nobody uses any more are removed."""
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:
        return False
    if is_new:
        for other in folder.parent.iterdir():
            if re.fullmatch(r"[0-9a-f]{16}(-boundscheck)?", other.name) and _age(other) > UNUSED_AFTER:
                shutil.rmtree(other, ignore_errors=True)
    return os.access(folder, os.W_OK)


def _age(folder: Path) -> float:
    """Return the seconds since a folder was last marked as used; none if another process has just removed it."""
    try:
        return time.time() - folder.stat().st_mtime
    except OSError:
        return 0.0


def is_missing(dispatcher: Any, signature: tuple[Any, ...]) -> bool:
    """Tell whether machine code of `dispatcher` for arguments of these types could be on disk, but is not."""
    kept: Any = dispatcher._cache
    files = getattr(kept, "_cache_file", None)  # None: nothing can be kept
    return files is not None and not files.has(kept._index_key(signature, dispatcher.targetctx.codegen()))


class SignatureFiles(IndexedFiles):
    """The machine code of one function: a file for each signature, named after it, written whole or not at all."""

    @classmethod
    def instead_of(cls, files: Any) -> "SignatureFiles":
        """Return a replacement of numba's own files, in the same folder."""
        base = files._index_name.removesuffix(".nbi")
        return cls(files._cache_path, base, files._source_stamp)

    def _file(self, key: Any) -> str:
        named = f"{self._version} {self._source_stamp} {key}"
        return str(self._data_name(int(hashlib.sha256(named.encode()).hexdigest()[:16], 16)))

    def has(self, key: Any) -> bool:
        """Tell whether there is machine code for this key."""
        return Path(self._data_path(self._file(key))).exists()

    def save(self, key: Any, data: Any) -> None:
        """Write the machine code of a signature."""
        with contextlib.suppress(OSError):  # no room: then it is compiled in every process
            self._save_data(self._file(key), (key, data))

    def load(self, key: Any) -> Any:
        """Return the machine code of a signature, or None if there is none."""
        try:
            kept_key, data = self._load_data(self._file(key))
        except Exception:  # not there, or torn by a power cut
            return None
        return data if kept_key == key else None  # two classes may look the same by name

    def flush(self) -> None:
        """Forget all machine code of this function."""
        for path in Path(self._cache_path).glob(self._data_name_pattern.format(number=0).replace(".0.", ".*.")):
            path.unlink(missing_ok=True)
