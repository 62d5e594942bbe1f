"""Parameter sweeps as tables of text, for the console and the page alike."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from corebandit.report import tables

if TYPE_CHECKING:
    from polars import DataFrame


class Cell(NamedTuple):
    """Mean final regret under one setting; `text` is short enough for a grid."""

    mean: str
    text: str
    interval: str
    is_best: bool
    is_tied: bool  # with the best


class SweepTable(NamedTuple):
    """The settings of one parameter down and the series across, or of two parameters down and across.

    `series` is empty in the first case; a cell is None where nothing was run; `best` has one line per series.
    """

    experiment: str
    part: str
    title: str
    series: str
    size: str
    down: str
    across: str
    columns: list[str]
    rows: list[tuple[str, list[Cell | None]]]
    best: list[str]

    def without_best(self) -> "SweepTable":
        """Return the table with no setting called the best, for sizes that nobody chooses."""
        rows = [
            (name, [cell and cell._replace(is_best=False, is_tied=False) for cell in cells])
            for name, cells in self.rows
        ]
        return self._replace(rows=rows, best=[])


def sweep_tables(sweeps: "DataFrame") -> list[SweepTable]:
    """Return one table for each part and title, and for two parameters one per series too, in the frame's order."""
    made = []
    for frame in sweeps.partition_by("experiment", "part", "title", "y_name", maintain_order=True):
        if frame["y_name"][0] is None:
            made.append(_table(frame, "", down="x", across="series"))
        else:
            parts = frame.partition_by("series", maintain_order=True)
            made += [_table(part, part["series"][0], down="y", across="x") for part in parts]
    return made


def setting(record: dict[str, Any]) -> str:
    """Return the parameters of a point: sigma=0.3, or alpha=0.6 z=0.4."""
    pairs = [(record["x_name"], record["x"]), (record["y_name"], record["y"])]
    return " ".join(f"{name}={value:g}" for name, value in pairs if name is not None)


def _table(frame: "DataFrame", series: str, down: str, across: str) -> SweepTable:
    records = frame.to_dicts()
    best: dict[str, dict[str, Any]] = {}
    for record in records:
        name = record["series"]
        if name not in best or record["mean"] < best[name]["mean"]:
            best[name] = record
    cells = {(record[down], record[across]): _cell(record, record is best[record["series"]]) for record in records}
    names = list(dict.fromkeys(record[across] for record in records))
    across_values = names if across == "series" else sorted(names)
    # A second parameter grows upwards, as in the heat map.
    down_values = sorted({record[down] for record in records}, reverse=down == "y")
    named = {record["x"]: record["x_label"] for record in records if down == "x" and record.get("x_label")}
    first = records[0]
    return SweepTable(
        experiment=first["experiment"],
        part=first["part"],
        title=first["title"],
        series=series,
        size=tables.run_size(frame["runs"], frame["horizon"]),
        down=" or ".join(dict.fromkeys(record[f"{down}_name"] for record in records)),
        across="" if across == "series" else first["x_name"],
        columns=[value if across == "series" else setting_number(value) for value in across_values],
        rows=[
            (named.get(value) or setting_number(value), [cells.get((value, other)) for other in across_values])
            for value in down_values
        ],
        best=[
            f"{name} {setting(record)} ({_estimate(record)}){_ties(records, record)}{_edges(records, record)}"
            for name, record in best.items()
        ],
    )


def _ties(records: Sequence[Mapping[str, Any]], best: Mapping[str, Any]) -> str:
    """Say how many settings of its series cannot be told from the best."""
    n_tied = sum(
        bool(record.get("tied")) for record in records if record["series"] == best["series"] and record is not best
    )
    return f"; {n_tied} more cannot be told from it" if n_tied else ""


def _edges(records: Sequence[Mapping[str, Any]], best: Mapping[str, Any]) -> str:
    """Say of which parameters the best value is the smallest or the largest that was tried."""
    said = ""
    for axis in ("x", "y"):
        values = sorted({record[axis] for record in records if record["series"] == best["series"]} - {None})
        if len(values) > 1 and best[axis] in (values[0], values[-1]):
            name, end = best[f"{axis}_name"], "smallest" if best[axis] == values[0] else "largest"
            said += f"; it is the {end} {name} tried, and one beyond may be better"
    return said


def setting_number(value: float) -> str:
    """Return the value of a parameter, short enough to stand above a column of cells: 0.2, 0.333, 1234."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


def cell_number(value: float) -> str:
    """Return a number that fits into a cell: 1234, 57, 5.7, 0.31, 12.3k."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        # Four whole digits still fit, and what is rounded to more does not.
        if abs(value) >= max(0.9995 * size, 9999.5):
            return f"{float(f'{value / size:.3g}'):g}{letter}"
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.2g}"


def _cell(record: dict[str, Any], is_best: bool) -> Cell:
    mean, low, high = record["mean"], *_bounds(record)
    is_tied = bool(record.get("tied")) and not is_best
    return Cell(tables.value_within(mean, low, high), cell_number(mean), tables.interval(low, high), is_best, is_tied)


def _estimate(record: dict[str, Any]) -> str:
    return tables.estimate(record["mean"], *_bounds(record))


def _bounds(record: dict[str, Any]) -> tuple[float | None, float | None]:
    # One run says nothing about the spread, whatever a bootstrap of it yields.
    return (record["ci_low"], record["ci_high"]) if record["runs"] > 1 else (None, None)
