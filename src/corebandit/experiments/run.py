"""Run experiments: in parallel, resumable, and always to the same numbers.

With a folder, finished runs are written at once and found again.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from corebandit.experiments.engines.engine import Engine
from corebandit.experiments.engines.named import engine_of
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.playing import play
from corebandit.experiments.result import Result


def run(
    experiments: Experiment | Sequence[Experiment],
    *,
    jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    progress: bool = False,
    engine: Engine | str | None = None,
) -> Result:
    """Run one experiment or several and return their regrets.

    Parameters
    ----------
    experiments
        What to run. No number depends on their order, nor on `jobs`.
    jobs
        Threads; by default one for each core. As many processes, less one, help to compile what has not been yet.
    folder
        Keep finished runs here; a second start continues where the first was stopped, even by `kill -9`, and with more
        runs plays only those that are missing.
    fresh
        Play everything again, whatever of it the folder holds.
    progress
        Show a bar with the time left on the standard error.
    engine
        Who plays: "threads" of this process, or "cuda", an NVIDIA GPU, for thousands of runs; or your own.

    >>> from corebandit import BernoulliBandit, CORe
    >>> result = run(Experiment(BernoulliBandit(), [CORe()], horizon=500, runs=4))
    >>> result.frame.columns
    ['experiment', 'part', 'problem', 'policy', 'run', 'round', 'regret']
    """
    experiments = [experiments] if isinstance(experiments, Experiment) else list(experiments)
    where = None if folder is None else Path(folder)
    described = [each.to_dict() for each in experiments]  # with files of the user, before these may be edited
    curves = play(experiments, engine_of(engine, jobs), folder=where, fresh=fresh, progress=progress)
    return Result(described, curves)
