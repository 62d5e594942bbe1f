"""A GPU on paper: what is started on it is compiled, and never runs. For machines that have none."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from corebandit.compiled.cuda import device
from corebandit.compiled.cuda.kernels import CannotCompile

CAPABILITY = (9, 0)
GPU = SimpleNamespace(compute_capability=CAPABILITY)


class PaperQueue(device.Queue):
    """Compiles for a GPU of this capability; arrays are those of the processor."""

    def __init__(self) -> None:
        self.texts: list[str] = []  # of the machine code, by kernel

    def put(self, array: Any) -> Any:
        return np.ascontiguousarray(array)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return np.empty(shape, dtype)

    def spread(self, array: Any, runs: int) -> Any:
        return np.empty((*array.shape, runs), array.dtype)

    def filled(self, shape: tuple[int, ...], value: float) -> Any:
        return np.full(shape, value)

    def prepare(self, kernel: Any, sources: tuple[Any, ...]) -> None:
        from numba.cuda.core.errors import NumbaError as OfGPUs

        try:
            text, _ = device.cuda().compile_ptx(kernel.py_func, device.signature_of(sources), cc=CAPABILITY)
        except (NumbaError, OfGPUs) as error:
            raise CannotCompile(str(error)) from error
        self.texts.append(text)

    def start(self, kernel: Any, sources: tuple[Any, ...], runs: int) -> None:
        """Do nothing."""
