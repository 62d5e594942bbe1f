"""What the scripts share: their tables, their heading, their command line."""

import argparse
import os
import platform
import sys
from collections.abc import Collection, Sequence
from importlib.metadata import version

from rich import box
from rich.console import Console
from rich.table import Table


def new_table(title: str, *headers: str) -> Table:
    """Return an empty table; numbers are flush right, words and the columns without a header flush left."""
    words = ("policy", "rewards", "features", "")
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for header in headers:
        table.add_column(header, justify="left" if header in words else "right", no_wrap=True)
    return table


def reached(is_reached: bool) -> str:
    """Say whether a target is reached."""
    return "reached" if is_reached else "not reached"


def print_heading(console: Console, repetitions: int, peer_versions: Sequence[str]) -> None:
    """Print what is measured with."""
    versions = [f"{name} {version(name)}" for name in ("numba", "numpy")]
    console.print(", ".join([f"Python {platform.python_version()}", *versions, *peer_versions]))
    console.print(f"CPU time, the best of {repetitions} repetitions in turns; {os.cpu_count()} cores\n")


def read_arguments(description: str, sections: Collection[str]) -> tuple[bool, tuple[str, ...]]:
    """Read the command line; return whether to be quick, and the sections to measure."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="few repetitions: about 20 seconds, rougher numbers")
    parser.add_argument("sections", nargs="*", metavar="section", help=f"of {', '.join(sections)}; all by default")
    arguments = parser.parse_args()
    for name in arguments.sections:
        if name not in sections:
            parser.error(f"unknown section {name!r}: there is {', '.join(sections)}")
    return arguments.quick, tuple(arguments.sections or sections)


def new_console() -> Console:
    """Return a console that is wide enough for the tables even where there is no terminal."""
    return Console(width=None if sys.stdout.isatty() else 120)
