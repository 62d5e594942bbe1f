"""Progress of long work, on the standard error."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PAUSE = 5.0  # seconds between two plain lines


@contextmanager
def progress_bar(total: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that is told how many more of `total` steps are done; show a bar with the time left if `shown`.

    Without rich a plain line every few seconds takes its place.
    """
    if not shown:
        yield lambda steps: None
        return
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
    except ImportError:
        yield _plain_lines(total)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("runs", total=total)
        yield lambda steps: bar.advance(task, steps)


def _plain_lines(total: int) -> Callable[[int], None]:
    done, started = 0, time.monotonic()
    told = started

    def advance(steps: int) -> None:
        nonlocal done, told
        done, now = done + steps, time.monotonic()
        if now - told >= PAUSE or done == total:
            told = now
            print(f"{done:,} of {total:,} runs, {now - started:.0f} s", file=sys.stderr, flush=True)

    return advance
