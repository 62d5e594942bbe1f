"""Figures of scaling studies."""

import numpy as np
import polars as pl
import pytest
from matplotlib.lines import Line2D

from corebandit.report import figures
from corebandit.report.power_laws import scaling

SIZES = {"Regret against n": ("n", [1000.0, 2000.0, 4000.0, 8000.0]), "Regret against K": ("K", [2.0, 4.0, 8.0])}


@pytest.fixture
def frame():
    rows = [
        {"title": title, "series": series, "x_name": name, "x": x, "mean": start * x**0.5}
        for title, (name, sizes) in SIZES.items()
        for series, start in (("LinCORe", 2.0), ("LinTS", 3.0))
        for x in sizes
    ]
    return pl.DataFrame(rows).with_columns(ci_low=0.9 * pl.col("mean"), ci_high=1.1 * pl.col("mean"))


@pytest.fixture
def fits():
    rows = [
        {"title": title, "series": series, "exponent": 0.5, "ci_low": 0.45, "ci_high": 0.55, "reference": 1.0}
        for title in SIZES
        for series in ("LinCORe", "LinTS")
    ]
    return pl.DataFrame(rows).with_columns(reference_name=pl.lit(r"$\sqrt{n}$"))


def legend_texts(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def lines(axes, style):
    return [line for line in axes.lines if line.get_linestyle() == style and line.get_marker() in ("", "None", None)]


def test_there_is_one_log_log_panel_per_title(frame, fits):
    figure = scaling(frame, fits)
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(SIZES)
    assert [axes.get_xlabel() for axes in figure.axes] == ["n", "K"]
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in figure.axes} == {("log", "log")}


def test_the_legend_gives_each_exponent_with_its_interval_and_the_bound_once(frame, fits):
    texts = legend_texts(scaling(frame, fits).axes[0])
    assert texts == [
        "LinCORe: exponent 0.500 [0.450, 0.550]",
        "LinTS: exponent 0.500 [0.450, 0.550]",
        r"shape of the bound: $\sqrt{n}$, exponent 1",
    ]


def test_fitted_lines_go_through_points_that_follow_the_law(frame, fits):
    fitted = lines(scaling(frame, fits).axes[0], "-")
    for line, start in zip(fitted, (2.0, 3.0), strict=True):
        assert line.get_ydata() == pytest.approx(start * np.sqrt(SIZES["Regret against n"][1]))


def test_guides_start_at_the_first_point_and_have_the_exponent_of_the_bound(frame, fits):
    guide = lines(scaling(frame, fits).axes[0], "--")[0]
    first = 2.0 * np.sqrt(1000.0)
    assert guide.get_ydata() == pytest.approx([first, 2 * first, 4 * first, 8 * first])


def test_guides_have_the_colours_of_their_series_and_so_do_their_dashes_in_the_legend(frame, fits):
    axes = scaling(frame, fits).axes[0]
    fitted, guides = ([line.get_color() for line in lines(axes, style)] for style in ("-", "--"))
    assert guides == fitted
    assert len(set(guides)) == 2
    dashes = [line.get_color() for line in axes.get_legend().findobj(Line2D) if line.get_linestyle() == "--"]
    assert dashes == guides


def test_a_bound_takes_the_place_of_the_power_law(frame, fits):
    bound = pl.when(x_name="K").then(pl.col("x").log()).otherwise(None)
    figure = scaling(frame.with_columns(bound=bound), fits)
    assert lines(figure.axes[1], "--")[0].get_ydata() == pytest.approx(np.log([2.0, 4.0, 8.0]))
    assert lines(figure.axes[0], "--")[0].get_ydata()[-1] == pytest.approx(16.0 * np.sqrt(1000.0))


def test_intervals_are_bars_and_all_is_in_view(frame, fits):
    axes = scaling(frame, fits).axes[0]
    bar = axes.collections[0].get_segments()[0]
    assert bar[:, 1] == pytest.approx([1.8 * np.sqrt(1000.0), 2.2 * np.sqrt(1000.0)])
    low, high = axes.get_ylim()
    assert low < 1.8 * np.sqrt(1000.0) < 8 * 3 * np.sqrt(1000.0) < high


def test_an_interval_that_reaches_zero_leaves_the_axes_logarithmic(frame, fits):
    wide = frame.with_columns(ci_low=-pl.col("mean"))
    axes = scaling(wide, fits).axes[0]
    assert axes.get_yscale() == "log"
    low, _ = axes.get_ylim()
    assert all(0.0 < bar[0, 1] < low for bar in axes.collections[0].get_segments())


def test_only_names_of_bounds_are_mathematics(frame, fits):
    odd = frame.with_columns(series=pl.lit("$x$")), fits.with_columns(series=pl.lit("$x$"))
    texts = scaling(*odd).axes[0].get_legend().get_texts()
    assert [text.get_parse_math() for text in texts] == [False, True]


def test_legends_stay_below_their_panels(frame, fits):
    figure = scaling(frame, fits)
    figure.draw_without_rendering()
    for axes in figure.axes:
        legend = axes.get_legend().get_window_extent()
        assert legend.y1 < axes.xaxis.label.get_window_extent().y0
        assert legend.y0 > 0
        assert legend.x1 < figure.bbox.x1


@pytest.mark.heavy
def test_fits_and_intervals_may_be_missing(frame, fits):
    nothing = pl.lit(None, pl.Float64)
    scaling(frame, fits.clear()).draw_without_rendering()
    bare = {"ci_low": nothing, "ci_high": nothing}
    figure = scaling(frame.with_columns(**bare), fits.with_columns(reference=nothing, **bare))
    assert legend_texts(figure.axes[0]) == ["LinCORe: exponent 0.5000", "LinTS: exponent 0.5000"]
    figure.draw_without_rendering()


@pytest.mark.endurance
def test_files_hold_the_same_bytes_every_time(frame, fits, tmp_path):
    first, second = (figures.save(scaling(frame, fits), tmp_path / name / "scaling") for name in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
