"""How many processes the tests take, what they keep on disk, which tests share one, and which of them are quick."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler.loadfile import LoadFileScheduling

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # there is a process for each core: NumPy's threads would only wait

if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    # Containers say so to keep the tree clean. But then every process compiles two thousand modules and rewrites all
    # assertions, a third of a quick run: so bytecode goes to a folder of its own, for the processes to come too.
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(__file__).parent / ".cache" / "bytecode"))
    sys.dont_write_bytecode, sys.pycache_prefix = False, os.environ["PYTHONPYCACHEPREFIX"]

COMPILE_POLICIES = (
    *("tests/agents/", "tests/bounds/", "tests/checks/", "tests/cli/", "tests/experiments/", "tests/games/"),
    *("tests/policies/", "tests/problems/", "tests/ranking/", "tests/statistical/"),
    *("tests/reproduction/paper/test_theory_figure.py", "tests/reproduction/studies/test_glm_study.py"),
    *("tests/contracts/test_errors.py", "tests/test_benchmarks.py", "tests/test_docs.py", "tests/test_golden.py"),
)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many processes to start: none where files are named, since starting takes longer than a file."""
    is_named = config.args_source is pytest.Config.ArgsSource.ARGS
    if is_named and not any(Path(argument).is_dir() for argument in config.args):
        return 0
    # What compiles policies stays together and takes longer than all the rest; each process has to import and collect.
    return min(4 if config.option.markexpr == "endurance" else 2, os.cpu_count() or 1)


class Scheduling(LoadFileScheduling):
    """Each file in one process, and all those in the same that compile policies, whose parts are then compiled once."""

    def _split_scope(self, nodeid: str) -> str:
        return "policies" if nodeid.startswith(COMPILE_POLICIES) else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Return who deals out the tests, unless --dist asks for somebody else.

    Quick tests are run with code on disk, where nothing is compiled and even shares are what counts.
    """
    is_ours = config.option.dist == "loadfile" and config.option.markexpr != "quick"
    return Scheduling(config, log) if is_ours else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as quick whatever nobody has marked as slow."""
    for item in items:
        if not any(item.get_closest_marker(slow) for slow in ("heavy", "thorough", "endurance", "device")):
            item.add_marker("quick")
