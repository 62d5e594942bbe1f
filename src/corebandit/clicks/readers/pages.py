"""Gather the result pages of a file as integers, and keep them outside of memory.

A reader hands its pages to a `PageCollector`. They become indices of (query, document) pairs and go to a temporary
file as soon as there are enough for a batch; what stays in memory are the names of the pairs.
"""

import tempfile
import threading
import weakref
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from corebandit.clicks.click_log import ClickLog, Dropped, Sessions, check_sessions
from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import counted

BATCH = 100_000  # sessions in a batch
IN_MEMORY = 64_000_000  # bytes of a log that need no file
EXAMPLES = 5  # bad lines, and dropped sessions, that are remembered
EMPTY = "it is empty, and must hold at least one result page"

NAMELESS, TWICE = "a query or document without a name", "a document twice"  # why sessions are dropped

BadLine = tuple[int, str]


class Spill:
    """Batches of sessions in a temporary file, deleted with this object; few of them stay in memory."""

    def __init__(self, n_positions: int) -> None:
        self.n_positions, self.sizes = n_positions, list[int]()
        self._lock = threading.Lock()  # the file has one place where it is read
        with ExitStack() as stack:
            self._file: Any = stack.enter_context(tempfile.SpooledTemporaryFile(IN_MEMORY))
            weakref.finalize(self, stack.pop_all().close)

    def write(self, pairs: Any, clicks: Any, queries: Any) -> None:
        """Append a batch; the arguments are buffers of int32, uint8 and int32."""
        for values in (pairs, clicks, queries):
            self._file.write(values)
        self.sizes.append(len(queries))

    def batches(self) -> Iterator[Sessions]:
        """Yield all batches; several threads may have their own iterators."""
        offset = 0
        for size in self.sizes:
            shape = (size, self.n_positions)
            batch = Sessions(np.empty(shape, np.int32), np.empty(shape, np.uint8), np.empty(size, np.int32))
            with self._lock:
                self._file.seek(offset)
                n_read = sum(self._file.readinto(values.reshape(-1).view(np.uint8)) for values in batch)
            if n_read < sum(values.nbytes for values in batch):
                raise OSError("the temporary file of a click log was cut off")
            offset += n_read
            yield batch


class FileLog(ClickLog):
    """A log that was read from a file; sessions lie in a temporary file, and a batch at a time is in memory.

    `bad_lines` tells how many lines (rows, records) could not be read, with number and reason of the first few;
    `dropped` how many sessions were left out, and why; `ignored_clicks` how many clicks were on documents that are not
    on the page.
    """

    def __init__(self, sessions: Spill, pairs: pl.DataFrame, n_queries: int, ignored_clicks: int) -> None:
        self.n_sessions, self.n_positions = sum(sessions.sizes), sessions.n_positions
        self.pairs, self.n_pairs, self.n_queries = pairs, pairs.height, n_queries
        self.ignored_clicks = ignored_clicks
        self._spill = sessions

    def batches(self) -> Iterator[Sessions]:
        """Yield all sessions, a batch at a time; every call starts again."""
        for batch in self._spill.batches():
            check_sessions(batch, self)
            yield batch


