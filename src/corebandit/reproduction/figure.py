"""What a figure of the paper is: experiments of a certain size, and claims to judge on their result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.contracts.validate import check_count
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.linear.lincore import LinCORe
from corebandit.report.claim import Claim
from corebandit.report.report import Drawing

LINCORE = {4.0: "LinCORe", 2.0: "LinCORe (warm-up 2)"}  # by warm-up factor: the paper's, and its released code's


@dataclass(frozen=True)
class Size:
    """How large, from which seed, and how CORe draws its noise."""

    horizon: int
    runs: int
    seed: int = 0
    sampler: str = "fast"
    search_runs: int = 0  # runs of each point of a parameter study
    click_models: str | None = None  # a file of click models for Figure 4; None: made-up queries
    click_model: str = "CM"  # which of them users click by

    def __post_init__(self) -> None:
        """Validate, so that a mistake shows before the search."""
        check_count("horizon", self.horizon, at_least=2)
        check_count("runs", self.runs)
        check_count("seed", self.seed, at_least=0)

    @property
    def study_runs(self) -> int:
        """Return the runs of each point of a parameter study, never more than runs."""
        return min(self.search_runs, self.runs)

    def experiment(self, problem: Problem, policies: Mapping[str, AnyPolicy], **more: Any) -> Experiment:
        """Return an experiment of this size; `more` are further arguments of `Experiment`."""
        return Experiment(problem, policies, **{"horizon": self.horizon, "runs": self.runs, "seed": self.seed, **more})


@dataclass(frozen=True)
class Figure:
    """A figure of the paper as data.

    `search` are experiments that come first, where parameters are chosen; their result is handed to `experiments`.
    `drawings` are pictures beyond the usual ones. `undrawn` policies are in the tables alone: more than seven lines in
    a panel hide each other.
    """

    name: str
    caption: str
    paper_size: Size
    quick_size: Size
    experiments: Callable[[Size, Result | None], list[Experiment]]
    claims: Callable[[Result], list[Claim]]
    search: Callable[[Size], list[Experiment]] = lambda size: []
    drawings: Callable[[Result], list[Drawing]] = lambda result: []
    undrawn: tuple[str, ...] = ()


def lincores(size: Size) -> dict[str, AnyPolicy]:
    """Return LinCORe with both lengths of the warm-up."""
    return {label: LinCORe(warm_up=factor, sampler=size.sampler) for factor, label in LINCORE.items()}
