"""What the scripts of large studies share: experiments that go to a machine with a GPU, and a command line."""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


def write_experiments(path: Path, described: Sequence[Mapping[str, Any]]) -> None:
    """Write experiments, the longest first, since these would be waited for at the end, and say how large they are."""
    experiments = sorted(described, key=lambda each: each["horizon"], reverse=True)
    path.write_text(json.dumps({"experiments": experiments}), encoding="utf-8")
    n_runs = sum(len(each["policies"]) * each["runs"] for each in experiments)
    n_rounds = sum(len(each["policies"]) * each["runs"] * each["horizon"] for each in experiments)
    print(f"{len(experiments)} experiments, {n_runs:,} runs, {n_rounds:,} rounds")


def command_line(about: str | None) -> tuple[argparse.ArgumentParser, Callable[..., argparse.ArgumentParser]]:
    """Return a parser, and what gives it a command: a function, and what the files are called that it is given.

    Of what is called `folders` there may be several.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(function: Callable[[argparse.Namespace], None], *files: str) -> argparse.ArgumentParser:
        added = commands.add_parser(function.__name__, help=function.__doc__)
        added.set_defaults(function=function)
        for name in files:
            added.add_argument(name, type=Path, nargs="+" if name == "folders" else None)
        return added

    return parser, command
