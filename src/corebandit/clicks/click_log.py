"""Click logs: what was shown and what was clicked, read one batch at a time so that they may be larger than memory."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import counted

if TYPE_CHECKING:  # imported where used: who plays games needs no frames
    import polars as pl


class Sessions(NamedTuple):
    """A batch of n result pages with M positions."""

    pairs: NDArray[np.int32]  # (n, M) index of the (query, document) pair shown at each position
    clicks: NDArray[np.uint8]  # (n, M) 1 where it was clicked
    queries: NDArray[np.int32]  # (n,) index of the query


class Dropped(NamedTuple):
    """Sessions of a file that are not part of its log."""

    by_reason: Mapping[str, int]  # how many have what is wrong
    examples: tuple[tuple[int, str], ...]  # line and reason of the first few

    @property
    def n_sessions(self) -> int:
        """Return how many there are."""
        return sum(self.by_reason.values())


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
    dropped: Dropped = Dropped({}, ())

    def __init__(self, sessions: Sessions, pairs: "pl.DataFrame", n_queries: int, *, batch_size: int = 100_000) -> None:
        self.n_sessions, self.n_positions = sessions.pairs.shape
        self.pairs, self.n_pairs, self.n_queries = pairs, pairs.height, n_queries
        self._sessions, self._batch_size = sessions, batch_size
        check_sessions(sessions, self)

    @classmethod
    def from_arrays(
        cls, queries: ArrayLike, documents: ArrayLike, clicks: ArrayLike, *, batch_size: int = 100_000
    ) -> Self:
        """Return the log of n sessions: `queries` `(n,)`, `documents` `(n, M)` best first, `clicks` `(n, M)` 0 or 1."""
        of_query, shown, clicked = _array("queries", queries), _array("documents", documents), _array("clicks", clicks)
        if shown.ndim != 2 or 0 in shown.shape:
            wanted = "sessions x positions, at least one of each"
            raise BadInput(f"documents must be {wanted}, not of shape {shown.shape}")
        for name, values, shape in (("queries", of_query, shown.shape[:1]), ("clicks", clicked, shown.shape)):
            if values.shape != shape:
                raise BadInput(f"{name} must be of shape {shape} as documents are, not {values.shape}")
        wrong = np.argwhere(~np.isin(clicked, (0, 1)))
        if wrong.size:
            session, rank = wrong[0]
            raise BadInput(f"clicks of session {session} at rank {rank} must be 0 or 1, not {clicked[session, rank]}")
        query_names, query_codes = _coded(of_query)
        document_names, document_codes = _coded(shown)
        ordered = np.sort(document_codes, axis=1)
        twice = np.argwhere(ordered[:, 1:] == ordered[:, :-1])
        if twice.size:
            session, place = twice[0]
            name = document_names[ordered[session, place]]
            raise BadInput(f"documents of session {session} must differ, but {name} stands on its page twice")
        keys = query_codes[:, None] * document_names.size + document_codes
        known, pairs = np.unique(keys, return_inverse=True)
        import polars as pl

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

    def __repr__(self) -> str:
        """Tell the size."""
        sizes = (
            counted(self.n_sessions, "session"),
            counted(self.n_queries, "query"),
            counted(self.n_pairs, "pair"),
            counted(self.n_positions, "position"),
        )
        return f"<{type(self).__name__}: {', '.join(sizes)}>"

    def batches(self) -> Iterator[Sessions]:
        """Yield all sessions, a batch at a time; every call starts again."""
        for start in range(0, self.n_sessions, self._batch_size):
            part = slice(start, start + self._batch_size)
            yield Sessions(self._sessions.pairs[part], self._sessions.clicks[part], self._sessions.queries[part])


def check_sessions(sessions: Sessions, log: ClickLog) -> None:
    """Raise BadInput if an index does not belong to the log: compiled code would read from anywhere."""
    limits = {"pairs": log.n_pairs, "clicks": 2, "queries": log.n_queries}
    for name, values in sessions._asdict().items():
        if values.size and not 0 <= values.min() <= values.max() < limits[name]:
            raise BadInput(f"{name} of sessions must be from 0 to {limits[name] - 1}, and are not")


def _array(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return an array, or raise BadInput if rows are of different length."""
    try:
        return np.asarray(values)
    except ValueError:
        raise BadInput(f"{name} must have as many positions in every session, and have not") from None


def _coded(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the different values and, for each value, which of them it is."""
    names, codes = np.unique(values, return_inverse=True)
    return names, codes.reshape(values.shape).astype(np.int64)
