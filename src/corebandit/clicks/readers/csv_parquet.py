"""Logs as long tables: one row for each document shown, with columns session, query, rank, document and click.

A session is one result page. Its rows stand together, in any order; other columns are not read. A row that cannot be
read spoils its session: what is left would look like a shorter page.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from corebandit.clicks.readers.pages import EXAMPLES, TWICE, PageCollector
from corebandit.clicks.readers.separated import read_header, read_parts
from corebandit.contracts.errors import BadInput

COLUMNS = ("session", "query", "rank", "document", "click")
ROWS = 1_000_000  # read at once
LAST_RANK = 100_000  # no page is longer
SAMPLE = 64  # of so many sessions one is remembered, to see whether it comes again much later
SORT = "sort the table by session"
NOT_READ, TORN, RANKS, QUERIES = (  # why sessions are dropped
    "a row that could not be read",
    f"rows that do not stand together: {SORT}",
    "not every rank from 1 on once",
    "more than one query",
)


def read_csv(file: IO[str], collector: PageCollector) -> None:
    """Read a CSV file with a header, fields between commas, tabs or semicolons; a row is a line."""
    header = read_header(file)
    if header is not None:
        check_columns(header.names)
        SessionRuns(collector).read(read_parts(file, header, COLUMNS, ROWS))


def read_parquet(path: Path, collector: PageCollector) -> None:
    """Read a Parquet file; the line of a row is its number, from 1."""
    table = pl.scan_parquet(path)
    check_columns(table.collect_schema().names())
    SessionRuns(collector).read(_parquet_parts(table.select(COLUMNS)))


def check_columns(names: list[str]) -> None:
    """Raise BadInput if a column is missing."""
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        verb = f"column {missing[0]} is" if len(missing) == 1 else f"columns {', '.join(missing)} are"
        raise BadInput(f"{verb} missing; the columns are {', '.join(names[:20])}")


def _parquet_parts(table: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the table in parts; texts are as in CSV, without spaces around them, and not empty."""
    n_rows = table.select(pl.len()).collect().item()
    for start in range(0, n_rows, ROWS):
        part = table.slice(start, ROWS).collect().with_row_index("line", start + 1)
        texts = pl.col([name for name in COLUMNS if part.schema[name] in (pl.String, pl.Categorical, pl.Enum)])
        yield part.with_columns(texts.cast(pl.String).str.strip_chars().replace("", None))


