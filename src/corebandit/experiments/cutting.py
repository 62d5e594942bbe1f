"""Cut experiments into chunks."""

from corebandit.contracts.validate import check_count
from corebandit.experiments.chunks import Chunk
from corebandit.experiments.experiment import Experiment


def chunks_of(experiment: Experiment, label: str, size: int) -> list[Chunk]:
    """Return all runs of one policy of an experiment, cut into chunks of this size."""
    runs, size = experiment.runs, check_count("runs_per_chunk of an engine", size)
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
