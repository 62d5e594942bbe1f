"""Kernels: one function, such as the inside of a game's loop, called for each of many runs, one thread a run.

What a thread works with is told by a tree of arguments: nested named tuples as they are, with *places* instead of
arrays and numbers. From the tree a few lines of Python are written that pick out what is the thread's own and call the
function, and these are compiled. So no policy, problem or sampler knows that there are GPUs.

Kernels are kept on disk beside other machine code, by the same rule: an edit below invalidates, one beside does not.
"""

import contextlib
import hashlib
import io
import os
import pickle
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import numpy as np

from corebandit.compiled.cuda.device import IS_SIMULATED, CannotCompile, Queue, cuda, environment, signature_of
from corebandit.compiled.machine_code import ENDING, cache_directory, folder_can_be_used, remove_unused
from corebandit.compiled.sources import UnknownSource, fingerprint, is_found_by_its_name
from corebandit.contracts.atomic_files import sealed, unsealed, write_whole

OPTIONS: dict[str, Any] = {}
KINDS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
TEXT = """
def play(sources, runs):
    i = cuda.grid(1)
    if i >= runs:
        return
    {picked}
    body({arguments})
"""


class Unsuitable(Exception):
    """Something cannot be compiled for a GPU; the message says what."""


def launch(queue: Queue, function: Callable[..., None], tree: tuple[Any, ...], runs: int) -> None:
    """Begin to call `function(*tree)` for each of `runs`, after what else is in the queue."""
    kernel, sources = prepared(queue, function, tree)
    queue.start(kernel, sources, runs)


def prepared(queue: Queue, function: Callable[..., None], tree: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return a function's kernel for a tree, compiled or loaded from disk, and what it takes, or raise Unsuitable."""
    kernel, sources = _written(function, tree)
    try:
        queue.prepare(kernel, sources)
    except CannotCompile as error:
        raise Unsuitable(str(error)) from error
    return kernel, sources


def missing_file(function: Callable[..., None], tree: tuple[Any, ...]) -> Path | None:
    """Return where on disk a function's kernel for a tree would be kept, if it could be and is not."""
    kernel, sources = _written(function, tree)
    kept = getattr(kernel, "_cache", None)
    path = kept.file(signature_of(sources)) if isinstance(kept, _KeptKernels) else None
    return path if path is not None and not path.exists() else None


def _written(function: Callable[..., None], tree: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return the kernel that calls a function with a tree, and what it takes."""
    classes: list[type] = []
    places: list[Any] = []
    arguments = [_expression(part, classes, places) for part in tree]
    picked: list[str] = []
    for number, place in enumerate(places):
        picked += place.lines(f"leaf_{number}", f"sources[{number}]")
    text = TEXT.format(picked="\n    ".join(picked), arguments=", ".join(arguments))
    return _kernel(function, text, tuple(classes)), tuple(place.source for place in places)


def _expression(part: Any, classes: list[type], places: list[Any]) -> str:
    """Return Python for a part of the tree, whose classes and places it notes."""
    if isinstance(part, tuple):
        if type(part) not in classes:
            classes.append(type(part))
        inner = ", ".join(_expression(each, classes, places) for each in part)
        if hasattr(part, "_fields"):
            return f"class_{classes.index(type(part))}({inner})"
        return f"({inner},)" if part else "()"
    places.append(part)
    return f"leaf_{len(places) - 1}"


@cache
def _kernel(function: Callable[..., None], text: str, classes: tuple[type, ...]) -> Any:
    """Return the kernel that a text says, with numba's names for what is in it."""
    module, plain = cuda(), getattr(function, "py_func", function)
    known: dict[str, Any] = {f"class_{number}": cls for number, cls in enumerate(classes)}
    known |= {f"dtype_{kind}": kind if IS_SIMULATED else numba.from_dtype(np.dtype(kind)) for kind in KINDS}
    known |= {"cuda": module, "body": plain if IS_SIMULATED else module.jit(device=True, forceinline=True)(plain)}
    exec(text, known)  # written here, of numbered names and sizes alone
    kernel = module.jit(**OPTIONS)(known["play"])
    if not IS_SIMULATED:
        _keep_on_disk(kernel, plain, text, classes)
    return kernel


# On disk ----------------------------------------------------------------------------------------------------------


def _keep_on_disk(dispatcher: Any, function: Any, text: str, classes: tuple[type, ...]) -> None:
    try:
        folder = cache_directory()
        if not folder_can_be_used(folder) or not all(map(is_found_by_its_name, classes)):
            return
        sources = fingerprint([getattr(function, "py_func", function), _written, *classes])
    except (RuntimeError, UnknownSource):  # there is no home, or nobody can know what it is made from
        return
    paths = [f"{each.__module__}.{each.__qualname__}" for each in (function, *classes)]
    dispatcher._cache = _KeptKernels(folder, function.__name__, repr([environment(), OPTIONS, sources, paths, text]))


class _KeptKernels:
    """The machine code of one kernel: what numba-cuda asks for it, and hands it to be kept."""

    def __init__(self, folder: Path, name: str, identity: str) -> None:
        self.folder, self.name, self.identity = folder, name, identity
        self.cache_path = str(folder)

    def file(self, signature: Any) -> Path:
        digest = hashlib.sha256(f"{self.identity} {signature}".encode()).hexdigest()
        return self.folder / f"cuda-{self.name}-{digest[:32]}{ENDING}"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        path = self.file(signature)
        try:
            content = pickle.loads(unsealed(path.read_bytes()))
        except (OSError, ValueError):  # not there, or damaged
            return None
        with contextlib.suppress(OSError):  # it may be another's
            os.utime(path)  # it is used
        return import_module("numba.cuda.dispatcher")._Kernel._rebuild(**content)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        with io.BytesIO() as content, contextlib.suppress(OSError, pickle.PicklingError):
            import_module("numba.cuda.serialize").NumbaPickler(content).dump(compiled._reduce_states())
            write_whole(self.file(signature), sealed(content.getvalue()))
            remove_unused(self.folder)
