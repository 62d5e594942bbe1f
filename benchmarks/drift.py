"""The study of worlds that change at large, on a machine with a GPU; `corebandit reproduce drift` is its small form.

    python benchmarks/drift.py report report.json --runs 1000      here: what is to be played
    PLAY report.json report --engine cuda --checkpoints 50 100     there; PLAY is python -m corebandit.experiments.play
    python benchmarks/drift.py store report                        here: into docs/results

Worlds, policies, rivals and claims are those of the study, and so are the first of the runs; with features there are as
many of them as without. D3 is about what is lost after a change that comes after half of all rounds: so regrets are
kept there too. Rivals that are far from the best are not stored.
"""

import argparse
import dataclasses
import json
import sys
from typing import Any

from corebandit.contracts.errors import BadInput
from corebandit.experiments.result import Result
from corebandit.reproduction.studies import drift_study as study, drift_tables as tables
from large_study import command_line, write_experiments
from storing import STORE, made_by

NAME = "drift_large"
STORED = STORE / f"{NAME}.json"
KEPT = ("part", "problem", "title", "policy", "horizon", "runs", "mean", "stderr", "ci_low", "ci_high")


def report(arguments: argparse.Namespace) -> None:
    """Write the experiments that are reported, all with as many runs: a GPU plays a thousand as fast as a hundred."""
    experiments = study.experiments(dataclasses.replace(study.FIGURE.paper_size, runs=arguments.runs), None)
    write_experiments(arguments.experiments, [each.to_dict() | {"runs": arguments.runs} for each in experiments])


def store(arguments: argparse.Namespace) -> None:
    """Judge the claims, and keep how CORe's forms compare with the best rivals."""
    result = Result.load(*arguments.folders)
    content = {"about": made_by("drift"), **stored(result)}
    STORED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for row in content["ratios"]:
        print("{title:24} {policy:27} {ratio:.3f} [{ratio_low:.3f}, {ratio_high:.3f}] of {beside}".format(**row))
    for claim in content["claims"]:
        print("{id:5} {verdict}: {evidence}".format(**claim))


def stored(result: Result) -> dict[str, Any]:
    """Return what is kept, named as what fills pages in expects it of a figure called like this file."""
    rows = tables.without_poor_rivals(result.summary().to_dicts())
    return {
        "rows": [{"experiment": NAME, **{key: row[key] for key in KEPT}} for row in rows],
        "ratios": tables.ratios(result),
        "claims": [claim.describe() for claim in study.claims(result)],
    }


def main() -> None:
    """Read the command line."""
    parser, command = command_line(__doc__)
    command(report, "experiments").add_argument("--runs", type=int, default=1000)
    command(store, "folders")
    arguments = parser.parse_args()
    try:
        arguments.function(arguments)
    except BadInput as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
