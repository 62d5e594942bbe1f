"""Run experiments: in parallel, resumable, and always to the same numbers.

The work is cut into chunks, a few runs of one policy on one problem. A chunk is a pure function of its key, so threads,
order and interruptions cannot change a number; with a folder, finished chunks are written at once and found again.
"""

import hashlib
import inspect
import os
import sys
import threading
import time
import warnings
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from corebandit.compiled import EntryPoint, fingerprint, is_ours, tuple_classes
from corebandit.experiment import Experiment
from corebandit.play import play_arms, play_features, play_rankings
from corebandit.progress import progress_bar
from corebandit.recipe import AnyPolicy, digest, offers_features, shows_rankings
from corebandit.result import CPU_SECONDS, Result, Runs
from corebandit.stream import stream, streams
from corebandit.validate import check_count

RUNS_PER_CHUNK = 10  # of a compiled policy; one that runs in Python is slow, so its runs are kept one by one


@dataclass(frozen=True)
class Chunk:
    """A few runs of one policy on one problem."""

    experiment: Experiment
    label: str
    first: int
    last: int  # one past the end

    @property
    def policy(self) -> AnyPolicy:
        """Return the policy to play."""
        return self.experiment.policies[self.label]

    @property
    def key(self) -> str:
        """Return a name for everything that decides the numbers, the code included."""
        experiment = self.experiment
        problem = experiment.problem
        instance = problem.draw(stream(0))
        state = self.policy.start_on(instance, experiment.horizon, 2)
        return digest(
            {
                "code": fingerprint(),
                "foreign code": _foreign_code([problem, instance, self.policy, state], self.policy.outside_code()),
                "foreign versions": self.policy.outside_versions(),
                "problem": problem.describe(),
                "policy": self.policy.describe(),
                "rounds": experiment.rounds.tolist(),
                "seed": experiment.seed,
                "regret": experiment.regret,
                "runs": [self.first, self.last],
            }
        )


def _foreign_code(recipes_and_states: Sequence[Any], outside: Collection[Any]) -> str:
    """Return a digest of the files that define what is from outside this package: classes, their bases, functions."""
    classes = {type(item) for item in recipes_and_states}.union(*map(tuple_classes, recipes_and_states), outside)
    definitions = {base for cls in classes for base in getattr(cls, "__mro__", [cls])}
    code = hashlib.sha256()
    for definition in sorted((item for item in definitions if not is_ours(item)), key=_full_name):
        try:
            code.update(Path(inspect.getfile(definition)).read_bytes())
        except (OSError, TypeError):
            if definition.__module__ not in sys.builtin_module_names:  # typed in by hand: it may have changed unseen
                code.update(os.urandom(16))
    return code.hexdigest()


def _full_name(definition: Any) -> str:
    return f"{definition.__module__}.{definition.__qualname__}"


def _chunks(experiments: Sequence[Experiment]) -> Iterator[Chunk]:
    for experiment in experiments:
        for label, policy in experiment.policies.items():
            size = RUNS_PER_CHUNK if policy.runs_compiled else 1
            for first in range(0, experiment.runs, size):
                yield Chunk(experiment, label, first, min(first + size, experiment.runs))


class Stopped(Exception):
    """A chunk was left half-way because the run is being stopped."""


class Stoppable:
    """A state that plays in Python, until the run is being stopped."""

    def __init__(self, state: Any, stop: threading.Event) -> None:
        self._state, self._stop = state, stop

    def __getattr__(self, name: str) -> Any:
        if self._stop.is_set():
            raise Stopped
        return getattr(self._state, name)


def play_chunk(chunk: Chunk, stop: threading.Event) -> Runs:
    """Play the runs of a chunk; a pure function of its key."""
    experiment = chunk.experiment
    rounds, seed = experiment.rounds, experiment.seed
    is_realised = experiment.regret == "realised"
    problem_id = digest(experiment.problem.describe())
    regret = np.zeros((chunk.last - chunk.first, rounds.size))
    cpu_seconds, complaint = 0.0, ""
    for index, run in enumerate(range(chunk.first, chunk.last)):
        if stop.is_set():
            raise Stopped
        problem = experiment.problem.draw(stream(seed, problem_id, run, "instance"))
        state, play = _prepared(chunk, problem, (seed, problem_id, run), stop)
        if index == 0:  # no rounds at all: compiles, so that the clock does not see it
            play(np.zeros(1, np.int64), is_realised, regret[index])
        started = time.thread_time()
        play(rounds, is_realised, regret[index])
        cpu_seconds += time.thread_time() - started
        if not complaint and (complaint := chunk.policy.complaint(state)):  # one of a chunk is enough
            warnings.warn(f"{chunk.label}: {complaint}", stacklevel=2)
    return Runs(regret, cpu_seconds)


def _prepared(
    chunk: Chunk, problem: Any, identity: tuple[int, str, int], stop: threading.Event
) -> tuple[Any, Callable[..., None]]:
    """Return a new state and the loop that plays it: that takes the rounds, the kind of regret and room."""
    horizon, policy = chunk.experiment.horizon, chunk.policy
    capacity = horizon * problem.n_positions if shows_rankings(problem) else horizon
    state = policy.start_on(problem, horizon, capacity)

    def ready(entry: EntryPoint, *arguments: Any) -> tuple[Any, Callable[..., None]]:
        play = entry.prepared(state, problem, compiled=policy.runs_compiled)
        return state, partial(play, state if policy.runs_compiled else Stoppable(state, stop), problem, *arguments)

    rng = stream(*identity, "policy")
    if shows_rankings(problem):
        chance, ranking = np.empty((2, problem.n_items)), np.zeros(problem.n_positions, np.int64)
        return ready(play_rankings, rng, stream(*identity, "users"), chance, ranking)
    rewards = streams(problem.n_arms, *identity, "rewards")
    if offers_features(problem):
        contexts, features = stream(*identity, "contexts"), np.empty((problem.n_arms, problem.n_features))
        return ready(play_features, rng, contexts, rewards, features)
    return ready(play_arms, rng, rewards)


class Store:
    """Finished chunks in a folder, one file each, written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        """Make the folder, or say why it cannot be written."""
        self.folder = folder
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
        Threads; by default one for each core.
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

    chunks = list(_chunks(experiments))
    with progress_bar(len(chunks), shown=progress) as advance, ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(finish, chunk) for chunk in chunks]
        try:
            for future in as_completed(futures):
                future.result()
                advance()
        finally:  # after an error or Ctrl-C: leave no thread at work, lose no finished chunk
            stop.set()
            pool.shutdown(cancel_futures=True)
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
