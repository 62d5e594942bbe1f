"""Run experiments: in parallel, resumable, and always to the same numbers.

With a folder, finished chunks are written at once and found again.
"""

import contextlib
import os
import threading
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np
import polars as pl

from corebandit.chunks import Chunk, chunks_of, play_chunk
from corebandit.compile_ahead import compiling_ahead
from corebandit.experiment import Experiment
from corebandit.progress import progress_bar
from corebandit.result import CPU_SECONDS, Result, Runs
from corebandit.validate import check_count


class Store:
    """Finished chunks in a folder, one file each, written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        """Make the folder, or say why it cannot be written."""
        self.folder = folder
        self._made = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"cannot write results to {folder}: {error.strerror}") from error
        if not os.access(folder, os.W_OK):
            raise ValueError(f"cannot write results to {folder}: the folder is not writable")

    def find(self, key: str) -> Runs | None:
        """Return the chunk of this key, or None if it is not there."""
        try:
            with np.load(self.folder / f"{key}.npz") as saved:
                return Runs(saved["regret"], float(saved["cpu_seconds"]))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):  # not there, or torn by a power cut
            return None

    def keep(self, key: str, runs: Runs) -> None:
        """Write a chunk."""
        part = self.folder / f"{key}.{os.getpid()}.{threading.get_ident()}.part"
        with part.open("wb") as file:
            np.savez(file, regret=runs.regret, cpu_seconds=np.array(runs.cpu_seconds))
        os.replace(part, self.folder / f"{key}.npz")

    def leave_nothing_empty(self) -> None:
        """Remove the folders made here if they hold nothing."""
        with contextlib.suppress(OSError):  # one holds something
            for path in self._made:
                path.rmdir()

    def clear(self) -> None:
        """Forget all chunks."""
        for path in self.folder.glob("*.npz"):
            path.unlink(missing_ok=True)


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
    store = Store(Path(folder)) if folder is not None else None
    if store and fresh:
        store.clear()
    stop = threading.Event()

    def finish(chunk: Chunk) -> Runs:
        if store is None:
            return play_chunk(chunk, stop)
        key = chunk.key
        runs = store.find(key)
        if runs is None:
            runs = play_chunk(chunk, stop)
            store.keep(key, runs)
        return runs

    chunks = list(chunks_of(experiments))
    with (
        compiling_ahead(experiments, processes=jobs - 1),
        progress_bar(len(chunks), shown=progress) as advance,
        ThreadPoolExecutor(jobs) as pool,
    ):
        futures = [pool.submit(finish, chunk) for chunk in chunks]
        try:
            for future in as_completed(futures):
                future.result()
                advance()
        finally:  # after an error or Ctrl-C: leave no thread at work, lose no finished chunk
            stop.set()
            pool.shutdown(cancel_futures=True)
            if store:
                store.leave_nothing_empty()
    return _gathered(experiments, chunks, [future.result() for future in futures])


def _check_distinct(experiments: Sequence[Experiment]) -> None:
    if not experiments:
        raise ValueError("experiments must hold at least one experiment")
    seen: set[tuple[str, str, str]] = set()
    for experiment in experiments:
        for label in experiment.policies:
            identity = (experiment.name, experiment.problem.label, label)
            if identity in seen:
                raise ValueError(
                    f"two experiments called {experiment.name!r} have {label} on the problem "
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
