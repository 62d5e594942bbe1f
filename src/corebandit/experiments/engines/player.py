"""Play runs on the processor: what engines do that have nothing faster."""

import threading
import time
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from corebandit.compiled.bridge import CannotBeCompiled, EntryPoint
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import digest
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import shortened
from corebandit.experiments.task import Runs, Task, drawn
from corebandit.games.blame import is_foreign
from corebandit.games.game import NO_ROUNDS, Game
from corebandit.games.kinds import game_of
from corebandit.games.notes import Notes, in_short, joined
from corebandit.games.rehearsal import check_unchanged, truth_of
from corebandit.parts.rounds import UNKNOWN, horizon_or_unknown

COMPILING = threading.Lock()  # numba compiles one function at a time anyway
NEVER = threading.Event()


class Stopped(Exception):
    """Runs were left half-way because the run is being stopped."""


class Stoppable:
    """A state that plays in Python, until the run is being stopped."""

    def __init__(self, state: Any, stop: threading.Event) -> None:
        self._state, self._stop = state, stop

    def __getattr__(self, name: str) -> Any:
        if self._stop.is_set():
            raise Stopped
        return getattr(self._state, name)


def play_runs(task: Task, first: int, last: int, stop: threading.Event = NEVER) -> Runs:
    """Play the runs of a task from `first` up to `last`, not included."""
    policy, rounds = task.policy, task.rounds
    is_realised = task.regret == "realised"
    problem_id = digest(task.problem.describe())
    regret, noted = np.zeros((last - first, rounds.size)), []
    cpu_seconds, complaint = 0.0, ""
    measured: list[Any] = []
    for index, run in enumerate(range(first, last)):
        if stop.is_set():
            raise Stopped
        game, state, problem, needs = _begin(task, problem_id, run)
        notes = game.notes(problem, rounds.size, task.horizon if task.actions else 0)
        if index == 0 and policy.runs_compiled:
            nothing = (NO_ROUNDS, UNKNOWN, is_realised, regret[index], notes)
            _compile(task.label, game.loop, (state, problem, *needs, *nothing), stop)
        truth = truth_of(problem, is_realised)
        started = time.thread_time()
        try:
            _play(task, game, state, problem, needs, rounds, regret[index], notes, stop)
        except Exception as error:
            if isinstance(error, Stopped) or not (isinstance(error, BadInput) or _is_foreign(task, problem)):
                raise
            failed = _failing_round(task, problem_id, run, stop)
            raise BadInput(f"{task.label} fails in round {failed:,} of run {run}: {error}") from error
        cpu_seconds += time.thread_time() - started
        check_unchanged(task.problem, problem, truth)
        noted.append(in_short(notes))
        measured.append(policy.measures(state))
        complaint = complaint or policy.complaint(state)  # one is enough
    return Runs(regret, cpu_seconds, gathered(task.label, measured), complaint, joined(noted))


def gathered(label: str, measured: Sequence[Any]) -> dict[str, FloatArray]:
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


def _begin(task: Task, problem_id: str, run: int) -> tuple[Game, Any, Any, tuple[Any, ...]]:
    """Return the game of a run, a state that has seen nothing, the problem, and what the loop needs."""
    problem = drawn(task.problem, problem_id, task.seed, run)
    game = game_of(problem)
    state = task.policy.start_on(problem, task.told_horizon, game.n_observations(problem, task.horizon))
    return game, state, problem, game.needs(problem, (task.seed, problem_id, run))


def _play(
    task: Task,
    game: Game,
    state: Any,
    problem: Any,
    needs: tuple[Any, ...],
    rounds: IntArray,
    regret: FloatArray,
    notes: Notes,
    stop: threading.Event,
) -> None:
    function = game.loop.prepared(compiled=task.policy.runs_compiled)
    player = state if task.policy.runs_compiled else Stoppable(state, stop)
    told, is_realised = horizon_or_unknown(task.told_horizon), task.regret == "realised"
    function(player, problem, *needs, rounds, told, is_realised, regret, notes)


def _is_foreign(task: Task, problem: Any) -> bool:
    return is_foreign(task.policy) or is_foreign(task.problem) or is_foreign(problem)


def _failing_round(task: Task, problem_id: str, run: int, stop: threading.Event) -> int:
    """Return the round in which a run fails, by playing it again to the middle of where it may be, and again."""
    good, bad = 0, task.horizon
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            game, state, problem, needs = _begin(task, problem_id, run)
            _play(task, game, state, problem, needs, np.array([middle]), np.zeros(1), game.notes(problem, 1), stop)
        except Stopped:
            raise
        except Exception:
            bad = middle
        else:
            good = middle
    return bad


def _compile(label: str, entry: EntryPoint, arguments: tuple[Any, ...], stop: threading.Event) -> None:
    """Compile by playing no round at all, before the clock is started; who waits for another to compile can stop."""
    if entry.is_compiled_for(*arguments):
        return
    with COMPILING:
        if not stop.is_set():
            try:
                entry.compiled_for(*arguments)
            except CannotBeCompiled as error:
                raise BadInput(f"{label} {error}") from error
    if stop.is_set():
        raise Stopped
