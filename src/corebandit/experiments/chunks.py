"""The pieces that experiments are cut into, a few runs of one policy on one problem, and what comes of playing one.

A chunk is data and a pure function of its key, so engines, threads, order and interruptions cannot change a number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.contracts.state import FloatArray, IntArray


class Runs(NamedTuple):
    """A few runs of one policy."""

    regret: FloatArray  # (runs, checkpoints)
    cpu_seconds: float
    measures: Mapping[str, FloatArray]  # what the policy says of itself, (runs,) each
    complaint: str = ""  # what went wrong in one of them


@dataclass(frozen=True)
class Chunk:
    """A few runs of one policy on one problem."""

    problem: Problem
    policy: AnyPolicy
    label: str
    checkpoints: tuple[int, ...]  # rounds at which regret is recorded; the last is the horizon
    seed: int
    regret: str
    first: int
    last: int  # one past the end

    @property
    def horizon(self) -> int:
        """Return the number of rounds."""
        return self.checkpoints[-1]

    @property
    def rounds(self) -> IntArray:
        """Return the rounds at which regret is recorded."""
        return np.array(self.checkpoints, np.int64)

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many runs there are, and how many checkpoints."""
        return self.last - self.first, len(self.checkpoints)
