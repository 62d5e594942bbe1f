"""How fast are click models fitted, and in how much memory? Simulates a log, reads it and fits CM, DCM and PBM."""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from rich.console import Console

from corebandit.clicks import DCM, fit
from corebandit.clicks.readers.read_log import read_log
from corebandit.clicks.readers.writing import write_simulated_log
from printing import new_console, new_table, reached

N_DOCUMENTS = 10
TARGET_SESSIONS = 10_000_000  # the size that the targets are meant for
CASCADES_TARGET, PBM_TARGET, MEMORY_TARGET = 120.0, 600.0, 6e9  # seconds for CM and DCM, seconds for PBM, bytes

Value = TypeVar("Value")


def timed(work: Callable[[], Value]) -> tuple[Value, float]:
    """Do the work and return what came out and the seconds it took; reading files counts, so not only CPU time."""
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def peak_memory() -> float:
    """Return the most bytes that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def made_up_models(n_queries: int) -> dict[str, DCM]:
    """Return users of some queries who click more than once."""
    rng = np.random.default_rng(0)
    stops = np.linspace(0.7, 0.4, N_DOCUMENTS).tolist()
    attractions = rng.beta(0.8, 4.0, size=(n_queries, N_DOCUMENTS)).tolist()
    return {f"query {i}": DCM(attraction, stops) for i, attraction in enumerate(attractions)}


def report(n_sessions: int, n_queries: int, iterations: int, console: Console) -> None:
    """Measure and print."""
    headers = ("", "s", "sessions/s", "peak GB", "target s", "")
    table = new_table(f"{n_sessions:,} sessions, {n_queries:,} queries", *headers)

    def add_row(what: str, seconds: float, target: float | None = None) -> None:
        verdict = ("", "")
        if target is not None and n_sessions >= TARGET_SESSIONS:
            verdict = f"{target:.0f}", reached(seconds <= target)
        table.add_row(what, f"{seconds:,.1f}", f"{n_sessions / seconds:,.0f}", f"{peak_memory() / 1e9:.2f}", *verdict)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        _, seconds = timed(lambda: write_simulated_log(path, made_up_models(n_queries), n_sessions))
        add_row(f"simulate DCM, {path.stat().st_size / 1e6:,.0f} MB of Parquet", seconds)
        log, reading = timed(lambda: read_log(path))
        add_row("read", reading)
        seconds_of = {}
        for name in ("CM", "DCM", "PBM"):
            fitted, seconds_of[name] = timed(lambda name=name: fit(name, log, iterations=iterations, tolerance=0))
            add_row(f"fit {name}", seconds_of[name])
            add_row(f"evaluate {name}", timed(lambda fitted=fitted: fitted.evaluate(log))[1])
    cascades = reading + seconds_of["CM"] + seconds_of["DCM"]
    add_row(f"read, fit CM and DCM, {iterations} iterations", cascades, CASCADES_TARGET)
    add_row(f"read, fit PBM, {iterations} iterations", reading + seconds_of["PBM"], PBM_TARGET)
    console.print(table)
    console.print(f"Peak memory {peak_memory() / 1e9:.2f} GB, target {MEMORY_TARGET / 1e9:.0f} GB: ", end="")
    console.print(reached(peak_memory() <= MEMORY_TARGET))


def main() -> None:
    """Read the command line and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1_000_000, help="10000000 is the size the targets are for")
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--iterations", type=int, default=20, help="of EM")
    arguments = parser.parse_args()
    report(arguments.sessions, arguments.queries, arguments.iterations, new_console())


if __name__ == "__main__":
    main()
