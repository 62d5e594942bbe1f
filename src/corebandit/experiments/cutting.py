"""Cut experiments into chunks."""

from corebandit.experiments.chunks import Chunk
from corebandit.experiments.experiment import Experiment

RUNS_PER_CHUNK = 10  # of a compiled policy; one that runs in Python is slow, so its runs are kept one by one


def chunks_of(experiment: Experiment, label: str) -> list[Chunk]:
    """Return all runs of one policy of an experiment."""
    size, runs = RUNS_PER_CHUNK if experiment.policies[label].runs_compiled else 1, experiment.runs
    return [chunk_of(experiment, label, first, min(first + size, runs)) for first in range(0, runs, size)]


def chunk_of(experiment: Experiment, label: str, first: int, last: int) -> Chunk:
    """Return the runs from `first` up to `last`, which is not one of them, of one policy of an experiment."""
    return Chunk(
        experiment.problem,
        experiment.policies[label],
        label,
        tuple(experiment.rounds.tolist()),
        experiment.seed,
        experiment.regret,
        first,
        last,
        experiment.actions,
    )
