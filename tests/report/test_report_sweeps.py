"""Figures of parameter sweeps: lines over one parameter, heat maps over two."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import LogNorm, to_rgb

from corebandit.report import figures, sweep_drawings as sweeps
from corebandit.report.sweep_tables import cell_number
from often import often

NOTHING = pl.lit(None, pl.Float64)


def rings(axes):
    return [line for line in axes.lines if len(line.get_xdata()) == 1]


def curves(axes):
    return [line for line in axes.lines if len(line.get_xdata()) > 1]


def boxes(figure, texts):
    figure.draw_without_rendering()
    return [text.get_window_extent() for text in texts]


def luminance(colour):
    parts = np.asarray(to_rgb(colour))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def test_a_search_has_one_panel_per_title_and_one_line_per_series(search):
    figure = sweeps.sweep_lines(search)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Easy", "Hard"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["LinTS", "LinPHE"]
    for axes in figure.axes:
        assert axes.get_xlabel() == "sigma"
        assert [len(line.get_xdata()) for line in curves(axes)] == [12, 12]
        assert all(line.get_marker() != "" for line in curves(axes))
    assert [axes.get_ylabel() for axes in figure.axes] == ["regret at the end", ""]
    edges = figure.axes[0].collections[0].get_paths()[0].vertices
    assert edges[np.isclose(edges[:, 0], 0.4)][:, 1] == pytest.approx([90, 110], abs=21)


def test_the_lowest_point_of_each_series_is_ringed_and_named(search):
    axes = sweeps.sweep_lines(search).axes[0]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in rings(axes)] == [(0.4, 100), (0.8, 100)]
    assert [(text.get_text(), text.xy) for text in axes.texts] == [("0.4", (0.4, 100)), ("0.8", (0.8, 100))]


def test_points_are_joined_in_the_order_of_the_parameter(search):
    line = curves(sweeps.sweep_lines(search.reverse()).axes[0])[0]
    assert list(line.get_xdata()) == sorted(line.get_xdata())


def test_core_has_a_marker_too(search):
    styles = sweeps.series_styles(search.with_columns(series=pl.lit("LinCORe")))
    assert styles["LinCORe"].is_emphasised
    assert styles["LinCORe"].marker


@pytest.mark.parametrize(("factor", "scale"), [(19.0, "linear"), (21.0, "log")])
def test_an_axis_is_logarithmic_from_a_factor_of_20_on(search, factor, scale):
    ends = search.filter((pl.col("series") == "LinTS") & pl.col("x").is_in([0.1, 0.2]) & (pl.col("title") == "Easy"))
    over_x = sweeps.sweep_lines(ends.with_columns(x=pl.Series([1.0, factor]))).axes[0]
    over_y = sweeps.sweep_lines(ends.with_columns(mean=pl.Series([1.0, factor]))).axes[0]
    assert (over_x.get_xscale(), over_y.get_yscale()) == (scale, scale)


def test_texts_of_neighbouring_lowest_points_do_not_overlap(search):
    near = search.with_columns(pl.when(series="LinPHE").then(pl.col("x") - 0.35).otherwise(pl.col("x")).alias("x"))
    figure = sweeps.sweep_lines(near.filter(pl.col("x") > 0))
    for axes in figure.axes:
        first, second = boxes(figure, axes.texts)
        assert not first.overlaps(second)
        assert axes.bbox.y0 < min(first.y0, second.y0)


def test_series_that_agree_share_one_text(search):
    one = search.filter(series="LinTS")
    axes = sweeps.sweep_lines(pl.concat([one, one.with_columns(series=pl.lit("twin"))])).axes[0]
    assert [text.get_text() for text in axes.texts] == ["0.4"]
    assert len(rings(axes)) == 2


def test_every_cell_of_a_map_shows_its_number_where_it_belongs(grid):
    axes = sweeps.heat_map(grid).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.2", "0.4", "0.6", "0.8", "1", "1.2", "1.4"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("alpha", "z")
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    assert len(shown) == 49
    assert (shown[2.5, 2.5], shown[0.5, 2.5], shown[2.5, 3.5], shown[6.5, 6.5]) == ("100", "400", "200", "25.6k")
    assert shown[6.5, 2.5] == "1600"


def test_maps_are_drawn_from_rows_in_any_order(grid):
    shuffled = grid.sample(fraction=1.0, shuffle=True, seed=3)
    texts = [
        {text.get_position(): text.get_text() for text in sweeps.heat_map(frame).axes[0].texts}
        for frame in (grid, shuffled)
    ]
    assert texts[0] == texts[1]


def test_the_best_cell_is_outlined_and_bold(grid):
    axes = sweeps.heat_map(grid).axes[0]
    (outline,) = axes.patches
    assert (round(outline.get_x() - 0.5), round(outline.get_y() - 0.5)) == (2, 2)
    assert 2 < outline.get_x() < outline.get_x() + outline.get_width() < 3
    assert [text.get_position() for text in axes.texts if text.get_fontweight() == "bold"] == [(2.5, 2.5)]


def test_colours_follow_the_logarithm_and_have_a_bar(grid):
    figure = sweeps.heat_map(grid)
    mesh = figure.axes[0].collections[0]
    assert isinstance(mesh.norm, LogNorm)
    assert (mesh.norm.vmin, mesh.norm.vmax) == (100, 25_600)
    assert figure.axes[1].get_ylabel() == "regret at the end"
    figure.draw_without_rendering()
    assert {"200", "1k", "20k"} <= {text.get_text() for text in figure.axes[1].get_yticklabels()}


def test_numbers_stand_out_from_their_cells(grid):
    axes = sweeps.heat_map(grid).axes[0]
    mesh = axes.collections[0]
    for text in axes.texts:
        column, row = (int(part) for part in text.get_position())
        pair = sorted([luminance(mesh.to_rgba(mesh.get_array()[row, column])), luminance(text.get_color())])
        assert (pair[1] + 0.05) / (pair[0] + 0.05) > 4.3


@pytest.mark.heavy
@pytest.mark.parametrize("n", often([12], [7, 12]))
def test_numbers_fit_into_their_cells(make_grid, n):
    figure = sweeps.heat_map(make_grid(n, n).with_columns(mean=pl.lit(88.8e3)))
    axes = figure.axes[0]
    extents = boxes(figure, axes.texts)
    assert max(box.width for box in extents) < 0.95 * axes.bbox.width / n
    assert max(box.height for box in extents) < 0.8 * axes.bbox.height / n
    labels = boxes(figure, axes.get_xticklabels())
    assert not any(left.overlaps(right) for left, right in pairwise(labels))


def test_each_title_and_series_has_a_map(grid):
    other = grid.with_columns(series=pl.lit("LinPHE"))
    figure = sweeps.heat_map(pl.concat([grid, other, grid.with_columns(title=pl.lit("Easy"))]))
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.get_title(loc="left")]
    assert titles == ["Hard: LinCORe", "Hard: LinPHE", "Easy: LinCORe"]


def test_cells_that_were_not_run_stay_empty(grid):
    axes = sweeps.heat_map(grid.filter(~((pl.col("x") > 1.3) & (pl.col("y") > 0.75)))).axes[0]
    assert len(axes.texts) == 48
    assert axes.collections[0].get_array().mask.sum() == 1


@pytest.mark.heavy
@pytest.mark.parametrize(
    "mean",
    [
        pl.lit(0.0),
        pl.col("mean") - 500,
        pytest.param(pl.lit(5.0), marks=pytest.mark.endurance),
        pytest.param(200 + pl.col("mean") / 1000, marks=pytest.mark.endurance),
    ],
)
def test_odd_regrets_can_be_drawn(search, grid, mean):
    odd = {"mean": mean, "ci_low": NOTHING, "ci_high": NOTHING}
    for frame in (search, grid, search.head(1), grid.head(1)):
        (figure,) = sweeps.sweep_figures(frame.with_columns(**odd))
        figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (118.4, "118"),
        (9999.4, "9999"),
        (9999.6, "10k"),
        (12_345.0, "12.3k"),
        (999_700.0, "1M"),
        (2.5e9, "2.5G"),
        (9.96, "10"),
        (9.94, "9.9"),
        (0.314, "0.31"),
        (0.0, "0"),
        (-52.3, "-52"),
    ],
)
def test_numbers_in_cells_have_at_most_four_digits(value, text):
    assert cell_number(value) == text


def test_each_kind_of_sweep_gets_its_figure(search, grid):
    assert [len(drawn.axes) for drawn in sweeps.sweep_figures(pl.concat([grid, search]))] == [2, 2]
    assert len(sweeps.sweep_panels(search, sweeps.series_styles(search))) == 2
    assert len(sweeps.heat_map_panels(grid)) == 1
    with pytest.raises(ValueError, match="at least one row"):
        sweeps.heat_map(search)
    with pytest.raises(ValueError, match="at least one row"):
        sweeps.sweep_lines(grid)


@pytest.mark.endurance
def test_files_of_sweeps_hold_the_same_bytes_every_time(search, grid, tmp_path):
    for frame in (search, grid):
        first, second = (figures.save(sweeps.sweep_figures(frame)[0], tmp_path / name / "sweep") for name in ("a", "b"))
        assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_numbers_in_cells_do_not_follow_the_page(grid):
    root = ElementTree.fromstring(figures.as_svg(sweeps.heat_map(grid)))
    styles = {text.text: text.get("style") for text in root.iter("text")}
    assert "var(" not in styles["1600"]
    assert "var(--ink" in styles["alpha"]
