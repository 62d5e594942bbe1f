"""How many processes the tests take, and which of them are quick."""

import os
from pathlib import Path

import pytest


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many processes to start: none where files are named, since starting takes longer than a file."""
    is_named = config.args_source is pytest.Config.ArgsSource.ARGS
    if is_named and not any(Path(argument).is_dir() for argument in config.args):
        return 0
    return min(4, os.cpu_count() or 1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as quick whatever nobody has marked as slow."""
    for item in items:
        if not any(item.get_closest_marker(slow) for slow in ("heavy", "endurance")):
            item.add_marker("quick")
