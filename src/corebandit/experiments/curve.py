"""All runs of one policy on one problem, and what they come to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from corebandit.contracts.state import FloatArray, IntArray
from corebandit.experiments.statistics import Interval, mean_interval, mean_intervals


@dataclass(frozen=True, eq=False)
class Curve:
    """All runs of one policy on one problem; means and intervals are computed once, when first asked for."""

    figure: str
    problem: str
    policy: str
    title: str
    rounds: IntArray  # (checkpoints,)
    regret: FloatArray  # (runs, checkpoints)
    cpu_seconds: float
    measures: Mapping[str, FloatArray] = field(default_factory=dict)  # (runs,) each

    def __post_init__(self) -> None:
        """Freeze the runs: what is computed from them is computed once."""
        for array in (self.regret, *self.measures.values()):
            array.setflags(write=False)

    @property
    def names(self) -> dict[str, str]:
        """Return what identifies the curve."""
        return {"figure": self.figure, "problem": self.problem, "policy": self.policy}

    @property
    def finals(self) -> FloatArray:
        """Return the final regret of each run."""
        return self.regret[:, -1]

    @cached_property
    def final(self) -> Interval:
        """Return the mean of the final regrets, with its interval."""
        return mean_interval(self.finals)

    @cached_property
    def means(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the means at the checkpoints and the ends of their intervals, each `(checkpoints,)`."""
        means = mean_intervals(self.regret)
        for array in means:
            array.setflags(write=False)
        return means
