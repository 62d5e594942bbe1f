"""What engines play, the runs of one policy on one problem, and what comes of some of them.

A run is a pure function of its task and its number, so engines, threads, order and interruptions cannot change it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.games.notes import Notes, joined
from corebandit.randomness.stream import stream


def drawn(problem: Problem, problem_id: str, seed: int, run: int) -> Any:
    """Return what a run plays: the same whatever the policy is. The id is a digest of the problem's description."""
    return problem.draw(stream(seed, problem_id, run, "instance"))


@dataclass(frozen=True)
class Task:
    """One policy to be played on one problem: all that is to be known of its runs but which of them are wanted."""

    problem: Problem
    policy: AnyPolicy
    label: str
    checkpoints: tuple[int, ...]  # rounds at which regret is recorded; the last is the horizon
    seed: int
    regret: str
    actions: bool = False  # whether what was chosen in each round is noted
    notes: bool = True  # whether notes are kept
    horizon_known: bool = True  # to the policy

    @property
    def horizon(self) -> int:
        """Return the number of rounds."""
        return self.checkpoints[-1]

    @property
    def told_horizon(self) -> int | None:
        """Return what the policy is told of it."""
        return self.horizon if self.horizon_known else None

    @property
    def rounds(self) -> IntArray:
        """Return the rounds at which regret is recorded."""
        return np.array(self.checkpoints, np.int64)


class Wanted(NamedTuple):
    """The runs of a task that are to be played, one after another: those from `first` up to `last`, not included."""

    task: Task
    first: int
    last: int

    def cut(self, size: int) -> list["Wanted"]:
        """Return them in pieces of this size."""
        return [Wanted(self.task, first, min(first + size, self.last)) for first in range(self.first, self.last, size)]


class Runs(NamedTuple):
    """What came of runs of one task, one after another."""

    regret: FloatArray  # (runs, checkpoints)
    cpu_seconds: float
    measures: Mapping[str, FloatArray]  # what the policy says of itself, (runs,) each
    complaint: str = ""  # what went wrong in one of them
    notes: Notes | None = None  # with an axis for the runs in front; an engine may take none
    engine: str = ""  # who played them, if not threads that were asked to
    wall_seconds: float = 0.0  # by the clock, since runs were handed over before; whoever keeps them fills this in

    def part(self, first: int, last: int) -> "Runs":
        """Return those from `first` up to `last`, not included, counted from the first one here."""
        share = (last - first) / max(1, len(self.regret))
        return self._replace(
            regret=self.regret[first:last],
            cpu_seconds=self.cpu_seconds * share,
            measures={name: values[first:last] for name, values in self.measures.items()},
            notes=None if self.notes is None else Notes._make(array[first:last] for array in self.notes),
            wall_seconds=self.wall_seconds * share,
        )


def together(label: str, parts: Sequence[Runs]) -> Runs:
    """Return the runs of the policy shown as `label`, which were played in several parts, as one."""
    if len({tuple(part.measures) for part in parts}) > 1:
        raise BadInput(f"the measures of {label} must have the same names in every run")
    notes = [part.notes for part in parts if part.notes is not None]
    return parts[0]._replace(
        regret=np.concatenate([part.regret for part in parts]),
        cpu_seconds=sum(part.cpu_seconds for part in parts),
        measures={name: np.concatenate([part.measures[name] for part in parts]) for name in parts[0].measures},
        complaint=next((part.complaint for part in parts if part.complaint), ""),
        notes=joined(notes) if len(notes) == len(parts) else None,
        wall_seconds=sum(part.wall_seconds for part in parts),
    )
