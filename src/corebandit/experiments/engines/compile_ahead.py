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
from corebandit.experiments.chunks import Chunk
from corebandit.games.kinds import game_of
from corebandit.randomness.stream import stream

WORTH_A_PROCESS = 4  # kinds of games to compile; a process takes some 3 s to start, as much as one of them
WORKER = (
    sys.executable,
    "-P",
    "-m",
    "corebandit.experiments.engines.compile_worker",
)  # -P: do not import from the user's folder


@contextlib.contextmanager
def compiling_ahead(chunks: Sequence[Chunk], processes: int) -> Iterator[None]:
    """Compile in at most so many further processes until the context is left."""
    # Where Python is embedded there is none to start; frozen into one file, a program would start itself.
    is_possible = processes > 0 and sys.executable and not getattr(sys, "frozen", False)
    games = games_to_compile(chunks) if is_possible else []
    processes = min(processes, len(games) // WORTH_A_PROCESS)
    workers: list[subprocess.Popen[str]] = []
    try:
        with contextlib.suppress(OSError):  # no process to be had: then the run compiles alone
            for first in range(processes):
                workers.append(_worker(games[::-1][first::processes]))
        yield
    finally:
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.wait()


def games_to_compile(chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
    """Describe one game of each kind, policy against problem, whose machine code could be on disk and is not."""
    missing: dict[Any, dict[str, Any]] = {}
    played = {(id(chunk.problem), id(chunk.policy), chunk.horizon): chunk for chunk in chunks}  # of many chunks each
    for chunk in played.values():
        if not (chunk.policy.runs_compiled and is_listed(chunk.policy) and is_listed(chunk.problem)):
            continue
        instance = chunk.problem.draw(stream(0))
        game = game_of(instance)
        arguments = game.without_rounds(instance, chunk.policy, chunk.horizon)
        kind = (game.loop, *map(machine_type, arguments))
        if kind not in missing and game.loop.is_still_to_compile_for(*arguments):
            described = {"problem": chunk.problem.describe(), "policy": chunk.policy.describe()}
            missing[kind] = {**described, "horizon": chunk.horizon}
    return list(missing.values())


def _worker(games: Sequence[dict[str, Any]]) -> "subprocess.Popen[str]":
    """Start a process that compiles these games, silently: what it cannot compile, the run will, or will complain."""
    quiet = subprocess.DEVNULL
    worker = subprocess.Popen(WORKER, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, text=True)
    assert worker.stdin is not None
    with contextlib.suppress(OSError), worker.stdin as pipe:  # an OSError: it has ended at once
        pipe.write(json.dumps(games))
    return worker
