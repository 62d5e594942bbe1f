"""Play one chunk on the processor: what engines do that have nothing faster."""

import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import digest
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import shortened
from corebandit.experiments.chunks import Chunk, Runs
from corebandit.games.game import NO_ROUNDS
from corebandit.games.kinds import game_of
from corebandit.randomness.stream import stream

COMPILING = threading.Lock()  # numba compiles one function at a time anyway
NEVER = threading.Event()


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


def play_chunk(chunk: Chunk, stop: threading.Event = NEVER) -> Runs:
    """Play the runs of a chunk; a pure function of its key."""
    policy, rounds, seed = chunk.policy, chunk.rounds, chunk.seed
    is_realised = chunk.regret == "realised"
    problem_id = digest(chunk.problem.describe())
    regret = np.zeros(chunk.shape)
    cpu_seconds, complaint = 0.0, ""
    measured: list[Any] = []
    for index, run in enumerate(range(chunk.first, chunk.last)):
        if stop.is_set():
            raise Stopped
        problem = chunk.problem.draw(stream(seed, problem_id, run, "instance"))
        game = game_of(problem)
        state = policy.start_on(problem, chunk.horizon, game.n_observations(problem, chunk.horizon))
        needs = game.needs(problem, (seed, problem_id, run))
        function = game.loop.prepared(compiled=policy.runs_compiled)
        player = state if policy.runs_compiled else Stoppable(state, stop)
        play = partial(function, player, problem, *needs)
        if index == 0 and policy.runs_compiled:
            _compile(game.loop, (state, problem, *needs, NO_ROUNDS, is_realised, regret[index]), stop)
        started = time.thread_time()
        play(rounds, is_realised, regret[index])
        cpu_seconds += time.thread_time() - started
        measured.append(policy.measures(state))
        complaint = complaint or policy.complaint(state)  # one of a chunk is enough
    return Runs(regret, cpu_seconds, _gathered(chunk.label, measured), complaint)


def _gathered(label: str, measured: Sequence[Any]) -> dict[str, FloatArray]:
    """Return the measures of all runs by name."""
    first = measured[0]
    if not all(isinstance(each, Mapping) and each.keys() == first.keys() for each in measured):
        raise BadInput(
            f"the measures of {label} must be a table with the same names in every run, not {shortened(first)}"
        )
    for name, value in first.items():
        if not isinstance(name, str) or not name.isprintable() or not isinstance(value, Real | np.bool_):
            raise BadInput(f"a measure of {label} must be a number by name, not {shortened(name)}: {shortened(value)}")
    return {name: np.array([each[name] for each in measured], dtype=np.float64) for name in first}


def _compile(entry: EntryPoint, arguments: tuple[Any, ...], stop: threading.Event) -> None:
    """Compile by playing no round at all, before the clock is started; who waits for another to compile can stop."""
    if entry.is_compiled_for(*arguments):
        return
    with COMPILING:
        if not stop.is_set():
            entry.compiled(*arguments)
    if stop.is_set():
        raise Stopped
