"""What an experiment has shown: the regret of every run at every checkpoint, and the description that made it."""

import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from corebandit import report
from corebandit.contracts.atomic_files import digest_of, fits_its_digest, json_with_digest, make_folder, write_whole
from corebandit.contracts.errors import BadInput, DamagedFile
from corebandit.contracts.state import FloatArray
from corebandit.experiments.statistics import mean_interval, mean_intervals, standard_error

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError, pl.exceptions.PolarsError)
RESULTS, EXPERIMENTS = "results.parquet", "experiments.json"


class Curve(NamedTuple):
    """All runs of one policy on one problem."""

    figure: str
    problem: str
    policy: str
    title: str
    rounds: FloatArray  # (checkpoints,)
    regret: FloatArray  # (runs, checkpoints)
    cpu_seconds: float

    @property
    def names(self) -> dict[str, str]:
        """Return what identifies the curve."""
        return {"figure": self.figure, "problem": self.problem, "policy": self.policy}


@dataclass(frozen=True)
class Result:
    """The regrets of one experiment or several.

    Attributes
    ----------
    frame
        One row a checkpoint: figure (the experiment's name), problem, policy, run, round, regret.
    experiments
        The descriptions that made it.
    cpu_seconds
        One row a policy: figure, problem, policy, cpu_seconds.

    In a notebook a result shows its table and its figure by itself.
    """

    frame: pl.DataFrame
    experiments: Sequence[dict[str, Any]]
    cpu_seconds: pl.DataFrame

    def curves(self) -> Iterator[Curve]:
        """Yield the runs of each policy on each problem, in the order of the experiments."""
        titles = {(e["name"], e["label"]): e["title"] for e in self.experiments}
        seconds = {tuple(row[:3]): row[3] for row in self.cpu_seconds.iter_rows()}
        for key, rows in self.frame.group_by("figure", "problem", "policy", maintain_order=True):
            figure, problem, policy = (str(part) for part in key)
            rounds = rows["round"].unique(maintain_order=True).to_numpy()
            regret = rows["regret"].to_numpy().reshape(-1, rounds.size)
            title = titles[figure, problem]
            yield Curve(figure, problem, policy, title, rounds, regret, seconds[figure, problem, policy])

    def regret(self, policy: str, problem: str | None = None, figure: str | None = None) -> FloatArray:
        """Return the regret of one policy, `(runs, checkpoints)`; name problem and figure where there are several."""
        found = [
            curve
            for curve in self.curves()
            if curve.policy == policy and problem in (None, curve.problem) and figure in (None, curve.figure)
        ]
        if len(found) != 1:
            known = ", ".join(f"{curve.figure}/{curve.problem}/{curve.policy}" for curve in self.curves())
            raise BadInput(f"policy {policy!r} fits {len(found)} curves, not one; figure/problem/policy are: {known}")
        return found[0].regret

    def summary(self) -> pl.DataFrame:
        """Return the final regret of each policy: mean, standard error, 95 % bootstrap interval."""
        rows = []
        for curve in self.curves():
            final = curve.regret[:, -1]
            mean, low, high = mean_interval(final)
            rows.append(
                {
                    **curve.names,
                    "horizon": int(curve.rounds[-1]),
                    "runs": final.size,
                    "mean": mean,
                    "stderr": standard_error(final),
                    "ci_low": low,
                    "ci_high": high,
                    "cpu_seconds": curve.cpu_seconds,
                }
            )
        return pl.DataFrame(rows)

    def mean_curves(self, *, with_sweeps: bool = True) -> pl.DataFrame:
        """Return the mean regret of each policy at each checkpoint, with 95 % bootstrap intervals."""
        parts = [pl.DataFrame(schema=MEAN_CURVES)]
        left_out = {} if with_sweeps else self._points()
        for curve in self.curves():
            if tuple(curve.names.values()) in left_out:
                continue
            mean, low, high = mean_intervals(curve.regret)
            columns = {"round": curve.rounds, "mean": mean, "ci_low": low, "ci_high": high}
            names = [pl.lit(value).alias(name) for name, value in {**curve.names, "title": curve.title}.items()]
            parts.append(pl.DataFrame(columns).select(*names, *columns))
        return pl.concat(parts)

    def finals(self) -> pl.DataFrame:
        """Return the final regret of every run."""
        parts = []
        for curve in self.curves():
            columns = {"run": range(len(curve.regret)), "regret": curve.regret[:, -1]}
            names = [pl.lit(value).alias(name) for name, value in {**curve.names, "title": curve.title}.items()]
            parts.append(pl.DataFrame(columns).select(*names, *columns))
        return pl.concat(parts)

    def sweeps(self) -> pl.DataFrame:
        """Return the final regret of each policy that is a point of a parameter sweep: mean and 95 % interval."""
        points = self._points()
        rows = []
        for curve in self.curves():
            if (curve.figure, curve.problem, curve.policy) not in points:
                continue
            title, point = points[curve.figure, curve.problem, curve.policy]
            (x_name, x), (y_name, y) = [*point["at"].items(), (None, None)][:2]
            mean, low, high = mean_interval(curve.regret[:, -1])
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
                    "runs": len(curve.regret),
                    "horizon": int(curve.rounds[-1]),
                    "mean": mean,
                    "ci_low": low,
                    "ci_high": high,
                }
            )
        return pl.DataFrame(rows, schema=SWEEPS)

    def _points(self) -> dict[tuple[str, str, str], tuple[str, dict[str, Any]]]:
        """Return the panel of each policy of a sweep and where it stands there, by figure, problem and policy."""
        return {
            (experiment["name"], experiment["label"], policy): (experiment["title"], point)
            for experiment in self.experiments
            for policy, point in experiment.get("points", {}).items()
        }

    def differences(self, baseline: str | None = None) -> pl.DataFrame:
        """Return the paired difference of final regret of each policy to `baseline`, by default the first policy.

        Policies that are points of a parameter sweep are left out.
        """
        rows = []
        reference: dict[tuple[str, str], Curve] = {}
        points = self._points()
        compared = [curve for curve in self.curves() if tuple(curve.names.values()) not in points]
        for curve in compared:
            if baseline in (None, curve.policy):
                reference.setdefault((curve.figure, curve.problem), curve)
        for curve in compared:
            base = reference.get((curve.figure, curve.problem))
            if base is None or base.policy == curve.policy:
                continue
            gaps = curve.regret[:, -1] - base.regret[:, -1]
            mean, low, high = mean_interval(gaps)
            measured = {"runs": gaps.size, "mean": mean, "ci_low": low, "ci_high": high}
            measured["share_better"] = float((gaps < 0).mean())
            rows.append({**curve.names, "baseline": base.policy, **measured})
        if not rows and baseline is not None and not reference:
            known = ", ".join(dict.fromkeys(curve.policy for curve in compared)) or "all are settings of a sweep"
            raise BadInput(f"baseline must be one of the policies ({known}), not {baseline!r}")
        return pl.DataFrame(rows, schema=DIFFERENCES)

    def joined_with(self, other: "Result") -> "Result":
        """Return both results as one, this one first."""
        return Result(
            pl.concat([self.frame, other.frame]),
            [*self.experiments, *other.experiments],
            pl.concat([self.cpu_seconds, other.cpu_seconds]),
        )

    def plot(self, figure: str | None = None) -> Any:
        """Return a matplotlib figure: cumulative regret, or a sweep; name the figure where the result holds several."""
        name = figure or self.frame["figure"][0]
        swept = self.sweeps().filter(figure=name)
        if not swept.is_empty():
            return report.sweep_figures(swept)[0]
        return report.regret_curves(self.mean_curves().filter(figure=name))

    def _repr_html_(self) -> str:
        return report.render_fragment(self.summary(), self.mean_curves(), self.sweeps())

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the result to a folder, for `Result.load`."""
        path = Path(folder)
        make_folder(path)
        table = io.BytesIO()
        self.frame.write_parquet(table)
        write_whole(path / RESULTS, table.getvalue())
        description = {
            "experiments": list(self.experiments),
            "cpu_seconds": self.cpu_seconds.to_dicts(),
            RESULTS: digest_of(table.getvalue()),
        }
        write_whole(path / EXPERIMENTS, json_with_digest(description, indent=1))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "Result":
        """Read a result that `save`, or the command line, has written."""
        path = Path(folder)
        for name in (RESULTS, EXPERIMENTS):
            if not (path / name).exists():
                raise BadInput(f"{path} holds no result: there is no {name}")
        try:
            table, text = (path / RESULTS).read_bytes(), (path / EXPERIMENTS).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise DamagedFile(f"{path / EXPERIMENTS} is damaged: {error}") from error
        try:
            description = json.loads(text)
            is_whole = "digest" not in description or (  # 0.4 wrote none
                fits_its_digest(description) and description[RESULTS] == digest_of(table)
            )
            seconds = pl.DataFrame(description["cpu_seconds"], schema=CPU_SECONDS)
            result = cls(pl.read_parquet(io.BytesIO(table)), description["experiments"], seconds)
        except UNREADABLE as error:
            raise DamagedFile(f"{path} holds a result that is damaged: {str(error).partition(chr(10))[0]}") from error
        if not is_whole or dict(result.frame.schema) != FRAME:
            raise DamagedFile(f"{path} holds a result that is damaged: its content does not fit its digest")
        return result


NAMES = {"figure": pl.String, "problem": pl.String, "policy": pl.String}
MEAN_CURVES = {
    **NAMES,
    "title": pl.String,
    "round": pl.Int64,
    "mean": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
}
FRAME = {**NAMES, "run": pl.Int64, "round": pl.Int64, "regret": pl.Float64}
CPU_SECONDS = {**NAMES, "cpu_seconds": pl.Float64}
DIFFERENCES = {
    **NAMES,
    "baseline": pl.String,
    "runs": pl.Int64,
    "mean": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "share_better": pl.Float64,
}
SWEEPS = {
    **NAMES,
    "title": pl.String,
    "series": pl.String,
    "x_name": pl.String,
    "x": pl.Float64,
    "x_label": pl.String,  # what to call the place, if not by its value
    "y_name": pl.String,
    "y": pl.Float64,
    "runs": pl.Int64,
    "horizon": pl.Int64,
    "mean": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
}
