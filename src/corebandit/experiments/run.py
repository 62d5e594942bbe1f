"""Run experiments: in parallel, resumable, and always to the same numbers.

With a folder, finished chunks are written at once and found again.
"""

import os
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import check_count, shortened
from corebandit.experiments.chunk_store import ChunkStore
from corebandit.experiments.chunks import Chunk, Runs, chunks_of, play_chunk
from corebandit.experiments.engines.compile_ahead import compiling_ahead
from corebandit.experiments.engines.threads import play_in_threads
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.progress import progress_bar
from corebandit.experiments.result import CPU_SECONDS, Result


def run(
    experiments: Experiment | Sequence[Experiment],
    *,
    jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    progress: bool = False,
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
        Forget what the folder holds.
    progress
        Show a bar with the time left on the standard error.

    >>> from corebandit import BernoulliBandit, CORe
    >>> result = run(Experiment(BernoulliBandit(), [CORe()], horizon=500, runs=4))
    >>> result.frame.columns
    ['figure', 'problem', 'policy', 'run', 'round', 'regret']
    """
    experiments = [experiments] if isinstance(experiments, Experiment) else list(experiments)
    _check_distinct(experiments)
    jobs = check_count("jobs", (os.cpu_count() or 1) if jobs is None else jobs)
    store = ChunkStore(Path(folder)) if folder is not None else None
    if store and fresh:
        store.clear()

    def finish(chunk: Chunk, stop: threading.Event) -> Runs:
        if store is None:
            return play_chunk(chunk, stop)
        key = chunk.key
        runs = store.find(key, chunk.shape)
        if runs is None:
            runs = play_chunk(chunk, stop)
            store.keep(key, runs)
        return runs

    chunks = list(chunks_of(experiments))
    try:
        with compiling_ahead(experiments, processes=jobs - 1), progress_bar(len(chunks), shown=progress) as advance:
            played = play_in_threads(chunks, finish, jobs, advance)
    finally:
        if store:
            store.leave_nothing_empty()
    return _gathered(experiments, chunks, played)


def _check_distinct(experiments: Sequence[Experiment]) -> None:
    if not experiments:
        raise BadInput("experiments must hold at least one experiment")
    seen: set[tuple[str, str, str]] = set()
    for experiment in experiments:
        for label in experiment.policies:
            identity = (experiment.name, experiment.problem.label, label)
            if identity in seen:
                raise BadInput(
                    f"two experiments called {shortened(experiment.name)} have {label} on the problem "
                    f"{experiment.problem.label}: give them different names"
                )
            seen.add(identity)


def _gathered(experiments: Sequence[Experiment], chunks: Sequence[Chunk], runs: Sequence[Runs]) -> Result:
    """Put the chunks together, in the order of the experiments."""
    parts: list[pl.DataFrame] = []
    seconds: dict[tuple[str, ...], float] = {}
    for chunk, played in zip(chunks, runs, strict=True):
        names = {
            "figure": chunk.experiment.name,
            "problem": chunk.experiment.problem.label,
            "policy": chunk.label,
        }
        n_runs, n_rounds = played.regret.shape
        columns = {
            "run": np.repeat(np.arange(chunk.first, chunk.last), n_rounds),
            "round": np.tile(chunk.experiment.rounds, n_runs),
            "regret": played.regret.ravel(),
        }
        constants = [pl.lit(value).alias(name) for name, value in names.items()]
        parts.append(pl.DataFrame(columns).select(*constants, *columns))
        key = tuple(names.values())
        seconds[key] = seconds.get(key, 0.0) + played.cpu_seconds
    spent = pl.DataFrame([(*key, value) for key, value in seconds.items()], schema=CPU_SECONDS, orient="row")
    return Result(pl.concat(parts), [experiment.describe() for experiment in experiments], spent)
