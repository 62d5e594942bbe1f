"""The pieces that experiments are cut into, a few runs of one policy on one problem, and what comes of playing one.

A chunk is data and a pure function of its key, so engines, threads, order and interruptions cannot change a number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.games.notes import Notes
from corebandit.randomness.stream import stream


def drawn(problem: Problem, problem_id: str, seed: int, run: int) -> Any:
    """Return what a run plays: the same whatever the policy is. The id is a digest of the problem's description."""
    return problem.draw(stream(seed, problem_id, run, "instance"))


class Runs(NamedTuple):
    """A few runs of one policy."""

    regret: FloatArray  # (runs, checkpoints)
    cpu_seconds: float
    measures: Mapping[str, FloatArray]  # what the policy says of itself, (runs,) each
    complaint: str = ""  # what went wrong in one of them
    notes: Notes | None = None  # with an axis for the runs in front; an engine may take none
    engine: str = ""  # who played them, if not threads that were asked to


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
    actions: bool = False  # whether what was chosen in each round is noted

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
