"""The pieces that experiments are cut into: a few runs of one policy on one problem.

A chunk is a pure function of its key, so threads, order and interruptions cannot change a number.
"""

import hashlib
import inspect
import os
import sys
import threading
import time
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from corebandit.compiled import EntryPoint, is_ours, tuple_classes
from corebandit.experiment import Experiment
from corebandit.machine_code import fingerprint
from corebandit.play import play_arms, play_features, play_rankings
from corebandit.recipe import AnyPolicy, digest, offers_features, shows_rankings
from corebandit.result import Runs
from corebandit.stream import stream, streams

RUNS_PER_CHUNK = 10  # of a compiled policy; one that runs in Python is slow, so its runs are kept one by one
NO_ROUNDS = np.zeros(1, np.int64)
COMPILING = threading.Lock()  # numba compiles one function at a time anyway


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
        state = policy.start_on(problem, experiment.horizon, _observations(problem, experiment.horizon))
        entry, streams_and_room = _game(problem, (seed, problem_id, run))
        function = entry.prepared(state, problem, compiled=policy.runs_compiled)
        player = state if policy.runs_compiled else Stoppable(state, stop)
        play = partial(function, player, problem, *streams_and_room)
        if index == 0 and policy.runs_compiled:
            _compile(entry, (state, problem, *streams_and_room, NO_ROUNDS, is_realised, regret[index]), stop)
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
            entry.prepared(*arguments)(*arguments)
    if stop.is_set():
        raise Stopped


def _observations(problem: Any, horizon: int) -> int:
    """Return how many rewards a state must have room for."""
    return horizon * problem.n_positions if shows_rankings(problem) else horizon


def _game(problem: Any, identity: tuple[int, str, int]) -> tuple[EntryPoint, tuple[Any, ...]]:
    """Return the loop that plays the problem, and what it needs: the streams of this run, and room."""
    rng = stream(*identity, "policy")
    if shows_rankings(problem):
        chance, ranking = np.empty((2, problem.n_items)), np.zeros(problem.n_positions, np.int64)
        return play_rankings, (rng, stream(*identity, "users"), chance, ranking)
    rewards = streams(problem.n_arms, *identity, "rewards")
    if offers_features(problem):
        contexts, features = stream(*identity, "contexts"), np.empty((problem.n_arms, problem.n_features))
        return play_features, (rng, contexts, rewards, features)
    return play_arms, (rng, rewards)


def game_of_no_rounds(problem: Any, policy: AnyPolicy, horizon: int) -> tuple[EntryPoint, tuple[Any, ...]]:
    """Return the loop for a policy on a drawn problem and arguments to play no round: calling it only compiles."""
    state = policy.start_on(problem, horizon, 2)
    entry, streams_and_room = _game(problem, (0, "", 0))
    return entry, (state, problem, *streams_and_room, NO_ROUNDS, False, np.zeros(1))
