"""How long a durable agent takes for a decision and its reward, beside a bare insert for each.

    uv run python benchmarks/durable.py             decisions a second, for 1 and 8 threads; some minutes
    uv run python benchmarks/durable.py --quick     rougher
    uv run python benchmarks/durable.py long        a million decisions: memory, file, time to open

What a disk promises takes time, so this is wall-clock time of the disk that holds temporary files.
"""

import argparse
import resource
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from corebandit import UCB1, Agent, CORe, open_agent
from printing import new_table

ARMS = list(range(10))
ASKED = '["ask","k5xq4za2-mzxw6ytboi4dkmzs-17",1790000000.25,3]'
TOLD = '["tell","k5xq4za2-mzxw6ytboi4dkmzs-17",1790000000.5,1.0]'
SECONDS, QUICK_SECONDS = 5.0, 1.0
LONG, QUICK_LONG = 1_000_000, 20_000  # decisions


def per_second(work: Callable[[], None], n_threads: int, seconds: float) -> float:
    """Return how often threads together can do some work in a second."""
    counts = [0] * n_threads
    end = time.perf_counter() + seconds

    def repeat(thread: int) -> None:
        while time.perf_counter() < end:
            work()
            counts[thread] += 1

    threads = [threading.Thread(target=repeat, args=(thread,)) for thread in range(n_threads)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - begin)


def bare_inserts(folder: Path, synchronous: str) -> Callable[[], None]:
    """Return what inserts a row for a decision and one for its reward, each in a transaction of its own."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY, event TEXT)")
    lock = threading.Lock()

    def insert() -> None:
        for event in ASKED, TOLD:
            with lock:
                connection.execute("INSERT INTO events (event) VALUES (?)", (event,))

    return insert


def decisions(seconds: float) -> Table:
    """Compare agents in memory, agents in a file and bare inserts."""
    table = new_table("A decision and its reward, in a second", "who", "synchronous", "1 thread", "8 threads")
    memory = Agent(UCB1(), ARMS, seed=1)
    _add(table, "agent in memory", "", lambda: memory.tell(memory.ask(), 1.0), seconds)
    for synchronous in ("full", "normal"):
        with tempfile.TemporaryDirectory() as folder:
            _add(table, "two bare inserts", synchronous, bare_inserts(Path(folder), synchronous), seconds)
            with open_agent(f"sqlite:///{folder}/shop.db", "banner", UCB1(), ARMS, synchronous=synchronous) as agent:
                _add(table, "durable agent", synchronous, lambda: agent.tell(agent.ask(), 1.0), seconds)
    return table


def _add(table: Table, who: str, synchronous: str, work: Callable[[], None], seconds: float) -> None:
    rates = [per_second(work, n_threads, seconds) for n_threads in (1, 8)]
    table.add_row(who, synchronous, *(f"{rate:,.0f}" for rate in rates))


def long(n_decisions: int) -> Table:
    """Make many decisions, and say what becomes of memory, file and the time to open."""
    headers = ("decisions", "memory, MB", "file, MB", "worst ask, ms")
    table = new_table("Many decisions of CORe, synchronous normal", *headers)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/shop.db"
        with open_agent(url, "banner", CORe(), ARMS, seed=1, horizon=n_decisions, synchronous="normal") as agent:
            worst = 0.0
            for count in range(1, n_decisions + 1):
                begin = time.perf_counter()
                decision = agent.ask()
                worst = max(worst, time.perf_counter() - begin)
                agent.tell(decision, 0.1 * (count % 7))
                if count % (n_decisions // 5) == 0:
                    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                    size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
                    table.add_row(f"{count:,}", f"{memory:,.0f}", f"{size:,.0f}", f"{1e3 * worst:.1f}")
                    worst = 0.0
        begin = time.perf_counter()
        with open_agent(url, "banner", synchronous="normal"):
            table.caption = f"opened in {time.perf_counter() - begin:.2f} s"
    return table


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("section", nargs="?", choices=["decisions", "long"], default="decisions")
    arguments.add_argument("--quick", action="store_true")
    given = arguments.parse_args()
    if given.section == "long":
        Console().print(long(QUICK_LONG if given.quick else LONG))
    else:
        Console().print(decisions(QUICK_SECONDS if given.quick else SECONDS))


if __name__ == "__main__":
    main()
