"""The pieces that experiments are cut into: a few runs of one policy on one problem.

A chunk is a pure function of its key, so threads, order and interruptions cannot change a number.
"""

import hashlib
import os
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from corebandit.compiled.bridge import EntryPoint
from corebandit.compiled.machine_code import environment
from corebandit.compiled.sources import UnknownSource, fingerprint
from corebandit.contracts.recipe import AnyPolicy, digest
from corebandit.contracts.state import FloatArray
from corebandit.experiments.experiment import Experiment
from corebandit.games.game import NO_ROUNDS
from corebandit.games.kinds import game_of
from corebandit.randomness.stream import stream

RUNS_PER_CHUNK = 10  # of a compiled policy; one that runs in Python is slow, so its runs are kept one by one
COMPILING = threading.Lock()  # numba compiles one function at a time anyway


class Runs(NamedTuple):
    """A few runs of one policy."""

    regret: FloatArray  # (runs, checkpoints)
    cpu_seconds: float


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
    def shape(self) -> tuple[int, int]:
        """Return how many runs there are, and how many checkpoints."""
        return self.last - self.first, self.experiment.rounds.size

    @property
    def key(self) -> str:
        """Return a name for everything that decides the numbers, the code included."""
        experiment = self.experiment
        return digest(
            {
                "code": self._code(),
                "environment": environment(),
                "foreign versions": self.policy.outside_versions(),
                "problem": experiment.problem.describe(),
                "policy": self.policy.describe(),
                "rounds": experiment.rounds.tolist(),
                "seed": experiment.seed,
                "regret": experiment.regret,
                "runs": [self.first, self.last],
            }
        )

    def _code(self) -> str:
        """Identify what decides what happens in a run; where nobody can, by a name that never comes back."""
        problem = self.experiment.problem
        instance = problem.draw(stream(0))
        state = self.policy.start_on(instance, self.experiment.horizon, 2)
        found = {play_chunk, game_of(instance).loop.in_python, *self.policy.outside_code()}
        try:
            code = fingerprint(found.union(*map(_classes_in, (problem, instance, self.policy, state))))
        except UnknownSource:
            return os.urandom(16).hex()
        return f"{code} {_contents((instance, state))}"  # which may come from files


def _contents(values: Any) -> str:
    """Return a digest of the arrays and numbers in nested tuples."""
    content = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray) and value.dtype != object:
            content.update(f"{value.dtype} {value.shape}".encode() + np.ascontiguousarray(value).tobytes())
        elif isinstance(value, tuple):
            content.update(_contents(value).encode())
        elif isinstance(value, bool | int | float):
            content.update(repr(value).encode())
    return content.hexdigest()


def _classes_in(value: Any) -> set[type]:
    """Return the classes of all recipes and named tuples in a value, which may be one and may hold more."""
    if is_dataclass(value) and not isinstance(value, type):
        return {type(value)}.union(*(_classes_in(getattr(value, field.name, None)) for field in fields(value)))
    if isinstance(value, tuple | list):
        own = {type(value)} if hasattr(value, "_fields") else set()
        return own.union(*map(_classes_in, value))
    return set()


def chunks_of(experiments: Sequence[Experiment]) -> Iterator[Chunk]:
    """Cut experiments into chunks."""
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
    experiment, policy = chunk.experiment, chunk.policy
    rounds, seed = experiment.rounds, experiment.seed
    is_realised = experiment.regret == "realised"
    problem_id = digest(experiment.problem.describe())
    regret = np.zeros((chunk.last - chunk.first, rounds.size))
    cpu_seconds, complaint = 0.0, ""
    for index, run in enumerate(range(chunk.first, chunk.last)):
        if stop.is_set():
            raise Stopped
        problem = experiment.problem.draw(stream(seed, problem_id, run, "instance"))
        game = game_of(problem)
        state = policy.start_on(problem, experiment.horizon, game.n_observations(problem, experiment.horizon))
        needs = game.needs(problem, (seed, problem_id, run))
        function = game.loop.prepared(compiled=policy.runs_compiled)
        player = state if policy.runs_compiled else Stoppable(state, stop)
        play = partial(function, player, problem, *needs)
        if index == 0 and policy.runs_compiled:
            _compile(game.loop, (state, problem, *needs, NO_ROUNDS, is_realised, regret[index]), stop)
        started = time.thread_time()
        play(rounds, is_realised, regret[index])
        cpu_seconds += time.thread_time() - started
        if not complaint and (complaint := policy.complaint(state)):  # one of a chunk is enough
            warnings.warn(f"{chunk.label}: {complaint}", stacklevel=2)
    return Runs(regret, cpu_seconds)


def _compile(entry: EntryPoint, arguments: tuple[Any, ...], stop: threading.Event) -> None:
    """Compile by playing no round at all, before the clock is started; who waits for another to compile can stop."""
    if entry.is_compiled_for(*arguments):
        return
    with COMPILING:
        if not stop.is_set():
            entry.compiled(*arguments)
    if stop.is_set():
        raise Stopped
