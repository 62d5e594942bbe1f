"""Play chunks in threads of this process; compiled code lets them run at the same time.

The threads are daemons and nobody waits for them: compiled code cannot be interrupted, and a run that is stopped shall
be gone within a second. What they still play is dropped; what they had finished is kept.
"""

import queue
import threading
import time
from collections.abc import Callable, Sequence

from corebandit.experiments.chunks import Chunk, Runs, Stopped

PATIENCE = 0.5  # seconds that threads have to end what they play
BLINK = 0.1  # seconds; so often the main thread looks up, since some libraries keep signals from waking it


def play_in_threads(
    chunks: Sequence[Chunk],
    play: Callable[[Chunk, threading.Event], Runs],
    jobs: int,
    advance: Callable[[], None],
) -> list[Runs]:
    """Return what `play` makes of each chunk; call `advance` after each.

    After an error, or Ctrl-C, no further chunk is begun.
    """
    stop = threading.Event()
    waiting: queue.SimpleQueue[tuple[int, Chunk]] = queue.SimpleQueue()
    finished: queue.SimpleQueue[tuple[int, Runs | BaseException]] = queue.SimpleQueue()
    for numbered in enumerate(chunks):
        waiting.put(numbered)

    def work() -> None:
        while not stop.is_set():
            try:
                index, chunk = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                finished.put((index, play(chunk, stop)))
            except Stopped:
                return
            except BaseException as error:  # whoever waits raises it
                finished.put((index, error))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(jobs, len(chunks)))]
    for thread in threads:
        thread.start()
    played: dict[int, Runs] = {}
    try:
        while len(played) < len(chunks):
            index, runs = _next(finished)
            if isinstance(runs, BaseException):
                raise runs
            played[index] = runs
            advance()
    finally:
        stop.set()
        deadline = time.monotonic() + PATIENCE
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
    return [played[index] for index in range(len(chunks))]


def _next(finished: "queue.SimpleQueue[tuple[int, Runs | BaseException]]") -> tuple[int, Runs | BaseException]:
    while True:
        try:
            return finished.get(timeout=BLINK)
        except queue.Empty:
            continue
