"""Measure CPU time on a machine that others use too: many short repetitions, taken in turns, the best of each."""

import time
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

CpuSeconds = float
Name = TypeVar("Name", bound=Hashable)


def cpu_seconds(work: Callable[[], object]) -> CpuSeconds:
    """Do the work once and return the CPU time it took."""
    started = time.process_time()
    work()
    return time.process_time() - started


def best_in_turns(tasks: Mapping[Name, Callable[[], CpuSeconds]], repetitions: int) -> dict[Name, CpuSeconds]:
    """Repeat all tasks in turns, A B C A B C ..., and return the least CPU time that each reported.

    A task reports its own CPU time, so what it prepares beforehand is not counted. Noise from outside only ever adds
    time, and in turns it hits all tasks alike: the least times are comparable with each other.
    """
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(repetitions):
        for name, task in tasks.items():
            best[name] = min(best[name], task())
    return best
