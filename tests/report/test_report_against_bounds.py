"""Figures of shares against bounds."""

import numpy as np
import polars as pl
import pytest

from corebandit.report import figures
from corebandit.report.against_bounds import shares


@pytest.fixture
def frame():
    rows = [
        {"title": title, "series": series, "x_name": "c", "y_name": "share", "x": x, "share": share, "bound": bound}
        for title in ("First", "Second")
        for series in ("LinCORe", "LinTS")
        for x, share, bound in ((1.0, 0.5, 0.9), (2.0, 0.1, 0.3), (4.0, 0.0, None))
    ]
    return pl.DataFrame(rows)


def test_there_is_one_log_log_panel_per_title(frame):
    figure = shares(frame)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["First", "Second"]
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in figure.axes} == {("log", "log")}
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("c", "share")


def test_shares_of_zero_and_bounds_of_nothing_are_left_out(frame):
    measured, bound, *_ = shares(frame).axes[0].lines
    assert measured.get_xydata().tolist() == [[1.0, 0.5], [2.0, 0.1]]
    np.testing.assert_array_equal(bound.get_ydata(), [0.9, 0.3, np.nan])
    assert bound.get_linestyle() == "--"


def test_the_legend_names_each_series_and_the_bound_once(frame):
    (legend,) = shares(frame).legends
    assert [text.get_text() for text in legend.get_texts()] == ["LinCORe", "LinTS", "what the lemma says"]


def test_it_can_be_written(frame):
    assert "<svg" in figures.as_svg(shares(frame))
