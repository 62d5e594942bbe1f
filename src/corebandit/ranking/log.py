"""Click logs: what was shown and what was clicked, read one batch at a time so that they may be larger than memory."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray


class Sessions(NamedTuple):
    """A batch of n result pages with M positions."""

    pairs: NDArray[np.int32]  # (n, M) index of the (query, document) pair shown at each position
    clicks: NDArray[np.uint8]  # (n, M) 1 where it was clicked
    queries: NDArray[np.int32]  # (n,) index of the query


class ClickLog:
    """A log held in memory; one that reads a file has its own `batches`.

    Parameters
    ----------
    sessions
        All sessions.
    pairs
        What the indices mean: columns `pair` (0, 1, ...), `query` and `document`.
    n_queries
        Number of different queries.
    batch_size
        Sessions in a batch.

    >>> log = ClickLog.from_arrays(["bandit"] * 2, [["a", "b"], ["b", "c"]], [[0, 1], [0, 0]])
    >>> log.n_sessions, log.n_pairs, log.n_positions
    (2, 3, 2)
    """

    bad_lines: tuple[int, tuple[tuple[int, str], ...]] = (0, ())  # how many; number and reason of the first few

    def __init__(self, sessions: Sessions, pairs: pl.DataFrame, n_queries: int, *, batch_size: int = 100_000) -> None:
        self.n_sessions, self.n_positions = sessions.pairs.shape
        self.pairs, self.n_pairs, self.n_queries = pairs, pairs.height, n_queries
        self._sessions, self._batch_size = sessions, batch_size

    @classmethod
    def from_arrays(
        cls, queries: ArrayLike, documents: ArrayLike, clicks: ArrayLike, *, batch_size: int = 100_000
    ) -> Self:
        """Return the log of n sessions: `queries` `(n,)`, `documents` `(n, M)` best first, `clicks` `(n, M)` 0 or 1."""
        of_query, shown, clicked = np.asarray(queries), np.asarray(documents), np.asarray(clicks)
        if shown.ndim != 2 or 0 in shown.shape:
            wanted = "sessions x positions, at least one of each"
            raise ValueError(f"documents must be {wanted}, not of shape {shown.shape}")
        for name, values, shape in (("queries", of_query, shown.shape[:1]), ("clicks", clicked, shown.shape)):
            if values.shape != shape:
                raise ValueError(f"{name} must be of shape {shape} as documents are, not {values.shape}")
        wrong = np.argwhere(~np.isin(clicked, (0, 1)))
        if wrong.size:
            session, rank = wrong[0]
            raise ValueError(f"clicks of session {session} at rank {rank} must be 0 or 1, not {clicked[session, rank]}")
        query_names, query_codes = _coded(of_query)
        document_names, document_codes = _coded(shown)
        keys = query_codes[:, None] * document_names.size + document_codes
        known, pairs = np.unique(keys, return_inverse=True)
        names = pl.DataFrame(
            {
                "pair": np.arange(known.size, dtype=np.int32),
                "query": query_names[known // document_names.size],
                "document": document_names[known % document_names.size],
            }
        )
        sessions = Sessions(
            pairs.reshape(shown.shape).astype(np.int32), clicked.astype(np.uint8), query_codes.astype(np.int32)
        )
        return cls(sessions, names, query_names.size, batch_size=batch_size)

    def batches(self) -> Iterator[Sessions]:
        """Yield all sessions, a batch at a time; every call starts again."""
        for start in range(0, self.n_sessions, self._batch_size):
            part = slice(start, start + self._batch_size)
            yield Sessions(self._sessions.pairs[part], self._sessions.clicks[part], self._sessions.queries[part])


def _coded(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the different values and, for each value, which of them it is."""
    names, codes = np.unique(values, return_inverse=True)
    return names, codes.reshape(values.shape).astype(np.int64)
