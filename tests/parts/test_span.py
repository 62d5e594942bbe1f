"""Which rows point out of what was seen, against the rank of all of them."""

import numpy as np
import pytest

from corebandit.agents.widening import widen_over
from corebandit.parts.span import Span, new_span


def check_span(span: Span, rank: int) -> None:
    assert span.n_spanned[0] == rank
    d = span.part.size
    np.testing.assert_allclose(span.complement @ span.complement.T, np.eye(d), rtol=0, atol=1e-14)
    assert span.is_whole() == (rank == d)


@pytest.mark.parametrize("seed", range(8))
def test_the_span_grows_with_the_rank_of_the_rows(seed):
    noise = np.random.default_rng([9, seed])
    inner = int(noise.integers(1, 7))
    rows = noise.normal(size=(12, inner)) @ noise.normal(size=(inner, 6))
    rows = rows[noise.integers(0, 12, 20)] * 10.0 ** noise.integers(-6, 4, (20, 1))  # with repeats, of all scales
    rows[noise.integers(0, 20, 3)] = 0.0
    span = new_span(6)
    for index, x in enumerate(rows):
        unit = rows[: index + 1] / np.maximum(np.linalg.norm(rows[: index + 1], axis=1, keepdims=True), 1e-300)
        before, is_new = int(span.n_spanned[0]), bool(span.is_new(x))
        span.add(x)
        assert is_new == (span.n_spanned[0] > before)
        check_span(span, int(np.linalg.matrix_rank(unit, tol=1e-9)))
        assert not span.is_new(x)
        outside = span.complement[: 6 - span.n_spanned[0]] @ unit.T
        np.testing.assert_allclose(outside, 0.0, atol=1e-11)


@pytest.mark.parametrize(("gap", "rank"), [(1e-3, 3), (1e-7, 3), (1e-10, 3), (1e-14, 2), (0.0, 2)])
@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e3, 1e100])
def test_rows_that_are_nearly_dependent_count_down_to_a_trillionth(gap, rank, scale):
    span = new_span(3)
    first, second, across = np.array([[1.0, 2.0, 3.0], [0.3, -1.0, 0.5], [4.0, 0.4, -1.6]])
    for x in (first, second, 2.0 * first - 7.0 * second + gap * across):
        span.add(scale * x)
    check_span(span, rank)


def test_a_row_of_zeros_points_nowhere():
    span = new_span(2)
    span.add(np.zeros(2))
    assert not span.is_new(np.zeros(2))
    check_span(span, 0)


def test_one_feature_is_spanned_by_any_number_but_zero():
    span = new_span(1)
    assert span.is_new(np.array([-1e-9]))
    span.add(np.array([-1e-9]))
    check_span(span, 1)


@pytest.mark.parametrize("n_before", [0, 1, 2, 3])
def test_columns_that_come_later_leave_what_is_spanned_as_it_was(n_before):
    rows = np.random.default_rng(n_before).normal(size=(n_before, 3))
    narrow, wide = new_span(3), new_span(5)
    for x in rows:
        narrow.add(x)
    widen_over(narrow, wide)
    check_span(wide, n_before)
    for x in rows:
        assert not wide.is_new(np.pad(x, (0, 2)))
    for column in (3, 4):  # nothing was seen there yet
        assert wide.is_new(np.eye(5)[column])
    for x in np.eye(5):
        wide.add(x)
    check_span(wide, 5)
