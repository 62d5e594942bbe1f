"""Logs as long tables: one row for each document shown, with columns session, query, rank, document and click.

A session is one result page. Its rows stand together, in any order; other columns are not read.
"""

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from corebandit.ranking.readers.pages import EXAMPLES, PageCollector

COLUMNS = ("session", "query", "rank", "document", "click")
ROWS = 1_000_000  # read at once
LAST_RANK = 100_000  # no page is longer


def read_csv(file: IO[str], collector: PageCollector) -> None:
    """Read a CSV file with a header; a field that holds commas stands in quotes."""
    header = next(csv.reader([file.readline()]), [])
    if not header:
        return
    places = _places([name.strip() for name in header])
    _read_parts(_csv_parts(file, places), collector)


def read_parquet(path: Path, collector: PageCollector) -> None:
    """Read a Parquet file; the line of a row is its number, from 1."""
    table = pl.scan_parquet(path)
    _places(table.collect_schema().names())
    _read_parts(_parquet_parts(table.select(COLUMNS)), collector)


def _places(names: list[str]) -> list[int]:
    """Return where the columns stand among others."""
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise ValueError(f"a table must have the columns {', '.join(COLUMNS)}, without which {missing[0]} is unknown")
    return [names.index(name) for name in COLUMNS]


def _csv_parts(file: IO[str], places: list[int]) -> Iterator[pl.DataFrame]:
    """Yield the table in parts, everything as text."""
    first_line = 2
    while lines := list(islice(file, ROWS)):
        # Line by line, so that an open quote cannot swallow the lines after it.
        rows = pl.Series(lines, dtype=pl.String)
        if rows.str.contains('"', literal=True).any():
            rows = pl.Series([next(csv.reader([line]), []) for line in lines], dtype=pl.List(pl.String))
        else:
            rows = rows.str.split(",")
        fields = {name: rows.list.get(place, null_on_oob=True) for name, place in zip(COLUMNS, places, strict=True)}
        part = pl.DataFrame(fields).with_columns(pl.col(COLUMNS).str.strip_chars().replace("", None))
        yield part.with_row_index("line", first_line).filter(~pl.all_horizontal(pl.col(COLUMNS).is_null()))
        first_line += len(lines)


