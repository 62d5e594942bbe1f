"""Play chunks in threads of this process; compiled code lets them run at the same time.

The threads are daemons and nobody waits for them: compiled code cannot be interrupted, and a run that is stopped shall
be gone within a second. What they still play is dropped; what they had finished is kept.
"""

import os
import queue
import threading
import time
from collections.abc import Callable, Sequence

from corebandit.compiled import machine_code
from corebandit.contracts.recipe import AnyPolicy
from corebandit.contracts.validate import check_count
from corebandit.experiments.chunks import Chunk, Runs
from corebandit.experiments.engines.compile_ahead import compiling_ahead, games_to_compile, is_possible
from corebandit.experiments.engines.player import Stopped, play_chunk

RUNS_PER_CHUNK = 10
PATIENCE = 0.5  # seconds that threads have to end what they play
BLINK = 0.1  # seconds; so often the main thread looks up, since some libraries keep signals from waking it

Waiting = queue.SimpleQueue[tuple[int, Chunk]]
Errors = queue.SimpleQueue[BaseException]


class Threads:
    """An engine of `jobs` threads, by default one for each core; as many processes, less one, help to compile."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = check_count("jobs", (os.cpu_count() or 1) if jobs is None else jobs)

    @property
    def environment(self) -> str:
        """Return the libraries and the processor."""
        return machine_code.environment()

    def runs_per_chunk(self, policy: AnyPolicy) -> int:
        """Return how many runs make a chunk: one of a policy that runs in Python, since that is slow."""
        return RUNS_PER_CHUNK if policy.runs_compiled else 1

    def play(self, chunks: Sequence[Chunk], finish: Callable[[int, Runs], None]) -> None:
        """Play all chunks; each thread hands over what it has finished."""
        stop, waiting, errors = threading.Event(), Waiting(), Errors()
        for numbered in enumerate(chunks):
            waiting.put(numbered)
        threads = [
            threading.Thread(target=_work, args=(waiting, finish, errors, stop), daemon=True)
            for _ in range(min(self.jobs, len(chunks)))
        ]
        helpers = self.jobs - 1
        games = games_to_compile(chunks) if is_possible(helpers) else []
        with compiling_ahead(games, helpers, "threads"):
            for thread in threads:
                thread.start()
            try:
                while any(thread.is_alive() for thread in threads) and errors.empty():
                    for thread in threads:
                        thread.join(BLINK / len(threads))
            finally:
                stop.set()
                deadline = time.monotonic() + PATIENCE
                for thread in threads:
                    thread.join(max(0.0, deadline - time.monotonic()))
        if not errors.empty():
            raise errors.get()


def _work(waiting: Waiting, finish: Callable[[int, Runs], None], errors: Errors, stop: threading.Event) -> None:
    """Play what is waiting until nothing is left, something fails, or until told to stop."""
    while not stop.is_set():
        try:
            index, chunk = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            finish(index, play_chunk(chunk, stop))
        except Stopped:
            return
        except BaseException as error:  # whoever waits raises it
            errors.put(error)
            return
