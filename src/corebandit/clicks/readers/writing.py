"""Write click logs as long tables, a part at a time."""

import gzip
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl

from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.models import ClickModel
from corebandit.clicks.simulation import simulate
from corebandit.contracts.atomic_files import writing_whole
from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import check_count, shortened
from corebandit.randomness.stream import stream

SUFFIXES = (".parquet", ".csv", ".csv.gz")
BATCH = 100_000  # sessions simulated at once


def write_log(path: str | PathLike[str], log: ClickLog) -> None:
    """Write a log as a table with columns session, query, rank, document and click, as `.parquet`, `.csv` or `.csv.gz`.

    Sessions are numbered from 0; ranks start at 1. The file appears whole or not at all. Names that would not be read
    as they are, being empty or with line breaks, NUL or outer spaces, are refused.
    """
    for column in ("query", "document"):
        _check_names(column, log.pairs[column])
    _write_tables(Path(path), _tables_of(log))


def write_simulated_log(
    path: str | PathLike[str],
    models: Mapping[str, ClickModel],
    n_sessions: int,
    *,
    seed: int = 0,
    documents: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write a log of simulated users, as `write_log` does.

    Each session is of a query drawn uniformly from `models` (query -> model), and shows its documents in an order drawn
    uniformly from all, as many as the model knows ranks for. `documents` (query -> names, in the order of the model)
    are what they are called, as `read_documents` finds it beside models; without, a document's name is its index.
    """
    check_count("n_sessions", n_sessions)
    check_count("seed", seed, at_least=0)
    if not models:
        raise BadInput("models must hold at least one query, not none")
    _check_names("query", pl.Series(list(models), dtype=pl.String))
    widths = {query: model.max_positions for query, model in models.items()}
    first = next(iter(widths))
    for query, width in widths.items():
        if width != widths[first]:
            shared = f"as many positions as {first}, {widths[first]}"
            raise BadInput(f"all queries must have {shared}, but {query} has {width}")
    names = _names(models, documents) if documents else None
    _write_tables(Path(path), _simulated_tables(models, names, widths[first], n_sessions, seed))


def _names(models: Mapping[str, ClickModel], documents: Mapping[str, Sequence[str]]) -> dict[str, pl.Series]:
    """Return what the documents of each query are called; where nobody says, by their number."""
    found = {}
    for query, model in models.items():
        given = documents.get(query, range(model.n_documents))
        named = list(map(str, given)) if isinstance(given, Sequence) and not isinstance(given, str) else []
        if len(named) != model.n_documents or len(set(named)) < len(named):
            raise BadInput(
                f"documents of query {query} must be {model.n_documents} different names, as its model has documents, "
                f"not {shortened(given)}"
            )
        found[query] = pl.Series(named, dtype=pl.String)
        _check_names("document", found[query])
    return found


def _check_names(what: str, names: pl.Series) -> None:
    """Raise BadInput if a name cannot be written to every format and read again."""
    text = names.cast(pl.String)
    is_bad = (text.str.strip_chars() != text) | (text == "") | text.str.contains(r"[\r\n\x00]")
    if is_bad.fill_null(True).any():
        name = text.filter(is_bad.fill_null(True))[0]
        raise BadInput(f"a {what} must have a name without line breaks, NUL and outer spaces, not {shortened(name)}")


def _tables_of(log: ClickLog) -> Iterator[pl.DataFrame]:
    names, n_sessions = log.pairs.sort("pair").select("query", "document"), 0
    for batch in log.batches():
        shown = names[batch.pairs.reshape(-1)]
        yield _table(n_sessions, shown["query"], shown["document"], batch.clicks)
        n_sessions += len(batch.queries)


def _simulated_tables(
    models: Mapping[str, ClickModel], names: Mapping[str, pl.Series] | None, width: int, n_sessions: int, seed: int
) -> Iterator[pl.DataFrame]:
    queries = pl.Series(list(models))
    named = None if names is None else pl.concat(list(names.values()))
    starts = np.cumsum([0, *(model.n_documents for model in models.values())])  # where those of a query begin in it
    for start in range(0, n_sessions, BATCH):
        size = min(BATCH, n_sessions - start)
        rng = np.random.default_rng([seed, start])
        of_query = rng.integers(len(models), size=size)
        documents = np.empty((size, width), dtype=np.int64)
        clicks = np.empty((size, width), dtype=np.uint8)
        order = np.argsort(of_query, kind="stable")
        ends = np.cumsum(np.bincount(of_query, minlength=len(models)))
        for i, (query, model) in enumerate(models.items()):
            sessions = order[ends[i - 1] if i else 0 : ends[i]]
            if sessions.size == 0:
                continue
            all_documents = np.tile(np.arange(model.n_documents), (sessions.size, 1))
            rankings = rng.permuted(all_documents, axis=1)[:, :width]
            documents[sessions] = rankings
            clicks[sessions] = simulate(model, rankings, stream(seed, "simulated log", query, start))
        shown = pl.Series(documents.reshape(-1))
        if named is not None:
            shown = named[(documents + starts[of_query][:, None]).reshape(-1)]
        yield _table(start, queries[np.repeat(of_query, width)], shown, clicks)


def _table(first_session: int, queries: pl.Series, documents: pl.Series, clicks: np.ndarray) -> pl.DataFrame:
    """Return the rows of sessions: `queries` and `documents` by row, `clicks` `(n, n_positions)`."""
    n, width = clicks.shape
    return pl.DataFrame(
        {
            "session": np.repeat(np.arange(first_session, first_session + n), width),
            "query": queries,
            "rank": np.tile(np.arange(1, width + 1, dtype=np.int32), n),
            "document": documents,
            "click": clicks.reshape(-1).astype(np.uint8),
        }
    )


def _write_tables(path: Path, tables: Iterable[pl.DataFrame]) -> None:
    """Write one table after another into the same file."""
    if not path.name.endswith(SUFFIXES):
        raise BadInput(f"{path} must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    with writing_whole(path) as file:
        if path.suffix == ".parquet":
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as folder:
                pieces: list[Path] = []
                for table in tables:
                    pieces.append(Path(folder) / f"{len(pieces)}.parquet")
                    table.write_parquet(pieces[-1])
                pl.scan_parquet(pieces).sink_parquet(file)
            return
        with gzip.GzipFile(fileobj=file, mode="wb") if path.suffix == ".gz" else nullcontext(file) as text:
            for i, table in enumerate(tables):
                text.write(table.write_csv(include_header=i == 0).encode())