class PagesOfWidth:
    """The pages with one number of documents, coded by the pairs that occur on them."""

    def __init__(self, width: int) -> None:
        self.spill, self.n_pages, self.first_lines = Spill(width), 0, list[int]()
        self._names: dict[str, tuple[int, dict[str, int]]] = {}  # query -> its index; its documents -> pair
        self._query_of_pair = array("i")
        self._forget_batch()

    def codes(self, query: str, documents: Sequence[str]) -> list[int]:
        """Return the indices of a query's documents, new ones for those not seen before."""
        if query not in self._names:
            self._names[query] = (len(self._names), {})
        query_index, pairs = self._names[query]
        for document in documents:
            if document not in pairs:
                pairs[document] = len(self._query_of_pair)
                self._query_of_pair.append(query_index)
        return [pairs[document] for document in documents]

    def add(self, line: int, pairs: Sequence[int], clicks: Sequence[int]) -> None:
        """Add one page."""
        self._pairs.extend(pairs)
        self._clicks.extend(clicks)
        self._added(1, [line])

    def add_many(self, lines: NDArray[Any], pairs: NDArray[Any], clicks: NDArray[Any]) -> None:
        """Add n pages: `lines` `(n,)`, `pairs` and `clicks` `(n, width)`."""
        self._pairs.frombytes(pairs.astype(np.int32).tobytes())
        self._clicks += clicks.astype(np.uint8).tobytes()
        self._added(len(lines), lines[:EXAMPLES].tolist())

    def log(self, ignored_clicks: int) -> FileLog:
        """Return the log of all pages that were added."""
        self._write_batch()
        queries, documents, codes = list[str](), list[str](), array("i")
        for query, (_, of_query) in self._names.items():
            queries += [query] * len(of_query)
            documents += of_query.keys()
            codes.extend(of_query.values())
        columns = {"pair": np.array(codes, np.int32), "query": queries, "document": documents}
        return FileLog(self.spill, pl.DataFrame(columns).sort("pair"), len(self._names), ignored_clicks)

    def _added(self, count: int, lines: list[int]) -> None:
        self.n_pages += count
        if len(self.first_lines) < EXAMPLES:
            self.first_lines += lines
        if len(self._clicks) >= BATCH * self.spill.n_positions:
            self._write_batch()

    def _write_batch(self) -> None:
        if self._pairs:
            first_pairs = np.array(self._pairs, np.int32)[:: self.spill.n_positions]
            queries = np.array(self._query_of_pair, np.int32)[first_pairs]
            self.spill.write(self._pairs, self._clicks, queries)
        self._forget_batch()

    def _forget_batch(self) -> None:
        self._pairs, self._clicks = array("i"), bytearray()


class PageCollector:
    """Takes the pages of a file, the lines that cannot be read, and the sessions that must be dropped.

    Only pages with the most common number of documents become part of the log.
    """

    def __init__(self) -> None:
        self.n_lines, self.n_bad, self.ignored_clicks = 0, 0, 0
        self._bad: list[BadLine] = []
        self._dropped, self._dropped_examples = Counter[str](), list[BadLine]()
        self._widths: dict[int, PagesOfWidth] = {}

    def of_width(self, width: int) -> PagesOfWidth:
        """Return where pages with so many documents go."""
        if width not in self._widths:
            self._widths[width] = PagesOfWidth(width)
        return self._widths[width]

    def add(self, line: int, query: str, documents: Sequence[str], clicks: Sequence[int]) -> None:
        """Add one page unless it is bad."""
        if not query or not all(documents):
            self.drop(NAMELESS, [(line, f"the {'document' if query else 'query'} has no name")])
        elif len(set(documents)) < len(documents):
            twice = next(name for name in documents if documents.count(name) > 1)
            self.drop(TWICE, [(line, f"document {twice} stands on the page twice")])
        else:
            pages = self.of_width(len(documents))
            pages.add(line, pages.codes(query, documents), clicks)

    def reject(self, lines: Sequence[BadLine], count: int | None = None) -> None:
        """Count bad lines, those given or `count`, and remember them if they are among the first in the file."""
        self.n_bad += len(lines) if count is None else count
        self._bad = _first([*self._bad, *lines])

    def drop(self, reason: str, sessions: Sequence[BadLine], count: int | None = None) -> None:
        """Count sessions that are dropped, those given or `count`, and remember the first in the file."""
        self._dropped[reason] += len(sessions) if count is None else count
        self._dropped_examples = _first([*self._dropped_examples, *sessions])

    def log(self) -> FileLog:
        """Return the log of all pages, or raise BadInput if there are none, or if most lines cannot be read."""
        if not self._widths:
            if examples := [*self._bad, *self._dropped_examples]:
                line, reason = examples[0]
                raise BadInput(f"it has no good result page; line {line}: {reason}")
            raise BadInput(EMPTY)
        if self.n_bad > self.n_lines / 2:
            line, reason = self._bad[0]
            share = f"{self.n_bad:,} of {self.n_lines:,} lines are none"
            raise BadInput(f"it is not a click log, or not of this format: {share}; line {line}: {reason}")
        common = max(self._widths, key=lambda width: (self._widths[width].n_pages, width))
        for width, pages in self._widths.items():
            if width != common:
                reason = f"the page has {counted(width, 'document')}, and most others have {common}"
                examples = [(line, reason) for line in pages.first_lines]
                self.drop(f"another number of documents than most, {common}", examples, pages.n_pages)
        log = self._widths[common].log(self.ignored_clicks)
        log.bad_lines = (self.n_bad, tuple(self._bad))
        log.dropped = Dropped(dict(self._dropped.most_common()), tuple(self._dropped_examples))
        return log


def _first(lines: list[BadLine]) -> list[BadLine]:
    return sorted(lines)[:EXAMPLES]
