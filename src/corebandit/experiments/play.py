"""Play experiments into a folder of runs. Needs NumPy, numba and, for a GPU, numba-cuda alone.

    PYTHONPATH=src python -m corebandit.experiments.play experiments.json OUT --engine cuda --runs 10000

The file is the experiments.json of a report, what Experiment.to_dict() returned, or a TOML file. Where everything is
installed, `corebandit report OUT` or Result.load(OUT) reads what was played. Finished runs are kept at once: the same
command goes on where it was stopped.

A study may be played in pieces: --runs 0:5000 into one folder, --runs 5000:10000 into another; Result.load(ONE, OTHER)
joins them.
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.experiments.engines.named import engine_of
from corebandit.experiments.experiment_file import read_experiments
from corebandit.experiments.playing import play
from corebandit.experiments.result_files import write_result

INTERRUPTED = 130


def main(words: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m corebandit.experiments.play", description=__doc__, formatter_class=raw)
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--engine", choices=("threads", "cuda"), default="threads")
    parser.add_argument("--jobs", type=int, help="threads, by default one for each core")
    parser.add_argument("--runs", help="how many of each policy; or, as in 5000:10000, from which to which")
    parser.add_argument("--horizon", type=int)
    parser.add_argument("--seed", type=int)
    percents = "keep little: regret after so many percent of the rounds, to seven digits, such as 50 100; and no notes"
    parser.add_argument("--checkpoints", type=int, nargs="+", default=(), metavar="PERCENT", help=percents)
    parser.add_argument("--chunks", type=Path, help="where finished runs are kept meanwhile, by default OUT/chunks")
    parser.add_argument("--fresh", action="store_true", help="play again what was finished, too")
    arguments = parser.parse_args(words)
    try:
        _play(arguments)
    except (BadInput, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print("Stopped. What is finished is kept; the same command goes on.", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # without waiting for what is still played


def _play(arguments: argparse.Namespace) -> None:
    started, percents = time.monotonic(), list(arguments.checkpoints)
    if percents and (percents != sorted({*percents, 100}) or percents[0] < 1):
        given = " ".join(map(str, percents))
        raise BadInput(f"--checkpoints must be percents that rise and end with 100, such as 50 100, not {given}")
    first, last = _range(arguments.runs)
    experiments = read_experiments(arguments.file, runs=last, horizon=arguments.horizon, seed=arguments.seed)
    if first >= min(each.runs for each in experiments):
        raise BadInput(f"--runs must leave some runs to be played, not {arguments.runs}")
    engine = engine_of(arguments.engine, arguments.jobs, lambda sentence: print(sentence, file=sys.stderr))
    folder = arguments.chunks or arguments.out / "chunks"
    curves = play(
        experiments,
        engine,
        folder=folder,
        fresh=arguments.fresh,
        progress=True,
        first_run=first,
        percents=percents,
    )
    described = [each.to_dict() for each in experiments]
    write_result(arguments.out, described, curves, first, np.float32 if percents else np.float64)
    n_runs = sum(len(curve.regret) for curve in curves)
    n_rounds = sum(len(curve.regret) * int(curve.rounds[-1]) for curve in curves)
    print(f"{n_runs:,} runs, {n_rounds:,} rounds in all, in {time.monotonic() - started:.0f} s, in {arguments.out}")


def _range(runs: str | None) -> tuple[int, int | None]:
    """Return the first run, and one past the last where it is said."""
    if runs is None:
        return 0, None
    if not re.fullmatch(r"(\d+:)?\d+", runs):
        raise BadInput(f"--runs must be a number such as 1000, or two such as 1000:2000, not {runs}")
    first, _, last = runs.rpartition(":")
    return int(first or 0), int(last)


if __name__ == "__main__":
    main()