class SessionRuns:
    """Takes the rows of a table apart into runs of the same session, and adds them as pages."""

    def __init__(self, collector: PageCollector) -> None:
        self._collector = collector
        self._n_torn, self._n_good, self._n_from_zero = 0, 0, 0
        self._seen, self._seen_again = set[int](), set[int]()

    def read(self, parts: Iterator[pl.DataFrame]) -> None:
        """Read all parts of a table."""
        for rows in _whole_sessions(self._checked(part) for part in parts):
            self._add(rows)
        if self._n_from_zero > self._n_good:
            raise BadInput("ranks start at 0; they must start at 1")
        if self._n_torn > self._n_good or len(self._seen_again) > len(self._seen) / 2:
            raise BadInput(f"the rows of a session must stand together: {SORT}")
        if self._seen_again:
            warnings.warn(f"some sessions come again later in the table and count anew: {SORT}", stacklevel=2)

    def _checked(self, part: pl.DataFrame) -> pl.DataFrame:
        """Return the rows with numbers for rank and click, and whether they can be read; reject the others."""
        rank, click = (pl.col(name).cast(pl.Float64, strict=False) for name in ("rank", "click"))
        is_rank = ((rank >= 1) & (rank == rank.floor()) & (rank <= LAST_RANK)).fill_null(False)
        is_click = click.is_in([0.0, 1.0]).fill_null(False)
        is_good = pl.all_horizontal(*(pl.col(name).is_not_null() for name in COLUMNS), is_rank, is_click)
        if "fault" in part.columns:
            is_good &= pl.col("fault").is_null()
        checked = part.with_columns(is_good=is_good)
        bad = checked.filter(~pl.col("is_good"))
        self._collector.n_lines += part.height
        if bad.height:
            reason = pl.coalesce(
                *(["fault"] if "fault" in part.columns else []),
                *(pl.when(pl.col(name).is_null()).then(pl.lit(f"{name} is missing")) for name in COLUMNS),
                pl.when(~is_rank).then(pl.format("rank must be a whole number from 1 on, not {}", pl.col("rank"))),
                pl.format("click must be 0 or 1, not {}", pl.col("click")),
            )
            examples = bad.head(EXAMPLES).select("line", reason.alias("reason"))
            self._collector.reject(examples.rows(), bad.height)
            # A row of unknown session counts as one of the session before it.
            checked = checked.with_columns(pl.col("session").forward_fill())
        return checked.select(
            "line",
            "session",
            "query",
            rank.fill_nan(None).clip(-1, LAST_RANK + 1).cast(pl.Int64).fill_null(-1),
            "document",
            click.eq(1.0).fill_null(False).cast(pl.UInt8),
            "is_good",
        )

    def _add(self, rows: pl.DataFrame) -> None:
        """Add the sessions that are whole, and drop the others."""
        run = rows["session"].rle_id().to_numpy()
        starts = np.flatnonzero(np.diff(run, prepend=-1))
        lengths = np.diff(starts, append=run.size)
        expected = np.arange(run.size) - np.repeat(starts, lengths) + 1
        if (rows["rank"].to_numpy() != expected).any():
            rows = rows.with_columns(run=run).sort("run", "rank", maintain_order=True)
        lines, ranks = rows["line"].to_numpy()[starts], rows["rank"].to_numpy()
        sessions = rows["session"].gather(starts)
        is_other_query = rows["query"].ne_missing(rows["query"].shift()).to_numpy().copy()
        is_other_query[starts] = False

        # Of several faults the first counts: a session in pieces has not all ranks because of that.
        faults = {
            NOT_READ: np.logical_or.reduceat(~rows["is_good"].to_numpy(), starts),
            TORN: sessions.is_duplicated().to_numpy(),
            RANKS: ~np.logical_and.reduceat(ranks == expected, starts),
            QUERIES: np.logical_or.reduceat(is_other_query, starts),
        }
        is_good = np.ones(starts.size, dtype=bool)
        for fault, has_it in faults.items():
            found = np.flatnonzero(is_good & has_it)
            is_good[found] = False
            examples = []
            for i in found[:EXAMPLES]:
                shown = ranks[starts[i] : starts[i] + min(lengths[i], 12)].tolist()
                detail = f", but {', '.join(map(str, shown))}" if fault == RANKS else ""
                examples.append((int(lines[i]), f"session {sessions[int(i)]} has {fault}{detail}"))
            if found.size:
                self._collector.drop(fault, examples, found.size)
        for width in np.unique(lengths[is_good]).tolist():
            chosen = is_good & (lengths == width)
            _add_pages(rows.filter(np.repeat(chosen, lengths)), lines[chosen], width, self._collector)

        self._n_torn += int(faults[TORN].sum())
        self._n_good += int(is_good.sum())
        self._n_from_zero += int((ranks[starts] == 0).sum())
        hashes = sessions.hash().to_numpy()
        sample = set(hashes[hashes % SAMPLE == 0].tolist())
        self._seen_again |= self._seen & sample
        self._seen |= sample


def _whole_sessions(parts: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the same rows in parts that end where a session ends."""
    rows = next(parts, pl.DataFrame())
    for part in parts:
        run = rows["session"].rle_id().to_numpy()
        n_waiting = int((run == run[-1:]).sum())
        if n_waiting > LAST_RANK:  # no page, and it must not pile up
            n_waiting = 0
        if rows.height > n_waiting:
            yield rows.head(rows.height - n_waiting)
        rows = pl.concat([rows.tail(n_waiting), part])
    if rows.height:
        yield rows


def _add_pages(rows: pl.DataFrame, lines: NDArray[Any], width: int, collector: PageCollector) -> None:
    """Add sessions of `width` rows each."""
    names = rows.select("query", "document").unique(maintain_order=True)
    known = names.with_row_index("pair")
    joined = rows.join(known, on=["query", "document"], how="left", maintain_order="left")
    pairs, clicks = (joined[name].to_numpy().reshape(-1, width) for name in ("pair", "click"))
    is_twice = (np.diff(np.sort(pairs, axis=1), axis=1) == 0).any(axis=1)
    if is_twice.any():
        twice = lines[is_twice]
        collector.drop(TWICE, [(line, "a document stands on the page twice") for line in twice[:EXAMPLES]], twice.size)
    lines, pairs, clicks = lines[~is_twice], pairs[~is_twice], clicks[~is_twice]
    if lines.size == 0:
        return
    pages = collector.of_width(width)
    used = np.unique(pairs) if is_twice.any() else np.arange(names.height)
    codes = np.zeros(names.height, dtype=np.int32)
    # Names become text here, not in every row: a log means the same in every format.
    codes[used] = [pages.codes(query, [document])[0] for query, document in names[used].cast(pl.String).iter_rows()]
    pages.add_many(lines, codes[pairs], clicks)
