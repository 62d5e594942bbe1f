"""Play experiments: find what is there, let an engine play what is missing, keep it at once, put it together.

NumPy and numba are all it needs, so a machine that has little else can do it.
"""

import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import shortened
from corebandit.experiments.chunk_file import check_runs
from corebandit.experiments.chunk_store import ChunkStore
from corebandit.experiments.curve import Curve, curve_of
from corebandit.experiments.engines.engine import Engine
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.keys import key_of
from corebandit.experiments.progress import progress_bar
from corebandit.experiments.task import Runs, Task, Wanted, together
from corebandit.games.rehearsal import rehearse


def play(
    experiments: Sequence[Experiment],
    engine: Engine,
    *,
    folder: Path | None = None,
    fresh: bool = False,
    progress: bool = False,
    first_run: int = 0,
    percents: Sequence[int] = (),
) -> list[Curve]:
    """Return the runs of every policy of experiments, from `first_run` on: those in the folder, and those played now.

    With `percents` regret is kept after so many percent of all rounds only, and no notes are.
    """
    _check_distinct(experiments)
    for each in experiments:
        for policy in each.policies.values():
            rehearse(policy, each.problem, each.told_horizon, realised=each.regret == "realised")
    store = ChunkStore(folder) if folder is not None else None
    tasks = [(each, task_of(each, label, percents)) for each in experiments for label in each.policies]
    # Without a folder nothing is looked up, and no key is needed.
    keys = [key_of(task, engine.environment) if store else str(place) for place, (_, task) in enumerate(tasks)]
    gathered: dict[str, _Gathered] = {}  # two experiments may share a task
    for key, (each, task) in zip(keys, tasks, strict=True):
        last = max(each.runs, gathered[key].wanted.last if key in gathered else 0)
        gathered[key] = _Gathered(Wanted(task, first_run, last))
    try:
        _gather(gathered, engine, store, fresh, progress)
    finally:
        if store:
            store.leave_nothing_empty()
    complaints, curves, timed = {}, [], set()
    for key, (each, task) in zip(keys, tasks, strict=True):
        runs = gathered[key].up_to(each.runs)
        complaints[task.label] = runs.complaint
        spent = 0.0 if key in timed else gathered[key].wall_seconds  # once, for however many experiments
        runs = runs._replace(wall_seconds=spent)
        timed.add(key)
        names = {"experiment": each.name, "part": each.part, "problem": each.problem.label, "policy": task.label}
        curves.append(curve_of(names, each.title, task.rounds, runs))
    for label, complaint in complaints.items():
        if complaint:
            warnings.warn(f"{label}: {complaint}", stacklevel=3)
    return curves


def task_of(experiment: Experiment, label: str, percents: Sequence[int] = ()) -> Task:
    """Return what is to be played of one policy of an experiment; see `play` for the percents."""
    rounds = tuple(experiment.rounds.tolist())
    policy, size = experiment.policies[label], (experiment.seed, experiment.regret, experiment.actions)
    task = Task(experiment.problem, policy, label, rounds, *size, horizon_known=experiment.horizon_known)
    if not percents:
        return task
    some = sorted({-(-percent * experiment.horizon // 100) for percent in percents})
    return replace(task, checkpoints=tuple(some), actions=False, notes=False)


def _check_distinct(experiments: Sequence[Experiment]) -> None:
    if not experiments:
        raise BadInput("experiments must hold at least one experiment")
    seen: set[tuple[str, ...]] = set()
    for experiment in experiments:
        for label in experiment.policies:
            identity = (experiment.name, experiment.part, experiment.problem.label, label)
            if identity in seen:
                raise BadInput(
                    f"two experiments called {shortened(experiment.name)} have {label} on the problem "
                    f"{experiment.problem.label}: give them different names"
                )
            seen.add(identity)


class _Gathered:
    """The runs of one task that are there already."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self._is_there = np.zeros(wanted.last - wanted.first, np.bool_)
        self._parts: list[tuple[int, Runs]] = []

    @property
    def wall_seconds(self) -> float:
        """Return how long all of them took by the clock."""
        return sum(runs.wall_seconds for _, runs in self._parts)

    def missing(self) -> list[Wanted]:
        """Return the runs that are not there yet."""
        edges = np.flatnonzero(np.diff(self._is_there, prepend=True, append=True)) + self.wanted.first
        return [Wanted(self.wanted.task, int(first), int(last)) for first, last in edges.reshape(-1, 2)]

    def take(self, first: int, runs: Runs) -> bool:
        """Take runs if they are wanted and none of them is there; tell whether they were taken."""
        begin = first - self.wanted.first
        end = begin + len(runs.regret)
        if not 0 <= begin < end <= len(self._is_there) or self._is_there[begin:end].any():
            return False
        self._parts.append((first, runs))
        self._is_there[begin:end] = True
        return True

    def take_missing(self, first: int, runs: Runs) -> int:
        """Take those of the runs that are missing, and return how many."""
        n_taken, last = 0, first + len(runs.regret)
        for _, begin, end in self.missing():
            some = max(begin, first) - first, min(end, last) - first
            if some[0] < some[1] and self.take(first + some[0], runs.part(*some)):
                n_taken += some[1] - some[0]
        return n_taken

    def up_to(self, last: int) -> Runs:
        """Return the runs up to this one, which is not included, in their order."""
        parts = [part for _, part in sorted(self._parts, key=lambda one: one[0])]
        return together(self.wanted.task.label, parts).part(0, last - self.wanted.first)


def _gather(
    gathered: dict[str, _Gathered], engine: Engine, store: ChunkStore | None, fresh: bool, progress: bool
) -> None:
    """Find what the store holds, and let the engine play the rest, which is stored at once."""
    total = sum(each.wanted.last - each.wanted.first for each in gathered.values())
    with progress_bar(total, shown=progress) as advance:
        for key, each in gathered.items():
            if store and fresh:
                store.forget(key, each.wanted)
            for first, runs in store.find(key, each.wanted) if store else ():
                advance(each.take_missing(first, runs))
        places = [(key, missing) for key, each in gathered.items() for missing in each.missing()]
        wanted = [missing for _, missing in places]
        lock, told = threading.Lock(), time.monotonic()

        def finish(place: int, first: int, runs: Runs) -> None:
            nonlocal told
            if place not in range(len(wanted)):
                raise BadInput(f"an engine was asked for {len(wanted)} things, and finished the one at place {place}")
            key, (task, *_) = places[place]
            chunk = Wanted(task, first, first + (len(runs.regret) if np.ndim(runs.regret) else 0))
            runs = runs if task.notes else runs._replace(notes=None)
            try:
                check_runs(runs, (chunk.last - first, len(task.checkpoints)))
            except BadInput as error:
                raise BadInput(f"{task.label}: {error}") from error
            with lock:
                now = time.monotonic()
                runs, told = runs._replace(wall_seconds=now - told), now
                if not gathered[key].take(first, runs):
                    raise BadInput(
                        f"an engine finished the runs {first} to {chunk.last - 1} of {task.label}, which are none of "
                        "those that wait"
                    )
            if store:
                store.keep(key, chunk, runs)
            advance(chunk.last - first)

        engine.play(wanted, finish)
    left = sum(missing.last - missing.first for each in gathered.values() for missing in each.missing())
    if left:
        raise BadInput(f"{type(engine).__name__} left {left} of {sum(w.last - w.first for w in wanted)} runs unplayed")
