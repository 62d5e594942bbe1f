"""What an experiment has shown: the regret of every run at every checkpoint, and the description that made it."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_choice
from corebandit.experiments.curve import BEST_ARM_SHARE, QUANTITIES, REGRET, SIMPLE_REGRET, Curve
from corebandit.experiments.frames import (
    CPU_SECONDS,
    DIFFERENCES,
    FINALS,
    FRAME,
    MEAN_CURVES,
    MEASURES,
    RUNS,
    SUMMARY,
    SWEEPS,
    frame_of,
    write_frame,
)
from corebandit.experiments.reporting import figure_of, fragment_of, report_of
from corebandit.experiments.result_files import read_result, write_result
from corebandit.games.notes import Notes
from corebandit.report import tables
from corebandit.report.about import About
from corebandit.statistics.estimates import mean_interval, standard_error
from corebandit.statistics.several import maybe_lowest

QUANTILES = {"q10": 0.1, "median": 0.5, "q90": 0.9}


class Result:
    """The regrets of one experiment or several: descriptions and the runs of every policy, of which frames are views.

    Parameters
    ----------
    experiments
        The descriptions that made it; `Experiment.from_dict` makes an experiment of each.
    curves
        The runs of each policy on each problem.

    In a notebook a result shows its table and its figure by itself.
    """

    def __init__(self, experiments: Sequence[dict[str, Any]], curves: Sequence[Curve]) -> None:
        self.experiments = list(experiments)
        self._curves = tuple(curves)
        seen: set[str] = set()
        for name in (curve.path for curve in self._curves):
            if name in seen:
                raise BadInput(f"a result can hold {name} (experiment/problem/policy) only once: give one another name")
            seen.add(name)

    def __repr__(self) -> str:
        played: dict[tuple[str, str], list[str]] = {}
        for curve in self._curves:
            place = tables.heading(curve.experiment, curve.part), curve.problem
            played.setdefault(place, []).append(curve.policy)
        shown = (f"{where}: {', '.join(policies)} on {problem}" for (where, problem), policies in played.items())
        return f"<Result of {'; '.join(shown)}>"

    def curves(self, experiment: str | None = None, part: str | None = None) -> tuple[Curve, ...]:
        """Return the runs of each policy on each problem, in order; or those of one experiment, or of a part of it."""
        own = (curve for curve in self._curves if experiment in (None, curve.experiment))
        return tuple(curve for curve in own if part in (None, curve.part))

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row a checkpoint: experiment (its name), part, problem, policy, run, round, regret."""
        return frame_of(FRAME, [curve.checkpoints for curve in self._curves])

    @cached_property
    def cpu_seconds(self) -> pl.DataFrame:
        """One row a policy: experiment, part, problem, policy, cpu_seconds."""
        return frame_of(CPU_SECONDS, [{**curve.names, "cpu_seconds": [curve.cpu_seconds]} for curve in self._curves])

    def measures(self) -> pl.DataFrame:
        """Return what policies measured of themselves, one row a run and a measure: see `Policy.measures`."""
        parts = [
            {**curve.names, "run": range(values.size), "measure": name, "value": values}
            for curve in self._curves
            for name, values in curve.measures.items()
        ]
        return frame_of(MEASURES, parts)

    def regret(
        self, policy: str, problem: str | None = None, experiment: str | None = None, part: str | None = None
    ) -> FloatArray:
        """Return the regret of one policy, `(runs, checkpoints)`; say of which problem if there are several."""
        return self._found(policy, problem, experiment, part).regret

    def notes(
        self, policy: str, problem: str | None = None, experiment: str | None = None, part: str | None = None
    ) -> Notes:
        """Return what was noted of the runs of one policy: arrays with a row for each run.

        >>> from corebandit import BernoulliBandit, CORe, Experiment, run
        >>> notes = run(Experiment(BernoulliBandit(), [CORe()], horizon=500, runs=4)).notes("CORe")
        >>> notes.pulls.shape, notes.pulls.sum(axis=1).tolist()
        ((4, 10), [500, 500, 500, 500])
        """
        curve = self._found(policy, problem, experiment, part)
        if curve.notes is None:
            raise BadInput(f"there are no notes of {policy}: of these runs regret alone was kept")
        return curve.notes

    def actions(
        self, policy: str, problem: str | None = None, experiment: str | None = None, part: str | None = None
    ) -> NDArray[Any]:
        """Return what one policy chose, `(runs, rounds)`, of rankings `(runs, rounds, positions)`."""
        actions = self.notes(policy, problem, experiment, part).actions
        if actions.shape[1] == 0:
            raise BadInput("what was chosen in each round is kept where it is asked for: Experiment(..., actions=True)")
        return actions[:, :, 0] if actions.shape[2] == 1 else actions

    def _found(self, policy: str, problem: str | None, experiment: str | None, part: str | None) -> Curve:
        named = self.curves(experiment, part)
        found = [curve for curve in named if curve.policy == policy and problem in (None, curve.problem)]
        if len(found) != 1:
            known = ", ".join(curve.path for curve in self._curves)
            said = f"policy {policy!r} fits {len(found)} curves, not one"
            raise BadInput(f"{said}; experiment/problem/policy are: {known}")
        return found[0]

    def runs(self) -> pl.DataFrame:
        """Return one row a run: final regret, share of rounds with the best arm, simple regret, gap, means and pulls.

        The simple regret is how far the arm chosen most often is below the best, the gap how far the second best arm
        is. Where arms are not the same in every round, and of rankings, there are neither.
        """
        return frame_of(RUNS, [curve.runs for curve in self._curves])

    def summary(self) -> pl.DataFrame:
        """Return the final regret of each policy: mean, standard error, 95 % bootstrap interval and quantiles.

        With them the mean share of rounds that chose the best arm, and the mean simple regret: see `runs`. Those are
        `tied` that may be the best on their problem: of policies that are alike, one is left out in 5 % of all
        results, however many they are.
        """
        return self._summary

    @cached_property
    def _summary(self) -> pl.DataFrame:
        tied = _tied((curve.place, curve) for curve in self._curves)
        return pl.DataFrame(
            [
                {
                    **curve.names,
                    "title": curve.title,
                    "horizon": int(curve.rounds[-1]),
                    "runs": curve.finals.size,
                    "mean": curve.final.value,
                    "stderr": standard_error(curve.finals),
                    "ci_low": curve.final.low,
                    "ci_high": curve.final.high,
                    "tied": tied[curve],
                    **dict(zip(QUANTILES, np.quantile(curve.finals, list(QUANTILES.values())).tolist(), strict=True)),
                    "best_arm_share": None
                    if curve.notes is None
                    else float(curve.values(BEST_ARM_SHARE)[:, -1].mean()),
                    "simple_regret": None
                    if curve.notes is None
                    else _number(curve.values(SIMPLE_REGRET)[:, -1].mean()),
                    "cpu_seconds": curve.cpu_seconds,
                }
                for curve in self._curves
            ],
            schema_overrides={"best_arm_share": pl.Float64, "simple_regret": pl.Float64},
        ).select(SUMMARY)

    def mean_curves(self, of: str = REGRET, *, with_sweeps: bool = True) -> pl.DataFrame:
        """Return the mean regret of each policy at each checkpoint, with 95 % bootstrap intervals.

        It may also be `of` the "best-arm share" or the "simple regret".
        """
        check_choice("of", of, QUANTITIES)
        left_out = {} if with_sweeps else self._points()
        parts = []
        for curve in self._curves:
            if tuple(curve.names.values()) not in left_out:
                mean, low, high = curve.means if of == REGRET else curve.means_of(of)
                columns = {"round": curve.rounds, "mean": mean, "ci_low": low, "ci_high": high}
                parts.append({**curve.names, "title": curve.title, **columns})
        return frame_of(MEAN_CURVES, parts)

    def finals(self) -> pl.DataFrame:
        """Return the final regret of every run."""
        parts = [
            {**curve.names, "title": curve.title, "run": range(curve.finals.size), "regret": curve.finals}
            for curve in self._curves
        ]
        return frame_of(FINALS, parts)

    def sweeps(self) -> pl.DataFrame:
        """Return the final regret of each policy that is a point of a parameter sweep: mean and 95 % interval.

        Those are `tied` that may be the best of their series, as in `summary`.
        """
        return self._sweeps

    @cached_property
    def _sweeps(self) -> pl.DataFrame:
        points = self._points()
        known = [(points[place], curve) for curve in self._curves if (place := tuple(curve.names.values())) in points]
        tied = _tied(((curve.experiment, curve.part, title, point["series"]), curve) for (title, point), curve in known)
        rows = []
        for (title, point), curve in known:
            (x_name, x), (y_name, y) = [*point["at"].items(), (None, None)][:2]
            rows.append(
                {
                    **curve.names,
                    "title": title,
                    "series": point["series"],
                    "x_name": x_name,
                    "x": float(x),
                    "x_label": point.get("name"),
                    "y_name": y_name,
                    "y": None if y is None else float(y),
                    "tied": tied[curve],
                    "runs": curve.finals.size,
                    "horizon": int(curve.rounds[-1]),
                    "mean": curve.final.value,
                    "ci_low": curve.final.low,
                    "ci_high": curve.final.high,
                }
            )
        return pl.DataFrame(rows, schema=SWEEPS)

    def _points(self) -> dict[tuple[str, ...], tuple[str, dict[str, Any]]]:
        """Return the panel of each policy of a sweep and where it stands there, by the names of its curve."""
        return {
            (*_place(experiment), policy): (experiment["title"], point)
            for experiment in self.experiments
            for policy, point in experiment.get("points", {}).items()
        }

    def differences(self, baseline: str | None = None) -> pl.DataFrame:
        """Return the paired difference of final regret of each policy to `baseline`, by default the first policy.

        Policies that are points of a parameter sweep are left out.
        """
        rows = []
        reference: dict[tuple[str, ...], Curve] = {}
        points = self._points()
        compared = [curve for curve in self._curves if tuple(curve.names.values()) not in points]
        for curve in compared:
            if baseline in (None, curve.policy):
                reference.setdefault(curve.place, curve)
        for curve in compared:
            base = reference.get(curve.place)
            if base is None or base.policy == curve.policy:
                continue
            gaps = curve.finals - base.finals
            mean, low, high = mean_interval(gaps)
            measured = {"runs": gaps.size, "mean": mean, "ci_low": low, "ci_high": high}
            measured["share_better"] = float((gaps < 0).mean())
            rows.append({**curve.names, "title": curve.title, "baseline": base.policy, **measured})
        if not rows and baseline is not None and not reference:
            known = ", ".join(dict.fromkeys(curve.policy for curve in compared)) or "all are settings of a sweep"
            raise BadInput(f"baseline must be one of the policies ({known}), not {baseline!r}")
        return pl.DataFrame(rows, schema=DIFFERENCES)

    def joined_with(self, other: "Result") -> "Result":
        """Return both results as one, this one first."""
        return Result([*self.experiments, *other.experiments], [*self._curves, *other._curves])

    def plot(self, what: str = REGRET, experiment: str | None = None, part: str | None = None) -> Any:
        """Return a matplotlib figure; name the experiment, or the part of it, where the result holds several.

        `what` is one of

        * "regret": cumulative regret over the rounds, or the map of a sweep;
        * "best-arm share", "simple regret": their means over the rounds;
        * "pulls": how often each arm was chosen, from the best to the worst;
        * "regret by gap": the final regret of each run against how far the second best arm is below the best.
        """
        return figure_of(self, what, experiment, part)

    def _repr_html_(self) -> str:
        return fragment_of(self)

    def shown(self) -> "Result":
        """Return the result without experiments that no table shows: `Experiment(..., shown=False)`."""
        hidden = {_place(each) for each in self.experiments if not each.get("shown", True)}
        experiments = [each for each in self.experiments if each.get("shown", True)]
        return Result(experiments, [curve for curve in self._curves if curve.place not in hidden]) if hidden else self

    def report(self, folder: str | os.PathLike[str], title: str = "") -> Path:
        """Write the result, pictures and a page to a folder, and return the page: what `corebandit compare` writes."""
        self.save(folder)
        return report_of(self, About(title)).write(Path(folder))

    @property
    def wall_seconds(self) -> float:
        """Return how long all runs took by the clock, over all starts."""
        return sum(curve.wall_seconds for curve in self._curves)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the result to a folder, for `Result.load`; and its frame as Parquet, for other programs."""
        write_result(Path(folder), self.experiments, self._curves)
        write_frame(Path(folder), self.frame)
        About().write(Path(folder))

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *more: str | os.PathLike[str]) -> "Result":
        """Read what `save` or a machine that played has written; of a study in pieces name all folders."""
        return cls(*read_result(Path(folder), *map(Path, more)))


def _place(experiment: Mapping[str, Any]) -> tuple[str, ...]:
    return experiment["name"], experiment.get("part", ""), experiment["label"]


def _tied(grouped: Iterable[tuple[object, Curve]]) -> dict[Curve, bool]:
    """Tell which curves may be the best of their group; those that are not paired with its lowest are not compared."""
    groups: dict[object, list[Curve]] = {}
    for group, curve in grouped:
        groups.setdefault(group, []).append(curve)
    found: dict[Curve, bool] = {}
    for curves in groups.values():
        best = min(curves, key=lambda curve: float(curve.finals.mean()))
        like = best.problem, best.finals.size
        paired = [curve for curve in curves if (curve.problem, curve.finals.size) == like]
        may_be = maybe_lowest(np.stack([curve.finals for curve in paired], axis=1))
        found |= dict.fromkeys(curves, False) | dict(zip(paired, may_be.tolist(), strict=True))
    return found


def _number(value: Any) -> float | None:
    """Return a number, or None where there is none."""
    return float(value) if np.isfinite(value) else None
