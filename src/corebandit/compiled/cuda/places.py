"""Where the threads of a kernel find their arrays and numbers."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Place(Protocol):
    """Where a thread finds one of its arrays or numbers."""

    @property
    def source(self) -> Any:
        """Return what is passed to the kernel."""
        ...

    def lines(self, name: str, argument: str) -> list[str]:
        """Return lines of Python that assign to `name` what the thread `i` finds in the kernel's `argument`."""
        ...


@dataclass(frozen=True)
class Shared:
    """An array or a number that is the same for all, and that nobody writes to."""

    source: Any

    def lines(self, name: str, argument: str) -> list[str]:
        """Take it as it is."""
        return [f"{name} = {argument}"]


@dataclass(frozen=True)
class RunFirst:
    """One for each run, which is the first axis: what a run reads in one go, or at places of its own."""

    source: Any

    def lines(self, name: str, argument: str) -> list[str]:
        """Take the run's own."""
        return [f"{name} = {argument}[i]"]


@dataclass(frozen=True)
class RunLast:
    """One for each run, which is the last axis: neighbouring threads read neighbouring memory."""

    source: Any

    def lines(self, name: str, argument: str) -> list[str]:
        """Take a view of the run's own."""
        return [f"{name} = {argument}[{':, ' * (self.source.ndim - 1)}i]"]


@dataclass(frozen=True)
class Local:
    """A thread's own small array, which begins as a copy of what is in another place."""

    copied: Shared | RunFirst

    @property
    def source(self) -> Any:
        """Return what is copied."""
        return self.copied.source

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of each thread's own."""
        return tuple(self.source.shape[isinstance(self.copied, RunFirst) :])

    def lines(self, name: str, argument: str) -> list[str]:
        """Copy it, number by number."""
        indices = [f"j{axis}" for axis in range(len(self.shape))]
        shape = self.shape[0] if len(self.shape) == 1 else self.shape
        lines = [*self.copied.lines(f"{name}_0", argument)]
        lines += [f"{name} = cuda.local.array({shape}, dtype_{np.dtype(self.source.dtype).name})"]
        for depth, (index, length) in enumerate(zip(indices, self.shape, strict=True)):
            lines.append("    " * depth + f"for {index} in range({length}):")
        where = ", ".join(indices)
        return [*lines, "    " * len(indices) + f"{name}[{where}] = {name}_0[{where}]"]
