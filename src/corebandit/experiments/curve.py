"""All runs of one policy on one problem, and what they come to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.experiments.task import Runs
from corebandit.games.notes import Notes
from corebandit.statistics.estimates import Interval, mean_interval, mean_intervals

REGRET, BEST_ARM_SHARE, SIMPLE_REGRET = QUANTITIES = ("regret", "best-arm share", "simple regret")


@dataclass(frozen=True, eq=False)
class Curve:
    """All runs of one policy on one problem; means and intervals are computed once, when first asked for."""

    experiment: str
    problem: str
    policy: str
    title: str
    rounds: IntArray  # (checkpoints,)
    regret: FloatArray  # (runs, checkpoints)
    cpu_seconds: float
    measures: Mapping[str, FloatArray] = field(default_factory=dict)  # (runs,) each
    notes: Notes | None = None  # with an axis for the runs in front, if they were kept
    engine: str = ""  # who played them, if not threads that were asked to
    part: str = ""  # of the experiment
    wall_seconds: float = 0.0  # by the clock, over all starts, not counting what was spent on others meanwhile

    def __post_init__(self) -> None:
        """Freeze the runs: what is computed from them is computed once."""
        for array in (self.regret, *self.measures.values(), *(self.notes or ())):
            array.setflags(write=False)

    @property
    def names(self) -> dict[str, str]:
        """Return what identifies the curve."""
        return {"experiment": self.experiment, "part": self.part, "problem": self.problem, "policy": self.policy}

    @property
    def place(self) -> tuple[str, ...]:
        """Return what it shares with those that it is compared with: experiment, part and problem."""
        return self.experiment, self.part, self.problem

    @property
    def path(self) -> str:
        """Return these names as text."""
        return "/".join(filter(None, self.names.values()))

    @property
    def checkpoints(self) -> dict[str, Any]:
        """Return columns with a row a checkpoint of a run."""
        n_runs, n_rounds = self.regret.shape
        run = {"run": np.repeat(np.arange(n_runs), n_rounds), "round": np.tile(self.rounds, n_runs)}
        return {**self.names, **run, "regret": self.regret.ravel()}

    @property
    def runs(self) -> dict[str, Any]:
        """Return columns with a row a run."""
        nothing = np.full(self.finals.size, np.nan)
        shares = {"best_arm_share": nothing, "simple_regret": nothing}
        lists: dict[str, list[Any]] = {"means": [], "pulls": []}
        if self.notes is not None:
            shares = {
                "best_arm_share": self.values(BEST_ARM_SHARE)[:, -1],
                "simple_regret": self.values(SIMPLE_REGRET)[:, -1],
            }
            lists = {"means": self.notes.means.tolist(), "pulls": self.notes.pulls.tolist()}
        lists = {name: values or [None] * nothing.size for name, values in lists.items()}
        run = {"run": range(nothing.size), "regret": self.finals, "gap": self.gaps}
        return {**self.names, "title": self.title, **run, **shares, **lists}

    def values(self, of: str) -> FloatArray:
        """Return regret, best-arm share or simple regret, `(runs, checkpoints)`."""
        if of == REGRET:
            return self.regret
        if self.notes is None:
            raise BadInput(f"there is no {of} of {self.policy}: of these runs regret alone was kept")
        return self.notes.best_rounds / self.rounds if of == BEST_ARM_SHARE else self.notes.simple_regret

    @property
    def gaps(self) -> FloatArray:
        """Return how far the second best arm is below the best in each run, NaN where there are no arms to tell."""
        if self.notes is None or self.notes.means.shape[1] < 2:
            return np.full(len(self.regret), np.nan)
        means = np.sort(np.nan_to_num(self.notes.means, nan=-np.inf), axis=1)[:, -2:]
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(means[:, 0]), means[:, 1] - means[:, 0], np.nan)

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
        """Return the mean regret at the checkpoints and the ends of its intervals, each `(checkpoints,)`."""
        return self.means_of(REGRET)

    def means_of(self, of: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the means of some quantity at the checkpoints and the ends of their intervals."""
        means = mean_intervals(self.values(of))
        for array in means:
            array.setflags(write=False)
        return means


def curve_of(names: Mapping[str, Any], title: str, rounds: IntArray, runs: Runs) -> Curve:
    """Return the curve of these runs; the names are those of `Curve.names`."""
    facts = {fact: value for fact, value in runs._asdict().items() if fact != "complaint"}
    return Curve(**names, title=title, rounds=rounds, **facts)


def runs_of(curve: Curve) -> Runs:
    """Return the runs of a curve, without what they complained of."""
    return Runs(**{fact: getattr(curve, fact) for fact in Runs._fields if fact != "complaint"})
