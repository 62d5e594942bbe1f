"""What is in a log: its size, where users click, and the pages that are shown most."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from corebandit.clicks.click_log import ClickLog
from corebandit.contracts.state import FloatArray


class LogSummary(NamedTuple):
    """A log in numbers."""

    n_sessions: int
    n_queries: int
    n_documents: int
    n_pairs: int
    n_positions: int
    clicks_per_session: float
    share_without_clicks: float  # of the sessions
    click_through: FloatArray  # (n_positions,) share of the sessions with a click there


def summarise(log: ClickLog) -> LogSummary:
    """Return a log in numbers."""
    clicks_at, n_without = np.zeros(log.n_positions), 0
    for batch in log.batches():
        clicks_at += batch.clicks.sum(axis=0)
        n_without += int((batch.clicks.max(axis=1) == 0).sum())
    return LogSummary(
        n_sessions=log.n_sessions,
        n_queries=log.n_queries,
        n_documents=log.pairs["document"].n_unique(),
        n_pairs=log.n_pairs,
        n_positions=log.n_positions,
        clicks_per_session=float(clicks_at.sum() / log.n_sessions),
        share_without_clicks=n_without / log.n_sessions,
        click_through=clicks_at / log.n_sessions,
    )


def most_shown_pages(log: ClickLog, n_queries: int | None = None) -> dict[Any, list[Any]]:
    """Return for each query the documents of its most frequent result page, in order; the most frequent query first.

    Of pages shown equally often the one that was shown first is taken. With `n_queries` only for the most frequent.
    """
    sessions_of = np.zeros(log.n_queries, dtype=np.int64)
    for batch in log.batches():
        sessions_of += np.bincount(batch.queries, minlength=log.n_queries)
    wanted = np.argsort(-sessions_of, kind="stable")[:n_queries]

    chosen_sessions, start = _sessions_with_the_most_frequent_page(log, wanted), 0
    pages: dict[int, NDArray[np.int32]] = {}
    for batch in log.batches():
        here = chosen_sessions[(chosen_sessions >= start) & (chosen_sessions < start + len(batch.queries))] - start
        pages |= dict(zip(batch.queries[here].tolist(), batch.pairs[here], strict=True))
        start += len(batch.queries)
    shown = log.pairs.sort("pair")[np.concatenate([pages[query] for query in wanted.tolist()])]
    queries = shown["query"].gather_every(log.n_positions).to_list()
    documents = np.array(shown["document"].to_list(), dtype=object).reshape(-1, log.n_positions)
    return dict(zip(queries, documents.tolist(), strict=True))


def _sessions_with_the_most_frequent_page(log: ClickLog, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each wanted query the number of the first session that shows its most frequent page."""
    is_wanted = np.zeros(log.n_queries, dtype=bool)
    is_wanted[wanted] = True
    # A page is told by 64 random bits, as there may be nearly as many pages as sessions.
    mixers = np.random.default_rng(0).integers(2**64 - 1, size=log.n_positions, dtype=np.uint64)
    merged, pending, start = pl.DataFrame(), list[pl.DataFrame](), 0
    for batch in log.batches():
        here = np.flatnonzero(is_wanted[batch.queries])
        bits = ((batch.pairs[here].astype(np.uint64) + np.uint64(1)) * mixers).sum(axis=1)
        columns = {"query": batch.queries[here], "page": bits, "first": here + start, "shown": np.ones_like(here)}
        pending.append(_added_up([pl.DataFrame(columns)]))
        start += len(batch.queries)
        # Merging only once what waits is as large as what is merged keeps the work small.
        if sum(part.height for part in pending) > merged.height:
            merged, pending = _added_up([merged, *pending]), []
    best = _added_up([merged, *pending]).sort("query", "shown", "first", descending=[False, True, False])
    return best.unique("query", keep="first", maintain_order=True)["first"].to_numpy()


def _added_up(counts: list[pl.DataFrame]) -> pl.DataFrame:
    """Return the counts of all pages together."""
    filled = [part for part in counts if part.height]
    if not filled:
        return pl.DataFrame()
    return pl.concat(filled).group_by("query", "page").agg(pl.col("first").min(), pl.col("shown").sum())
