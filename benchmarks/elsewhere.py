"""Studies that another machine plays: experiments go there in a file, regrets come back in one.

`device.py play FILE --finals REGRETS` is what happens there; a script for a study writes the one and reads the other.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corebandit.contracts.state import FloatArray
from corebandit.experiments.curve import Curve
from corebandit.experiments.result import Result
from percents import may_be_kept, rounds_after


def write_experiments(path: Path, described: Sequence[Mapping[str, Any]]) -> None:
    """Write experiments, the longest first, since these would be waited for at the end, and say how large they are."""
    experiments = sorted(described, key=lambda each: each["horizon"], reverse=True)
    path.write_text(json.dumps({"experiments": experiments}), encoding="utf-8")
    n_runs = sum(len(each["policies"]) * each["runs"] for each in experiments)
    n_rounds = sum(len(each["policies"]) * each["runs"] * each["horizon"] for each in experiments)
    print(f"{len(experiments)} experiments, {n_runs:,} runs, {n_rounds:,} rounds")


def result_of(path: Path, regrets: Path) -> Result:
    """Return what came of a file of experiments: a result whose checkpoints are those at which regrets were kept."""
    experiments = json.loads(path.read_text(encoding="utf-8"))["experiments"]
    parts: dict[str, dict[int, FloatArray]] = {}
    with np.load(regrets) as kept:
        percents = kept["percents"].tolist()
        for entry in kept.files:
            name, _, first = entry.rpartition("|")
            if name:
                parts.setdefault(name, {})[int(first)] = kept[entry].astype(np.float64)
    if not may_be_kept(percents):
        sys.exit(f"{regrets} must have regrets after whole percents that rise and end with 100, not after {percents}")
    curves = []
    for each in experiments:
        rounds = np.array(rounds_after(percents, each["horizon"]))
        for policy in each["policies"]:
            part, names = each.get("part", ""), (each["name"], each["label"], policy)
            own = [runs for _, runs in sorted(parts.get("|".join((part, *names)), {}).items())]
            if sum(map(len, own)) != each["runs"]:
                sys.exit(f"{regrets} has not all {each['runs']:,} runs of {policy} on {each['title']}")
            curves.append(Curve(*names, each["title"], rounds, np.concatenate(own), cpu_seconds=0.0, part=part))
    return Result(experiments, curves)


def command_line(about: str | None) -> tuple[argparse.ArgumentParser, Callable[..., argparse.ArgumentParser]]:
    """Return a parser, and what gives it a command: a function, and what the files are called that it is given."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(function: Callable[[argparse.Namespace], None], *files: str) -> argparse.ArgumentParser:
        added = commands.add_parser(function.__name__, help=function.__doc__)
        added.set_defaults(function=function)
        for name in files:
            added.add_argument(name, type=Path)
        return added

    return parser, command
