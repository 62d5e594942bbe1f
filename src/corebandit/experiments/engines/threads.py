"""Play in threads of this process; compiled code lets them run at the same time.

The threads are daemons and nobody waits for them: compiled code cannot be interrupted, and a run that is stopped shall
be gone within a second. What they still play is dropped; what they had finished is kept.
"""

import os
import queue
import threading
import time
from collections.abc import Sequence

from corebandit.compiled import machine_code
from corebandit.contracts.validate import check_count
from corebandit.experiments.engines.compile_ahead import compiling_ahead, games_to_compile, is_possible
from corebandit.experiments.engines.engine import Finish
from corebandit.experiments.engines.player import Stopped, play_runs
from corebandit.experiments.task import Wanted

AT_A_TIME = 10  # runs that a thread plays before it hands them over; one of a policy that runs in Python, which is slow
PATIENCE = 0.5  # seconds that threads have to end what they play
BLINK = 0.1  # seconds; so often the main thread looks up, since some libraries keep signals from waking it

Waiting = queue.SimpleQueue[tuple[int, Wanted]]
Errors = queue.SimpleQueue[BaseException]


class Threads:
    """An engine of `jobs` threads, by default one for each core; as many processes, less one, help to compile."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = check_count("jobs", (os.cpu_count() or 1) if jobs is None else jobs)

    @property
    def environment(self) -> str:
        """Return the libraries and the processor."""
        return machine_code.environment()

    def play(self, wanted: Sequence[Wanted], finish: Finish) -> None:
        """Play all that is wanted; each thread hands over what it has finished."""
        stop, waiting, errors = threading.Event(), Waiting(), Errors()
        for place, each in enumerate(wanted):
            for piece in each.cut(AT_A_TIME if each.task.policy.runs_compiled else 1):
                waiting.put((place, piece))
        threads = [
            threading.Thread(target=_work, args=(waiting, finish, errors, stop), daemon=True)
            for _ in range(min(self.jobs, waiting.qsize()))
        ]
        helpers = self.jobs - 1
        games = games_to_compile([each.task for each in wanted]) if is_possible(helpers) else []
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


def _work(waiting: Waiting, finish: Finish, errors: Errors, stop: threading.Event) -> None:
    """Play what is waiting until nothing is left, something fails, or until told to stop."""
    while not stop.is_set():
        try:
            place, piece = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            finish(place, piece.first, play_runs(*piece, stop))
        except Stopped:
            return
        except BaseException as error:  # whoever waits raises it
            errors.put(error)
            return
