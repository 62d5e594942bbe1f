"""Run experiments: in parallel, resumable, and always to the same numbers.

With a folder, finished chunks are written at once and found again.
"""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import shortened
from corebandit.experiments.chunk_keys import chunk_keys
from corebandit.experiments.chunk_store import ChunkStore
from corebandit.experiments.chunks import Chunk, Runs
from corebandit.experiments.curve import Curve
from corebandit.experiments.cutting import chunks_of
from corebandit.experiments.engines.engine import Engine
from corebandit.experiments.engines.named import engine_of
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.parcels import check_runs
from corebandit.experiments.progress import progress_bar
from corebandit.experiments.result import Result
from corebandit.games.notes import joined
from corebandit.games.rehearsal import rehearse


def run(
    experiments: Experiment | Sequence[Experiment],
    *,
    jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    progress: bool = False,
    engine: Engine | str | None = None,
) -> Result:
    """Run one experiment or several and return their regrets.

    Parameters
    ----------
    experiments
        What to run. No number depends on their order, nor on `jobs`.
    jobs
        Threads; by default one for each core. As many processes, less one, help to compile what has not been yet.
    folder
        Keep finished chunks here; a second start continues where the first was stopped, even by `kill -9`.
    fresh
        Play everything again, whatever of it the folder holds.
    progress
        Show a bar with the time left on the standard error.
    engine
        Who plays: "threads" of this process, or "cuda", an NVIDIA GPU, for thousands of runs; or the file of runs that
        another machine has played; or your own.

    >>> from corebandit import BernoulliBandit, CORe
    >>> result = run(Experiment(BernoulliBandit(), [CORe()], horizon=500, runs=4))
    >>> result.frame.columns
    ['experiment', 'part', 'problem', 'policy', 'run', 'round', 'regret']
    """
    experiments = [experiments] if isinstance(experiments, Experiment) else list(experiments)
    _check_distinct(experiments)
    engine = engine_of(engine, jobs)
    for each in experiments:
        for policy in each.policies.values():
            rehearse(policy, each.problem, each.horizon, realised=each.regret == "realised")
    store = ChunkStore(Path(folder)) if folder is not None else None
    cut = [
        (experiment, label, chunks_of(experiment, label, engine.runs_per_chunk(policy)))
        for experiment in experiments
        for label, policy in experiment.policies.items()
    ]
    try:
        finished = iter(_finished([chunk for *_, chunks in cut for chunk in chunks], engine, store, fresh, progress))
    finally:
        if store:
            store.leave_nothing_empty()
    curves = [_curve(each, label, [next(finished) for _ in chunks]) for each, label, chunks in cut]
    return Result([each.to_dict() for each in experiments], curves)


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


def _finished(
    chunks: Sequence[Chunk], engine: Engine, store: ChunkStore | None, fresh: bool, progress: bool
) -> list[Runs]:
    """Return the runs of every chunk: those in the store, and what the engine plays, which is stored at once."""
    keys = [str(place) for place in range(len(chunks))] if store is None else chunk_keys(chunks, engine.environment)
    distinct = dict(zip(keys, chunks, strict=True))  # two experiments may share a chunk
    finished: dict[str, Runs] = {}
    if store and fresh:
        store.forget(distinct)
    with progress_bar(len(distinct), shown=progress) as advance:
        for key, chunk in distinct.items():
            if store and (found := store.find(key, chunk.shape)):
                finished[key] = found
                advance()
        wanted = [key for key in distinct if key not in finished]

        def finish(place: int, runs: Runs) -> None:
            if place not in range(len(wanted)) or wanted[place] in finished:
                raise BadInput(f"an engine finished chunk {place} of {len(wanted)}, which is none of those that wait")
            key = wanted[place]
            try:
                check_runs(runs, distinct[key].shape)
            except BadInput as error:
                raise BadInput(f"{distinct[key].label}: {error}") from error
            if store:
                store.keep(key, runs)
            finished[key] = runs
            advance()

        engine.play([distinct[key] for key in wanted], finish)
    if missing := [key for key in wanted if key not in finished]:
        raise BadInput(f"{type(engine).__name__} left {len(missing)} of {len(wanted)} chunks unplayed")
    for label, complaint in {chunk.label: finished[key].complaint for key, chunk in distinct.items()}.items():
        if complaint:
            warnings.warn(f"{label}: {complaint}", stacklevel=3)
    return [finished[key] for key in keys]


def _curve(experiment: Experiment, label: str, parts: Sequence[Runs]) -> Curve:
    """Put the chunks of one policy together."""
    if len({tuple(part.measures) for part in parts}) > 1:
        raise BadInput(f"the measures of {label} must have the same names in every run")
    return Curve(
        experiment.name,
        experiment.problem.label,
        label,
        experiment.title,
        experiment.rounds,
        np.concatenate([part.regret for part in parts]),
        sum(part.cpu_seconds for part in parts),
        {name: np.concatenate([part.measures[name] for part in parts]) for name in parts[0].measures},
        joined(notes) if len(notes := [part.notes for part in parts if part.notes is not None]) == len(parts) else None,
        parts[0].engine,
        experiment.part,
    )
