"""Play chunks in threads of this process; compiled code lets them run at the same time."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from corebandit.experiments.chunks import Chunk, Runs


def play_in_threads(
    chunks: Sequence[Chunk],
    play: Callable[[Chunk, threading.Event], Runs],
    jobs: int,
    advance: Callable[[], None],
) -> list[Runs]:
    """Return what `play` makes of each chunk; call `advance` after each. After an error no thread is left at work."""
    stop = threading.Event()
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(play, chunk, stop) for chunk in chunks]
        try:
            for future in as_completed(futures):
                future.result()
                advance()
        finally:  # after an error or Ctrl-C: leave no thread at work, lose no finished chunk
            stop.set()
            pool.shutdown(cancel_futures=True)
    return [future.result() for future in futures]
