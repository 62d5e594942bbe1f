"""Click logs from arrays."""

import numpy as np
import pytest

from corebandit.clicks.click_log import ClickLog


def test_pairs_of_query_and_document_are_numbered():
    log = ClickLog.from_arrays(["x", "y", "x"], [["a", "b"], ["a", "c"], ["b", "a"]], [[1, 0], [0, 0], [0, 1]])
    assert (log.n_sessions, log.n_positions, log.n_pairs, log.n_queries) == (3, 2, 4, 2)
    assert log.bad_lines == (0, ())
    names = {row["pair"]: (row["query"], row["document"]) for row in log.pairs.iter_rows(named=True)}
    (batch,) = log.batches()
    assert [[names[pair] for pair in row] for row in batch.pairs] == [
        [("x", "a"), ("x", "b")],
        [("y", "a"), ("y", "c")],
        [("x", "b"), ("x", "a")],
    ]
    assert batch.clicks.tolist() == [[1, 0], [0, 0], [0, 1]]
    assert batch.queries.tolist() == [0, 1, 0]
    assert [array.dtype for array in batch] == [np.int32, np.uint8, np.int32]


def test_batches_are_all_sessions_in_order_and_start_again():
    documents = np.arange(14).reshape(7, 2)
    log = ClickLog.from_arrays(np.zeros(7, int), documents, documents % 2, batch_size=3)
    for _ in range(2):
        batches = list(log.batches())
        assert [len(batch.pairs) for batch in batches] == [3, 3, 1]
        assert np.concatenate([batch.pairs for batch in batches]).tolist() == documents.tolist()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ([], np.empty((0, 3)), np.empty((0, 3))),
            r"documents must be sessions x positions, at least one of each, not",
        ),
        (([1], [2], [0]), r"documents must be sessions x positions, at least one of each, not of shape \(1,\)"),
        (([1, 2], [[1, 2]], [[0, 0]]), r"queries must be of shape \(1,\) as documents are, not \(2,\)"),
        (([1], [[1, 2]], [[0, 0, 0]]), r"clicks must be of shape \(1, 2\) as documents are, not \(1, 3\)"),
        (([1, 1], [[1, 2]] * 2, [[0, 0], [1, 2]]), "clicks of session 1 at rank 1 must be 0 or 1, not 2"),
        (
            ([1, 1], [[1, 2], [1]], [[0, 0], [0]]),
            "documents must have as many positions in every session",
        ),
        (([1, 1], [[1, 2]] * 2, [[0, 0], [0]]), "clicks must have as many positions in every session"),
        (
            (["q", "q"], [["a", "b", "c"], ["b", "c", "b"]], np.zeros((2, 3))),
            "documents of session 1 must differ, but b stands on its page twice",
        ),
    ],
)
def test_mistakes_are_named(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        ClickLog.from_arrays(*arguments)


def test_indices_that_belong_to_nothing_are_refused():
    log = ClickLog.from_arrays(["x", "y"], [["a", "b"], ["a", "c"]], [[1, 0], [0, 0]])
    (batch,) = log.batches()
    for field, wrong in (("pairs", 4), ("pairs", -1), ("clicks", 2), ("queries", 2)):
        values = getattr(batch, field).copy()
        values.flat[-1] = wrong
        with pytest.raises(ValueError, match=f"{field} of sessions must be from 0 to"):
            ClickLog(batch._replace(**{field: values}), log.pairs, log.n_queries)


def test_a_log_shows_its_size():
    log = ClickLog.from_arrays(["x"] * 2, [["a", "b"], ["b", "c"]], [[1, 0], [0, 0]])
    assert repr(log) == "<ClickLog: 2 sessions, 1 query, 3 pairs, 2 positions>"
