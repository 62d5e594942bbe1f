"""The GPU: whether there is one, arrays on it, and work that it does in order."""

import importlib.util
import os
import sys
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from typing import Any, Self

import llvmlite
import numba
import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from corebandit.compiled.cuda.methods import teach_methods
from corebandit.compiled.cuda.tables import keep_tables_in_global_memory

config: Any = numba.config
IS_SIMULATED = bool(config.ENABLE_CUDASIM)
GONE_FROM_NUMPY = {"row_stack": np.vstack, "in1d": np.isin, "trapz": np.trapezoid}  # numba-cuda 0.30 looks for them
QUEUES = 32  # of work that the device does side by side: the most there are, where it would take 8 unless told
BLOCK = 32  # threads that are started together: the fewest, so that few runs use all of the device
WITHOUT_PACKAGE = "it needs the package numba-cuda: install the extra cuda (in a clone: uv sync --extra cuda)"
WITHOUT_GPU = "there is no NVIDIA GPU here, or no driver for it"


@cache
def cuda() -> Any:
    """Import numba's module for GPUs, and teach it our methods."""
    missing = {name: value for name, value in GONE_FROM_NUMPY.items() if not hasattr(np, name)}
    for name, value in missing.items():
        setattr(np, name, value)
    os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", str(QUEUES))  # read when the driver starts
    try:
        from numba import cuda as module

        if not IS_SIMULATED:
            config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # few runs are a user's choice
            teach_methods(module)
            keep_tables_in_global_memory()
    finally:
        for name in missing:
            delattr(np, name)
    return module


@cache
def why_not() -> str:
    """Say why there is no GPU to play on, or nothing if there is one."""
    if IS_SIMULATED:
        return ""
    if importlib.util.find_spec("numba_cuda") is None:
        return WITHOUT_PACKAGE
    try:
        is_there = cuda().is_available()
    except Exception as error:  # whatever a broken installation may raise
        return f"numba-cuda cannot be used: {error}".partition("\n")[0]
    return "" if is_there else WITHOUT_GPU


@cache
def environment() -> str:
    """Identify what decides numbers besides sources: libraries and the GPU."""
    if IS_SIMULATED:
        return "simulated"
    import numba_cuda

    device = cuda().get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else device.name
    toolkit = tuple(cuda().runtime.get_version())
    versions = (sys.version_info[:2], numba.__version__, llvmlite.__version__, numba_cuda.__version__, np.__version__)
    return repr((versions, toolkit, name, device.compute_capability))


def free_memory() -> int:
    """Return the bytes that are free on the GPU."""
    if IS_SIMULATED:
        return 2**30
    return int(cuda().current_context().get_memory_info().free)


class Holding:
    """A time in which memory of the device that is no longer needed is kept: giving it back waits for all work."""

    def __init__(self) -> None:
        self._held = ExitStack()

    def __enter__(self) -> Self:
        self.give_back()
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is None:
            self._end()
        # Else there may be work, and whoever pressed Ctrl-C shall not wait for it.

    def give_back(self) -> None:
        """Give back what is no longer needed, when there is no work to wait for."""
        self._end()
        if not IS_SIMULATED:
            self._held.enter_context(cuda().defer_cleanup())

    def _end(self) -> None:
        self._held.close()
        if not IS_SIMULATED:
            context = cuda().current_context()
            for waiting in (context.memory_manager.deallocations, context.deallocations):
                waiting.clear()


SPREADING = """
def spread(content, flat, runs):
    i = cuda.grid(1)
    if i < flat.size:
        flat[i] = content[i // runs]
"""


@cache
def _spreading() -> Any:
    known = {"cuda": cuda()}
    exec(SPREADING, known)
    return known["cuda"].jit(known["spread"])


class CannotCompile(Exception):
    """Something cannot be compiled for a GPU; the message says what."""


def signature_of(sources: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return numba's types of what a kernel takes: where its threads find things, and how many there are."""
    return import_module("numba.cuda.typing.typeof").typeof(sources), numba.int64


class Queue:
    """Work that the device does in order, beside that of other queues, and the arrays that it works on."""

    def __init__(self) -> None:
        self.stream = cuda().stream()
        self._begun, self._done = cuda().event(), cuda().event()
        self._kept: list[Any] = []  # what the device may not have copied yet

    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device."""
        self._kept.append(np.ascontiguousarray(array))
        return cuda().to_device(self._kept[-1], self.stream)

    def get(self, array: Any) -> NDArray[Any]:
        """Copy an array from the device, when all work before is done."""
        found = array.copy_to_host(stream=self.stream)
        self.stream.synchronize()
        return np.asarray(found)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array of the device with anything in it."""
        return cuda().device_array(shape, np.dtype(dtype), stream=self.stream)

    def spread(self, array: NDArray[Any], runs: int) -> Any:
        """Return an array of the device with the same content for each of `runs`, which are its last axis."""
        wide = self.empty((*array.shape, runs), array.dtype)
        if wide.size:
            flat, content = wide.reshape(wide.size), self.put(array.reshape(-1))
            _spreading()[-(-wide.size // BLOCK), BLOCK, self.stream](content, flat, runs)
        return wide

    def filled(self, shape: tuple[int, ...], value: float) -> Any:
        """Return an array of floats of the device, all of them `value`."""
        wide = self.empty(shape, np.float64)
        flat, content = wide.reshape(wide.size), self.put(np.array([value]))
        _spreading()[-(-wide.size // BLOCK), BLOCK, self.stream](content, flat, wide.size)
        return wide

    def prepare(self, kernel: Any, sources: tuple[Any, ...]) -> None:
        """Compile a kernel, or load it from disk, or raise CannotCompile."""
        if IS_SIMULATED:
            return
        try:
            kernel.compile(signature_of(sources))
        except (NumbaError, import_module("numba.cuda.core.errors").NumbaError) as error:
            raise CannotCompile(str(error).strip().rpartition("\n")[-1] or type(error).__name__) from error

    def start(self, kernel: Any, sources: tuple[Any, ...], runs: int) -> None:
        """Start a kernel for each of `runs`."""
        kernel[-(-runs // BLOCK), BLOCK, self.stream](sources, runs)

    def begin(self) -> None:
        """Note the time when the device comes to this point."""
        self._begun.record(self.stream)

    def end(self) -> None:
        """Note that this is all the work there is."""
        self._done.record(self.stream)

    def is_done(self) -> bool:
        """Tell whether all work is done."""
        return IS_SIMULATED or bool(self._done.query())

    def wait(self) -> None:
        """Wait until all work is done."""
        self.stream.synchronize()

    def seconds(self) -> float:
        """Return how long the work took."""
        return 0.0 if IS_SIMULATED else float(cuda().event_elapsed_time(self._begun, self._done)) / 1000.0