def _parquet_parts(table: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the table in parts."""
    n_rows = table.select(pl.len()).collect().item()
    for start in range(0, n_rows, ROWS):
        yield table.slice(start, ROWS).collect().with_row_index("line", start + 1)


def _read_parts(parts: Iterator[pl.DataFrame], collector: PageCollector) -> None:
    """Read the parts of a table."""
    first_session, n_first, n_torn, n_good = None, 0, 0, 0
    for rows in _whole_sessions(_good_rows(part, collector) for part in parts):
        sessions = rows["session"].rle().struct.field("value")
        if first_session is None:
            first_session = sessions[0]
        n_first += int((sessions == first_session).sum())
        torn, good = _add_pages(rows, collector)
        n_torn, n_good = n_torn + torn, n_good + good
    if n_first > 1 and n_torn > n_good:
        raise ValueError("the rows of a session must stand together: sort the table by session")


def _whole_sessions(parts: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the same rows in parts that end where a session ends."""
    waiting = None
    for part in parts:
        rows = part if waiting is None else pl.concat([waiting, part])
        run = rows["session"].rle_id().to_numpy()
        n_waiting = int((run == run[-1:]).sum())
        if n_waiting > LAST_RANK:  # no page, and it must not pile up
            n_waiting = 0
        waiting = rows.tail(n_waiting)
        if rows.height > n_waiting:
            yield rows.head(rows.height - n_waiting)
    if waiting is not None and waiting.height:
        yield waiting


def _good_rows(part: pl.DataFrame, collector: PageCollector) -> pl.DataFrame:
    """Return the rows that can be read, with numbers for rank and click, and reject the others."""
    rank, click = (pl.col(name).cast(pl.Float64, strict=False) for name in ("rank", "click"))
    reason = pl.coalesce(
        *(pl.when(pl.col(name).is_null()).then(pl.lit(f"{name} is missing")) for name in COLUMNS),
        pl.when(~((rank >= 1) & (rank == rank.floor()) & (rank <= LAST_RANK)).fill_null(False)).then(
            pl.format("rank must be a whole number from 1 on, not {}", pl.col("rank"))
        ),
        pl.when(~click.is_in([0.0, 1.0]).fill_null(False)).then(
            pl.format("click must be 0 or 1, not {}", pl.col("click"))
        ),
    )
    checked = part.with_columns(reason=reason)
    bad = checked.filter(pl.col("reason").is_not_null())
    _reject(collector, bad["line"].to_numpy(), bad["reason"].head(EXAMPLES).to_list())
    if bad.height:
        part = checked.filter(pl.col("reason").is_null()).drop("reason")
    return part.with_columns(rank.cast(pl.Int64), click.cast(pl.UInt8))


def _add_pages(rows: pl.DataFrame, collector: PageCollector) -> tuple[int, int]:
    """Add the sessions that are whole; return how many others start below rank 1, and how many are whole."""
    run = rows["session"].rle_id().to_numpy()
    starts = np.flatnonzero(np.diff(run, prepend=-1))
    lengths = np.diff(starts, append=run.size)
    expected = np.arange(run.size) - np.repeat(starts, lengths) + 1
    if (rows["rank"].to_numpy() != expected).any():
        rows = rows.with_columns(run=run).sort("run", "rank", maintain_order=True)
    lines, ranks = rows["line"].to_numpy()[starts], rows["rank"].to_numpy()
    has_all_ranks = np.logical_and.reduceat(ranks == expected, starts)
    is_other_query = (rows["query"] != rows["query"].shift()).fill_null(False).to_numpy().copy()
    is_other_query[starts] = False
    has_one_query = ~np.logical_or.reduceat(is_other_query, starts)

    bad = np.flatnonzero(~(has_all_ranks & has_one_query))
    reasons = []
    for i in bad[:EXAMPLES]:
        part = rows[int(starts[i]) : int(starts[i] + lengths[i])]
        shown = ", ".join(map(str, part["rank"].head(12)))
        fault = "more than one query" if has_all_ranks[i] else f"not every rank from 1 on once, but {shown}"
        reasons.append(f"session {part['session'][0]} has {fault}")
    _reject(collector, lines[bad], reasons)

    is_good = has_all_ranks & has_one_query
    for width in np.unique(lengths[is_good]).tolist():
        chosen = is_good & (lengths == width)
        _add_pages_of_width(rows.filter(np.repeat(chosen, lengths)), lines[chosen], width, collector)
    return int((ranks[starts] > 1).sum()), int(is_good.sum())


def _add_pages_of_width(rows: pl.DataFrame, lines: NDArray[Any], width: int, collector: PageCollector) -> None:
    """Add sessions of `width` rows each."""
    names = rows.select("query", "document").unique(maintain_order=True)
    known = names.with_row_index("pair")
    joined = rows.join(known, on=["query", "document"], how="left", maintain_order="left")
    pairs, clicks = (joined[name].to_numpy().reshape(-1, width) for name in ("pair", "click"))
    is_twice = (np.diff(np.sort(pairs, axis=1), axis=1) == 0).any(axis=1)
    _reject(collector, lines[is_twice], ["a document stands on the page twice"] * EXAMPLES)
    lines, pairs, clicks = lines[~is_twice], pairs[~is_twice], clicks[~is_twice]
    if lines.size == 0:
        return
    pages = collector.of_width(width)
    used = np.unique(pairs) if is_twice.any() else np.arange(names.height)
    codes = np.zeros(names.height, dtype=np.int32)
    # Names become text here, not in every row: a log means the same in every format.
    codes[used] = [pages.codes(query, [document])[0] for query, document in names[used].cast(pl.String).iter_rows()]
    pages.add_many(lines, codes[pairs], clicks)


def _reject(collector: PageCollector, lines: NDArray[Any], reasons: list[str]) -> None:
    """Reject all `lines`; the first of them have `reasons`."""
    for line, reason in zip(lines.tolist(), reasons, strict=False):
        collector.reject(line, reason)
    collector.n_bad += max(lines.size - len(reasons), 0)
