"""Keep machine code on disk, so that it is compiled once, and never run when it is old or damaged.

One file for each function and signature, named by a fingerprint of the sources that decide what it does (`sources`),
so that processes may share the folder. Numba's own cache looks only at the file of the function it compiled: an edited
policy would go on running its old machine code.
"""

import contextlib
import hashlib
import io
import os
import pickle
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np
from numba.core import caching, serialize

from corebandit.compiled.sources import UnknownSource, fingerprint, is_found_by_its_name
from corebandit.contracts.atomic_files import remove_leftovers, sealed, unsealed, write_whole

UNUSED_AFTER = 30 * 24 * 3600  # seconds; then machine code is removed
ENDING = ".nbc"

config: Any = numba.config  # numba fills it at run time, unseen by type checkers
host: Any = llvmlite.binding
Rebuilding: Any = caching.CompileResultCacheImpl
Pickler: Any = serialize.NumbaPickler


@cache
def environment() -> str:
    """Identify what decides numbers besides sources: libraries and the processor."""
    # Sums may be added up in another order on another processor, and are not in plain Python.
    processor = (config.CPU_NAME or host.get_host_cpu_name(), config.CPU_FEATURES, _features(), config.OPT)
    libraries = (numba.__version__, llvmlite.__version__, np.__version__)
    return repr((sys.version_info[:2], libraries, processor, config.DISABLE_JIT))


def _features() -> str:
    """Return what the processor can do: two of one name may differ."""
    try:
        return str(host.get_host_cpu_features().flatten())
    except RuntimeError:  # the system does not tell
        return ""


def cache_directory() -> Path:
    """Return the folder for machine code."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        root = Path(chosen)
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "corebandit" / "machine-code"


def keep_on_disk(dispatcher: Any) -> None:
    """Keep the machine code of `dispatcher` in our folder; where it cannot be written, every process compiles."""
    if config.DISABLE_JIT:
        return
    try:
        folder = cache_directory()
    except RuntimeError:  # there is no home
        return
    if folder_can_be_used(folder):
        dispatcher._cache = KeptCode(dispatcher.py_func, folder)


@cache
def folder_can_be_used(folder: Path) -> bool:
    """Tell whether machine code can be kept in a folder, which is made if it is not there."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK)
    return False


def is_missing(dispatcher: Any, signature: tuple[Any, ...]) -> bool:
    """Tell whether machine code of `dispatcher` for arguments of these types could be on disk, but is not."""
    kept: Any = dispatcher._cache
    path = kept.file(signature) if isinstance(kept, KeptCode) else None
    return path is not None and not path.exists()


class KeptCode:
    """The machine code of one function: what numba asks for it, and hands it to be kept."""

    def __init__(self, function: Any, folder: Path) -> None:
        self.function, self.folder = function, folder
        self.cache_path = str(folder)  # which numba's statistics show

    def file(self, signature: tuple[Any, ...]) -> Path | None:
        """Return where machine code for a signature belongs, or None if nobody can know what it is made from."""
        classes = sorted(set(_classes(signature)), key=_path_of)
        try:
            if not all(map(is_found_by_its_name, classes)):
                return None
            sources = fingerprint([self.function, *classes])
        except UnknownSource:
            return None
        named = [environment(), bool(config.BOUNDSCHECK), sources, _path_of(self.function), *map(_path_of, classes)]
        digest = hashlib.sha256(repr([*named, str(signature)]).encode()).hexdigest()
        return self.folder / f"{self.function.__name__}-{digest[:32]}{ENDING}"

    def load_overload(self, signature: tuple[Any, ...], target_context: Any) -> Any:
        """Return the machine code of a signature, or None if there is none."""
        target_context.refresh()
        path = self.file(signature)
        if path is None:
            return None
        try:
            content = pickle.loads(unsealed(path.read_bytes()))
        except (OSError, ValueError):  # not there, or damaged
            return None
        with contextlib.suppress(OSError):  # it may be another's
            os.utime(path)  # it is used
        return Rebuilding.rebuild(self, target_context, content)

    def save_overload(self, signature: tuple[Any, ...], compiled: Any) -> None:
        """Keep the machine code of a signature, unless it holds addresses of this process."""
        path = self.file(signature)
        if path is None or compiled.library.has_dynamic_globals or any(not loop.can_cache for loop in compiled.lifted):
            return
        with io.BytesIO() as content, contextlib.suppress(OSError):  # no room: then it is compiled in every process
            _Pickler(content).dump(compiled._reduce())
            write_whole(path, sealed(content.getvalue()))
            remove_unused(self.folder)


class _Pickler(Pickler):
    """Pickles classes of the script that is being run by their names, since its file is part of the fingerprint."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type) and value.__module__ == "__main__":
            return _of_main, (value.__qualname__,)
        return super().reducer_override(value)


def _of_main(name: str) -> Any:
    return attrgetter(name)(sys.modules["__main__"])


def _path_of(definition: Any) -> str:
    return f"{definition.__module__}.{definition.__qualname__}"


def _classes(types: Iterable[Any]) -> Iterator[type]:
    """Yield the classes of all named tuples among numba's types, however deep."""
    for kind in types:
        if cls := getattr(kind, "instance_class", None):
            yield cls
        with contextlib.suppress(TypeError):
            yield from _classes(getattr(kind, "types", ()))


@cache
def remove_unused(folder: Path) -> None:
    """Remove machine code that nobody has used for long, parts of files, and the folders that version 0.4 kept."""
    remove_leftovers(folder)
    for path in (*folder.glob(f"*{ENDING}"), *folder.parent.iterdir()):
        if path.suffix != ENDING and not re.fullmatch(r"[0-9a-f]{16}(-boundscheck)?", path.name):
            continue
        with contextlib.suppress(OSError):  # another process has just removed it
            if time.time() - path.stat().st_mtime > UNUSED_AFTER:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
