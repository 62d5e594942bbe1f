"""The columns of the frames that results are shown and saved as."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from corebandit.contracts.atomic_files import write_whole

NAMES = {"experiment": pl.String, "part": pl.String, "problem": pl.String, "policy": pl.String}
MEAN_CURVES = {
    **NAMES,
    "title": pl.String,
    "round": pl.Int64,
    "mean": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
}
FRAME = {**NAMES, "run": pl.Int64, "round": pl.Int64, "regret": pl.Float64}
FINALS = {**NAMES, "title": pl.String, "run": pl.Int64, "regret": pl.Float64}
RUNS = {
    **NAMES,
    "title": pl.String,
    "run": pl.Int64,
    "regret": pl.Float64,
    "best_arm_share": pl.Float64,
    "simple_regret": pl.Float64,
    "gap": pl.Float64,
    "means": pl.List(pl.Float64),
    "pulls": pl.List(pl.Int64),
}
MEASURES = {**NAMES, "run": pl.Int64, "measure": pl.String, "value": pl.Float64}
CPU_SECONDS = {**NAMES, "cpu_seconds": pl.Float64}
DIFFERENCES = {  # a terminal shows the first four columns, and the last four
    "policy": pl.String,
    "baseline": pl.String,
    "problem": pl.String,
    "mean": pl.Float64,
    "title": pl.String,
    "part": pl.String,
    "experiment": pl.String,
    "runs": pl.Int64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "share_better": pl.Float64,
}
SUMMARY = (  # likewise
    *("policy", "problem", "mean", "stderr", "ci_low", "ci_high", "tied", "q10", "median", "q90"),
    *("best_arm_share", "simple_regret", "title", "part", "experiment", "horizon", "runs", "cpu_seconds"),
)
SWEEPS = {
    **NAMES,
    "title": pl.String,
    "series": pl.String,
    "x_name": pl.String,
    "x": pl.Float64,
    "x_label": pl.String,  # what to call the place, if not by its value
    "y_name": pl.String,
    "y": pl.Float64,
    "tied": pl.Boolean,  # cannot be told from the best of its series
    "runs": pl.Int64,
    "horizon": pl.Int64,
    "mean": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
}


def frame_of(schema: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return one frame of parts, each of which has a name or a column of values for every column of the schema."""
    frames = []
    for part in parts:
        columns = {name: values for name, values in part.items() if not isinstance(values, str)}
        names = [pl.lit(value, pl.String).alias(name) for name, value in part.items() if isinstance(value, str)]
        kinds = {name: schema[name] for name in columns}
        frames.append(pl.DataFrame(columns, schema=kinds).with_columns(names).select(*schema))
    return pl.concat([pl.DataFrame(schema=schema), *frames])


def write_frame(folder: Path, frame: pl.DataFrame) -> None:
    """Write a frame as Parquet, for other programs: nothing here reads it."""
    table = io.BytesIO()
    frame.write_parquet(table)
    write_whole(folder / "results.parquet", table.getvalue())
