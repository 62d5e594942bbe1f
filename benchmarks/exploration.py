"""The study of exploration at large, on a machine with a GPU; `corebandit reproduce exploration` is its small form.

    python benchmarks/exploration.py grid grid.json                 here: what is to be played first
    PLAY grid.json grid --engine cuda --checkpoints 100             there; PLAY is python -m corebandit.experiments.play
    python benchmarks/exploration.py choose grid                    here: which setting the rule chooses; docs/results
    python benchmarks/exploration.py report report.json tuned.json  here: what is to be played then
    PLAY report.json report --engine cuda --checkpoints 100         there
    python benchmarks/exploration.py store report                   here: into docs/results

Which settings of rivals are reported, a file in docs/results tells: exploration_large.json after `choose`, or
exploration.json of the study at its usual size, in which they were chosen from fewer runs.

The rule, the problems and the rivals are those of the study, but for what would take a GPU longer than all the rest:
NP-TS, which on rewards of 0 and 1 is nearly Thompson sampling; SSMC for the longest horizon, far behind the best rival
for the others; and in the grid for the longest horizon LinUCB and LinRandUCB, whose setting is that of the one before.
"""

import argparse
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.reproduction.figure import Size
from corebandit.reproduction.studies import exploration_study as study
from large_study import command_line, write_experiments
from storing import STORE, made_by

STORED = STORE / "exploration_large.json"


def grid(arguments: argparse.Namespace) -> None:
    """Write the experiments of the grid."""
    size = _size(arguments.runs)
    slow = ("LinUCB", "LinRandUCB")
    _write(arguments.experiments, study.search(size), arguments.runs, lambda label: label.startswith(slow))


def choose(arguments: argparse.Namespace) -> None:
    """Say how settings compare, and which one the rule chooses; keep that."""
    result = Result.load(*arguments.folders)
    found, rows = list(study.cells(result.experiments, study.finals_of(result))), []
    for by_features in (False, True):
        rows += study.compared_settings(found, by_features)
    for row in rows:
        print("{horizon:7,} {setting}: {ratio:.3f}, at most {worst:.3f}; {gone bad:.3f} gone bad".format(**row))
    for by_features in (False, True):
        what = "linear models" if by_features else "arms"
        print(f"chosen by the rule for {what}: {study.chosen_setting(found, by_features)}")
    _store(settings=rows, tuned=_tuned(study.finals_of(result)))


def _tuned(tried: study.Regrets) -> study.Tuned:
    """Return the best settings of rivals; whoever has not played for the longest horizon, that of the one before."""
    horizon = study.FIGURE.paper_size.horizon
    for (part, label), regrets in tried.items():
        if part == study.grid_of(10 * horizon):
            tried[part, label] = tried[study.grid_of(horizon), label] | regrets
    return study.tuned(tried)


def report(arguments: argparse.Namespace) -> None:
    """Write the experiments that are reported, rivals at the best of their settings."""
    best = json.loads(arguments.tuned.read_text(encoding="utf-8"))["tuned"]
    _write(arguments.experiments, study.reported(_size(arguments.runs), best), arguments.runs)


def store(arguments: argparse.Namespace) -> None:
    """Keep how CORe compares with the best rivals, and the verdicts."""
    result = Result.load(*arguments.folders)
    rows, claims = study.ratios(result.experiments, study.finals_of(result)), study.claims(result)
    for row in rows:
        print("{title:24} {horizon:7,} {policy:20} {mean:9.2f}, {ratio:.3f} of {best rival}".format(**row))
    for claim in claims:
        print(f"{claim.id} {claim.verdict}: {claim.evidence}")
    described = [claim.describe() for claim in claims]
    _store(ratios=rows, claims=[{key: value for key, value in each.items() if key != "details"} for each in described])


def _store(**parts: Any) -> None:
    kept = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    about = made_by("exploration")
    made = {key: about[key] for key in ("made", "sources")}  # of each part, for they are not made at once
    about_parts = kept.get("about_parts", {}) | dict.fromkeys(parts, made)
    content = {**kept, "about": about, "about_parts": about_parts, **parts}
    STORED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _size(runs: int) -> Size:
    return dataclasses.replace(study.FIGURE.paper_size, runs=runs, search_runs=runs)


def _write(
    path: Path, experiments: list[Experiment], runs: int, is_slow: Callable[[str], bool] = lambda label: False
) -> None:
    """Write experiments, all with as many runs: a GPU plays a thousand as fast as a hundred."""
    described = []
    for experiment in experiments:
        is_long = experiment.horizon > study.FIGURE.paper_size.horizon
        table = experiment.to_dict() | {"runs": runs}
        table["policies"] = {
            label: policy
            for label, policy in table["policies"].items()
            if label != "NP-TS" and not (is_long and (label.startswith("SSMC") or is_slow(label)))
        }
        described.append(table)
    write_experiments(path, described)


def main() -> None:
    """Read the command line."""
    parser, command = command_line(__doc__)
    command(grid, "experiments").add_argument("--runs", type=int, default=1200)
    command(choose, "folders")
    command(report, "experiments", "tuned").add_argument("--runs", type=int, default=8000)
    command(store, "folders")
    arguments = parser.parse_args()
    arguments.function(arguments)


if __name__ == "__main__":
    main()
