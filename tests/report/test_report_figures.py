"""Figures: structure, styles, odd data, and the same bytes every time."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import matplotlib
import numpy as np
import polars as pl
import pytest
from matplotlib.image import imread

from corebandit.report import figures
from corebandit.report.style import EMPHASIS, policy_styles

pytestmark = pytest.mark.heavy  # every figure is drawn


def legend_texts(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def drawn_lines(axes):
    return [line for line in axes.lines if len(line.get_xdata()) > 1]


def tick_texts(figure, axis):
    figure.draw_without_rendering()
    return [text.get_text() for text in axis.get_ticklabels()]


def test_there_is_one_panel_per_problem_and_one_line_per_policy(frames):
    figure = figures.regret_curves(frames.curves)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Bernoulli bandit", "Beta bandit"]
    assert legend_texts(figure) == ["UCB1", "UCB-V", "TS", "CORe", "CORe (warm-up 2)"]
    for axes in figure.axes:
        assert axes.get_yscale() == "log"
        assert [line.get_ydata()[-1] for line in axes.lines] == pytest.approx([440, 780, 116, 107, 83])
        assert len(axes.collections) == 5


def test_the_band_covers_the_interval(frames):
    axes = figures.regret_curves(frames.curves).axes[0]
    edges = axes.collections[0].get_paths()[0].vertices
    at_the_end = edges[edges[:, 0] == 10_000][:, 1]
    assert (at_the_end.min(), at_the_end.max()) == pytest.approx((0.9 * 440, 1.1 * 440))


def test_all_regrets_after_the_first_hundredth_are_in_view(frames):
    curves = frames.curves.with_columns(round=pl.col("round") + 1)
    early = curves.filter(pl.col("round") == 101).with_columns(round=pl.lit(1, pl.Int64), mean=pl.lit(1e-6))
    axes = figures.regret_curves(pl.concat([early, curves])).axes[0]
    low, high = axes.get_ylim()
    assert 1 < low < 8.3
    assert high > 780


def test_panels_wrap_after_three(make):
    figure = figures.regret_curves(make(titles={name: name for name in "abcde"}).curves)
    rows = [axes.get_subplotspec().rowspan.start for axes in figure.axes]
    assert rows == [0, 0, 0, 1, 1]
    assert [axes.get_ylabel() != "" for axes in figure.axes] == [True, False, False, True, False]


def test_a_policy_looks_the_same_in_every_panel(frames):
    absent = (pl.col("problem") == "beta") & (pl.col("policy") == "UCB1")
    figure = figures.regret_curves(frames.curves.filter(~absent))
    looks = [
        {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in axes.lines} for axes in figure.axes
    ]
    assert looks[1] < looks[0]
    assert len(looks[0]) == 5
    assert len(looks[1]) == 4


def test_core_variants_differ_in_hue_and_dashes_and_the_plain_name_is_solid():
    styles = policy_styles(["CORe (warm-up 2)", "TS", "LinCORe", "my CORe", "CORe(alpha=0.4)"])
    assert list(styles) == ["CORe (warm-up 2)", "TS", "LinCORe", "my CORe", "CORe(alpha=0.4)"]
    family = [styles[name] for name in ("LinCORe", "CORe (warm-up 2)", "CORe(alpha=0.4)")]
    assert family[0].colour == EMPHASIS
    assert len({style.colour for style in family}) == 3
    assert [style.dashes for style in family] == ["-", "--", "-."]
    assert styles["TS"].colour != EMPHASIS
    assert styles["TS"].width < styles["LinCORe"].width


@pytest.mark.parametrize("prefix", ["rival", "CORe"])
def test_twenty_policies_differ_even_without_colour(prefix):
    styles = policy_styles([f"{prefix} {index}" for index in range(20)])
    assert len({(style.dashes, style.marker) for style in styles.values()}) == 20


def test_twenty_policies_all_reach_the_legend(make):
    policies = {f"policy {index}": 50.0 + index for index in range(20)}
    made = make(policies, {"a": "A"})
    assert legend_texts(figures.regret_curves(made.curves)) == list(policies)
    axes = figures.final_regrets(made.finals).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == list(policies)


def test_markers_stand_at_about_ten_points(frames):
    line = figures.regret_curves(frames.curves).axes[0].lines[0]
    start, step = line.get_markevery()
    assert len(range(start, 100, step)) == 10
    assert line.get_marker() == "o"


def test_thousands_are_short(frames):
    figure = figures.regret_curves(frames.curves)
    assert tick_texts(figure, figure.axes[0].xaxis) == ["0", "2k", "4k", "6k", "8k", "10k"]
    assert "200" in tick_texts(figure, figure.axes[0].yaxis)


def test_negative_regret_is_drawn_on_a_linear_axis(frames):
    shifted = [pl.col(name) - 50 for name in ("mean", "ci_low", "ci_high")]
    figure = figures.regret_curves(frames.curves.with_columns(shifted))
    axes = figure.axes[0]
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim()[0] < min(line.get_ydata().min() for line in axes.lines) < 0
    assert any(text.startswith("−") or text == "0" for text in tick_texts(figure, axes.yaxis))
    finals = figures.final_regrets(frames.finals.with_columns(pl.col("regret") - 150))
    assert finals.axes[0].get_xscale() == "linear"
    finals.draw_without_rendering()


def test_panels_beside_one_another_have_axes_alike_which_say_so(frames):
    log = figures.regret_curves(frames.curves)
    assert [axes.get_ylabel() for axes in log.axes] == ["cumulative regret, log scale", ""]
    assert figures.final_regrets(frames.finals).axes[1].get_xlabel() == "final regret of a run, log scale"
    is_bernoulli = pl.col("problem") == "bernoulli"
    curves = frames.curves.with_columns(pl.when(is_bernoulli).then(pl.col("mean") - 50).otherwise("mean").alias("mean"))
    finals = frames.finals.with_columns(
        pl.when(is_bernoulli).then(pl.col("regret") - 150).otherwise("regret").alias("regret")
    )
    styles = policy_styles(frames.finals["policy"])
    assert [axes.get_yscale() for axes in figures.regret_curves(curves).axes] == ["linear"] * 2
    assert [axes.get_xscale() for axes in figures.final_regrets(finals).axes] == ["linear"] * 2
    for panels in (figures.regret_panels(curves, styles), figures.final_regret_panels(finals, styles)):
        for axes in (panel.axes[0] for panel in panels):
            assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
            assert "log" not in axes.get_xlabel() + axes.get_ylabel()


def test_intervals_that_reach_below_zero_leave_the_log_axis_alone(frames):
    figure = figures.regret_curves(frames.curves.with_columns(ci_low=pl.lit(-5.0)))
    assert figure.axes[0].get_yscale() == "log"
    figure.draw_without_rendering()


def test_regret_of_zero_can_be_drawn(frames):
    curves = frames.curves.with_columns(mean=pl.lit(0.0), ci_low=pl.lit(0.0), ci_high=pl.lit(0.0))
    figure = figures.regret_curves(curves)
    assert figure.axes[0].get_yscale() == "linear"
    figure.draw_without_rendering()
    figures.final_regrets(frames.finals.with_columns(regret=pl.lit(0.0))).draw_without_rendering()


def test_one_run_of_one_policy_without_an_interval_can_be_drawn(make):
    made = make({"mine": 20.0}, {"bernoulli": "B"}, runs=1)
    nothing = pl.lit(None, pl.Float64)
    figure = figures.regret_curves(made.curves.with_columns(ci_low=nothing, ci_high=nothing))
    assert figure.axes[0].lines[0].get_ydata()[-1] == pytest.approx(20)
    figure.draw_without_rendering()
    figures.final_regrets(made.finals).draw_without_rendering()


def test_no_rows_are_refused(frames):
    with pytest.raises(ValueError, match="at least one row"):
        figures.regret_curves(frames.curves.clear())


def test_only_policies_whose_runs_are_there_have_a_row(frames):
    """A page styles all policies of its tables, some of which it draws nowhere."""
    finals = frames.finals.filter(frames.finals["policy"] != "UCB-V")
    for figure in figures.final_regret_panels(finals, policy_styles(frames.finals["policy"])):
        labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        assert labels == ["UCB1", "TS", "CORe", "CORe (warm-up 2)"]


def test_every_run_is_a_dot_in_the_row_of_its_policy(frames):
    axes = figures.final_regrets(frames.finals).axes[1]
    assert axes.get_xscale() == "log"
    for row, regret in enumerate((440, 780, 116, 107, 83)):
        (dots,) = [line for line in drawn_lines(axes) if round(np.mean(line.get_ydata())) == row]
        assert sorted(dots.get_xdata()) == pytest.approx(list(np.linspace(0.5, 1.5, 11) * regret))
        assert np.abs(np.asarray(dots.get_ydata()) - row).max() <= 0.25
        assert len(set(dots.get_ydata())) == 11


def test_boxes_are_quartiles(frames):
    axes = figures.final_regrets(frames.finals).axes[0]
    box = axes.patches[0]
    assert (box.get_x(), box.get_x() + box.get_width()) == pytest.approx((0.75 * 440, 1.25 * 440))


def test_runs_beyond_five_medians_are_marked_and_counted(frames):
    is_bad = (pl.col("policy") == "CORe") & (pl.col("run") >= 9) & (pl.col("problem") == "beta")
    finals = frames.finals.with_columns(regret=pl.when(is_bad).then(900.0).otherwise(pl.col("regret")))
    good, bad = figures.final_regrets(finals).axes
    assert [text.get_text() for text in bad.texts] == ["2 of 11 beyond 5 × median"]
    assert [text.get_text() for text in good.texts] == []
    crosses = [line for line in bad.lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert [list(line.get_xdata()) for line in crosses] == [[900.0, 900.0]]
    assert bad.get_xlim()[1] > 900


def test_many_dots_become_an_image(make):
    made = make(runs=1001)
    assert "<image" in figures.as_svg(figures.final_regrets(made.finals))
    assert "<image" not in figures.as_svg(figures.final_regrets(make(runs=20).finals))


def test_labels_are_shown_as_they_are(make):
    odd = {"$\\frac$": 10.0, "_private": 20.0, "bell\x07 \x00": 30.0, "<b>&": 40.0, "": 50.0}
    made = make(odd, {"a": "100 % of $x$"})
    figure = figures.regret_curves(made.curves)
    assert legend_texts(figure) == ["$\\frac$", "_private", "bell", "<b>&", ""]
    root = ElementTree.fromstring(figures.as_svg(figure))
    assert {"$\\frac$", "_private", "<b>&", "100 % of $x$"} <= {element.text for element in root.iter("text")}


def test_long_labels_are_wrapped_rather_than_cut(make):
    label = "LinCORe(alpha=0.4,z=0.4,warm_up=2.0,pool=None)"
    axes = figures.final_regrets(make({label: 10.0}, {"a": "A"}).finals).axes[0]
    assert axes.get_yticklabels()[0].get_text().replace("\n", "") == label


def test_files_hold_the_same_bytes_every_time(frames, tmp_path):
    paths = [figures.save(figures.regret_curves(frames.curves), tmp_path / name / "figure.v1") for name in ("a", "b")]
    assert [path.name for path in paths[0]] == ["figure.v1.png", "figure.v1.svg"]
    for first, second in zip(*paths, strict=True):
        assert first.read_bytes() == second.read_bytes()
    width, height = figures.regret_curves(frames.curves).get_size_inches()
    image = imread(paths[0][0])
    assert image.shape[:2] == (round(height * 150), round(width * 150))
    assert len(np.unique(image[::4, ::4].reshape(-1, image.shape[2]), axis=0)) > 50  # else it is blank
    svg = paths[0][1].read_text()
    assert ">CORe (warm-up 2)</text>" in svg
    assert "metadata" not in svg


@pytest.fixture(scope="module")
def svg(frames):
    return figures.as_svg(figures.regret_curves(frames.curves))


def test_the_users_own_settings_neither_show_nor_change(frames, svg):
    with matplotlib.rc_context({"font.size": 30, "axes.grid": False, "svg.fonttype": "path", "lines.linewidth": 9}):
        before = dict(matplotlib.rcParams)
        assert figures.as_svg(figures.regret_curves(frames.curves)) == svg
        assert dict(matplotlib.rcParams) == before


@pytest.mark.endurance
def test_threads_draw_what_one_thread_draws(frames):
    def draw(_):
        return figures.as_svg(figures.regret_curves(frames.curves))

    expected = draw(None)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(draw, range(4))) == {expected}


def test_inline_svg_can_stand_next_to_others(frames):
    one, other = (figures.as_svg(figures.regret_curves(frames.curves), name, "Regret & rounds") for name in ("a", "b"))
    roots = [ElementTree.fromstring(svg) for svg in (one, other)]
    ids = [{element.get("id") for element in root.iter() if element.get("id")} for root in roots]
    assert all(name.startswith("a-") for name in ids[0])
    assert len(ids[0]) == len(ids[1]) > 0
    assert not ids[0] & ids[1]
    for root, names in zip(roots, ids, strict=True):
        used = {element.get("href")[1:] for element in root.iter() if (element.get("href") or "").startswith("#")}
        assert used <= names
        assert used
        assert root.get("aria-label") == "Regret & rounds"
        assert not list(root.iter("style"))
    assert "http" not in one


def test_ink_follows_the_page(svg):
    root = ElementTree.fromstring(svg)
    assert all("var(--ink, #1f2328)" in text.get("style") for text in root.iter("text"))


def test_swatches_can_be_repeated_and_hide_from_screen_readers():
    styles = policy_styles([f"policy {index}" for index in range(20)])
    swatches = [figures.as_svg(figures.swatch(style)) for style in styles.values()]
    assert len(set(swatches)) == 20
    assert not any(" id=" in svg or "clip-path" in svg for svg in swatches)
    assert all('aria-hidden="true"' in svg for svg in swatches)


def test_drawing_needs_no_pyplot_and_importing_the_package_nothing_heavy():
    code = (
        "import sys, corebandit.report\n"
        "assert not {'matplotlib', 'jinja2', 'rich', 'polars', 'numpy'} & set(sys.modules), 'heavy'\n"
        "import corebandit.report.page\n"
        "assert 'matplotlib.figure' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
