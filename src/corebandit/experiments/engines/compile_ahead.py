"""Compile in further processes while experiments run, because numba compiles only one function at a time in each.

They begin at the far end of what is to be compiled, the run itself at the near one, and each keeps on disk what the
other will look for there. So nobody waits, and only what both are compiling when they meet is compiled twice.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from corebandit.catalogue import is_listed
from corebandit.compiled.bridge import machine_type
from corebandit.experiments.task import Task
from corebandit.games.kinds import game_of
from corebandit.randomness.stream import stream

Game = dict[str, Any]  # a policy, a problem and a horizon, ready for JSON

WORTH_A_PROCESS = 4  # kinds of games to compile; a process takes some 3 s to start, as much as one of them
WORKER = (
    sys.executable,
    "-P",
    "-m",
    "corebandit.experiments.engines.compile_worker",
)  # -P: do not import from the user's folder


def is_possible(processes: int) -> bool:
    """Tell whether so many processes can be started."""
    # Where Python is embedded there is none to start; frozen into one file, a program would start itself.
    return bool(processes > 0 and sys.executable and not getattr(sys, "frozen", False))


@contextlib.contextmanager
def compiling_ahead(games: Sequence[Game], processes: int, engine: str) -> Iterator[None]:
    """Compile games for an engine in at most so many further processes until the context is left."""
    processes = min(processes, len(games) // WORTH_A_PROCESS)
    workers: list[subprocess.Popen[str]] = []
    try:
        with contextlib.suppress(OSError):  # no process to be had: then the run compiles alone
            for first in range(processes):
                workers.append(_worker(games[::-1][first::processes], engine))
        yield
    finally:
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.wait()


def games_to_compile(tasks: Sequence[Task]) -> list[Game]:
    """Describe one game of each kind, policy against problem, whose machine code could be on disk and is not."""
    missing: dict[Any, Game] = {}
    for task in tasks:
        if not (task.policy.runs_compiled and can_travel(task)):
            continue
        instance = task.problem.draw(stream(0))
        game = game_of(instance)
        arguments = game.without_rounds(instance, task.policy, task.told_horizon)
        kind = (game.loop, *map(machine_type, arguments))
        if kind not in missing and game.loop.is_still_to_compile_for(*arguments):
            missing[kind] = described(task)
    return list(missing.values())


def can_travel(task: Task) -> bool:
    """Tell whether another process can know a task by its description."""
    return is_listed(task.policy) and is_listed(task.problem)


def described(task: Task) -> Game:
    """Describe the game of a task to another process."""
    return {"problem": task.problem.describe(), "policy": task.policy.describe(), "horizon": task.told_horizon}


def _worker(games: Sequence[Game], engine: str) -> "subprocess.Popen[str]":
    """Start a process that compiles these games, silently: what it cannot compile, the run will, or will complain."""
    quiet = subprocess.DEVNULL
    worker = subprocess.Popen(WORKER, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, text=True)
    assert worker.stdin is not None
    with contextlib.suppress(OSError), worker.stdin as pipe:  # an OSError: it has ended at once
        pipe.write(json.dumps({"engine": engine, "games": list(games)}))
    return worker
