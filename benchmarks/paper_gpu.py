"""A GPU on paper, for machines that have none: it compiles kernels, and plays them with the processor (`ptx_as_c`)."""

import ctypes
import importlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from corebandit.compiled.cuda import device, kernels
from corebandit.compiled.cuda.kernels import CannotCompile
from ptx_as_c import WARP, as_c

CAPABILITY = (9, 0)
MOST = 0.99
GPU = SimpleNamespace(compute_capability=CAPABILITY)
COMPILER = shutil.which("cc") or shutil.which("gcc") or ""
# As the text says and no otherwise: nothing contracted, and numbers that run over as on a GPU.
OPTIONS = ["-O0", "-w", "-fPIC", "-shared", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv"]


class Work(NamedTuple):
    """What warps did: instructions, each counted once for a warp, and once for each thread that took part."""

    instructions: int
    by_threads: int
    lines: int  # of the text, the fewest that 99 % of these instructions are of

    @property
    def at_work(self) -> float:
        """Return how many of the 32 threads took part on average."""
        return self.by_threads / max(1, self.instructions)


class Assembled(NamedTuple):
    """What a thread of a kernel takes once its text is assembled for the GPU, as a driver does before it plays."""

    registers: int
    stack: int  # bytes of memory of its own: the rest of its arrays, and registers that there is no room for


class PaperQueue(device.Queue):
    """Compiles for a GPU of this capability; arrays are those of the processor."""

    def __init__(self) -> None:
        self.texts: list[str] = []  # of the machine code, by kernel
        self.work: list[Work] = []  # of the kernels that were played

    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array."""
        return np.array(array, order="C")

    def get(self, array: Any) -> NDArray[Any]:
        """Return an array."""
        return np.asarray(array)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array with anything in it."""
        return np.empty(shape, dtype)

    def spread(self, array: NDArray[Any], runs: int) -> Any:
        """Return an array with the same content for each of `runs`, which are its last axis."""
        return np.repeat(array[..., np.newaxis], runs, axis=-1)

    def filled(self, shape: tuple[int, ...], value: float) -> Any:
        """Return an array of floats, all of them `value`."""
        return np.full(shape, value)

    def prepare(self, kernel: Any, sources: tuple[Any, ...]) -> None:
        """Compile a kernel, or raise CannotCompile."""
        self.texts.append(_text(kernel.py_func, device.signature_of(sources)))

    def start(self, kernel: Any, sources: tuple[Any, ...], runs: int) -> None:
        """Play a kernel for each of `runs`."""
        self.work.append(
            _played(_text(kernel.py_func, device.signature_of(sources)), [*sources, runs], -(-runs // WARP))
        )

    def begin(self) -> None:
        """Do nothing: time says nothing here."""

    def end(self) -> None:
        """Do nothing."""

    def is_done(self) -> bool:
        """Return that all work is done."""
        return True

    def wait(self) -> None:
        """Do nothing."""

    def seconds(self) -> float:
        """Return that no time was measured."""
        return 0.0


@contextmanager
def laid_out() -> Iterator[None]:
    """Let kernels be compiled for the GPU on paper meanwhile, and keep none of them on disk."""
    device.cuda()
    with (
        patch("numba.cuda.dispatcher.get_current_device", lambda: GPU),
        patch.object(kernels, "_keep_on_disk", lambda *_: None),
        patch.object(kernels, "_kernel", cache(kernels._kernel.__wrapped__)),
    ):
        yield


@cache
def _text(function: Any, signature: tuple[Any, ...]) -> str:
    from numba.cuda.core.errors import NumbaError as OfGPUs

    try:
        text, _ = device.cuda().compile_ptx(function, signature, cc=CAPABILITY)
    except (NumbaError, OfGPUs) as error:
        raise CannotCompile(str(error)) from error
    return str(text)


def assembled(text: str) -> Assembled:
    """Assemble a text for the GPU, or raise a RuntimeError that says why it cannot be."""
    linker = importlib.import_module("cuda.bindings.nvjitlink")
    content = text.encode() + b"\0"
    handle = linker.create(2, [f"-arch=sm_{''.join(map(str, CAPABILITY))}", "-verbose"])
    try:
        linker.add_data(handle, linker.InputType.PTX, content, len(content), "kernel")
        linker.complete(handle)
        said = bytearray(linker.get_info_log_size(handle))
        linker.get_info_log(handle, said)
    finally:
        linker.destroy(handle)
    found = re.search(r"used (\d+) registers.*, (\d+) stack", said.decode())
    if found is None:
        raise RuntimeError("the assembler does not say what a thread takes")
    return Assembled(*map(int, found.groups()))


class _Program(NamedTuple):
    library: Any
    n_parameters: int
    lengths: NDArray[np.int64]  # of its blocks
    steps: Any
    threads: Any


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory()


@cache
def _program(text: str) -> _Program:
    code, n_parameters, lengths = as_c(text)
    path = Path(_folder().name) / f"{_program.cache_info().misses}.so"
    subprocess.run([COMPILER, *OPTIONS, "-x", "c", "-", "-o", path, "-lm"], input=code, text=True, check=True)
    library = ctypes.CDLL(str(path))
    counts = [(ctypes.c_uint64 * len(lengths)).in_dll(library, name) for name in ("steps", "threads")]
    return _Program(library, n_parameters, np.array(lengths), *counts)


def _played(text: str, arguments: list[Any], n_warps: int) -> Work:
    """Play a kernel, and return what its warps did."""
    program = _program(text)
    values = np.array([word for argument in arguments for word in _words(argument)], np.uint64)
    if values.size != program.n_parameters:
        raise ValueError(f"the kernel takes {program.n_parameters} parameters, not {values.size}")
    given = (ctypes.c_void_p * values.size)(*(values.ctypes.data + 8 * place for place in range(values.size)))
    for counts in (program.steps, program.threads):
        counts[:] = [0] * len(counts)
    program.library.play(given, n_warps)
    instructions, by_threads = (np.array(counts) * program.lengths for counts in (program.steps, program.threads))
    most = np.argsort(-instructions.astype(np.int64))
    n_most = 1 + int(np.searchsorted(np.cumsum(instructions[most]), MOST * instructions.sum()))
    return Work(int(instructions.sum()), int(by_threads.sum()), int(program.lengths[most[:n_most]].sum()))


def _words(argument: Any) -> list[int]:
    """Return what is passed for an argument: of an array where it is, its shape and its strides, as numba does."""
    if isinstance(argument, np.ndarray):
        where = [0, 0, argument.size, argument.itemsize, argument.ctypes.data]
        return [*where, *argument.shape, *argument.strides]
    if isinstance(argument, float):
        return [int(np.float64(argument).view(np.uint64))]
    return [int(argument) % 2**64]
