"""Figures of regret: curves over the rounds, and where every single run ended.

Only matplotlib's figure objects are used, never pyplot, so drawing leaves no trace in the process.
"""

import hashlib
import io
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import Patch, PathPatch
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter
from matplotlib.transforms import Affine2D

from corebandit.contracts.atomic_files import make_folder, writing_whole
from corebandit.contracts.errors import BadInput
from corebandit.report.inline_svg import inline
from corebandit.report.panels import (
    COLUMNS,
    Styles,
    are_positive,
    figure_of_lines,
    log_scale,
    panel_grid,
    set_labels,
    set_title,
    shared_legend,
    short_number,
    single_panel,
    split_panels,
    styled_line,
    wrapped,
)
from corebandit.report.style import COLOURS, INK, MUTED, PAGE_VARIABLES, PAPER, LineStyle, drawing, policy_styles

if TYPE_CHECKING:
    from polars import DataFrame

POINTS_WITH_MARKER = 10
# A run whose regret exceeds this many medians of its policy is marked.
FAR = 5
_MOST_VECTOR_DOTS = 4000
LABELS = {
    "regret": "cumulative regret",
    "best-arm share": "rounds with the best arm",
    "simple regret": "simple regret",
}
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def regret_curves(curves: "DataFrame", of: str = "regret") -> Figure:
    """Draw mean cumulative regret over the rounds, one panel per problem, from the rows of one figure.

    The rows may also be `of` the best-arm share or the simple regret.
    """
    draw = partial(_draw_curves, of=of, is_log=_can_be_log(curves))
    return figure_of_lines(split_panels(curves, "problem"), policy_styles(curves["policy"]), draw)


def regret_panels(curves: "DataFrame", styles: Styles, of: str = "regret") -> list[Figure]:
    """Draw each panel of `regret_curves` as a figure of its own, without a legend."""
    draw = partial(_draw_curves, styles=styles, of=of, is_log=_can_be_log(curves))
    return [single_panel(partial(draw, panel=panel), height=2.9) for panel in split_panels(curves, "problem")]


def final_regrets(finals: "DataFrame") -> Figure:
    """Draw the final regret of every run, one panel per problem and one row per policy, from the rows of one figure."""
    panels, styles = split_panels(finals, "problem"), policy_styles(finals["policy"])
    with drawing():
        figure, grid = panel_grid(len(panels), height=_height_of_rows(len(styles)))
        more = {"has_many_dots": finals.height > _MOST_VECTOR_DOTS, "is_log": are_positive(finals["regret"].to_numpy())}
        for position, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
            _draw_finals(axes, panel, styles, **more)
            if position % COLUMNS:
                axes.tick_params(axis="y", labelleft=False)
        shared_legend(figure, *_key_of_finals(), handle_length=1.5)
    return figure


def final_regret_panels(finals: "DataFrame", styles: Styles) -> list[Figure]:
    """Draw each panel of `final_regrets` as a figure of its own, without a legend."""
    found = set(finals["policy"])
    styles = {policy: style for policy, style in styles.items() if policy in found}
    is_log = are_positive(finals["regret"].to_numpy())
    draw = partial(_draw_finals, styles=styles, has_many_dots=finals.height > _MOST_VECTOR_DOTS, is_log=is_log)
    return [
        single_panel(partial(draw, panel=panel), _height_of_rows(len(styles)))
        for panel in split_panels(finals, "problem")
    ]


def swatch(style: LineStyle) -> Figure:
    """Draw a piece of a policy's line, for legends and tables; its SVG has no ids, so that it may be repeated."""
    width, height = 36.0, 11.52
    with drawing():
        figure = Figure(figsize=(width / 72, height / 72))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0, width), ylim=(0, height))
        axes.set_axis_off()
        line = styled_line(style._replace(marker=""), clip_on=False)
        line.set_data([1, width - 1], [height / 2, height / 2])
        axes.add_line(line)
        if style.marker:
            shape = MarkerStyle(style.marker)
            to_centre = Affine2D().scale(6.5).translate(width / 2, height / 2)
            path = shape.get_path().transformed(shape.get_transform() + to_centre)
            axes.add_patch(PathPatch(path, facecolor=style.colour, edgecolor=PAPER, linewidth=0.5, clip_on=False))
    return figure


def save(figure: Figure, path: str | Path) -> list[Path]:
    """Write `path`.png and `path`.svg, the same bytes every time, and return both paths."""
    path = Path(path)
    make_folder(path.parent)
    png, svg = (path.with_name(f"{path.name}.{suffix}") for suffix in ("png", "svg"))
    with drawing():
        figure.set_dpi(150)
        _put_in_place(figure)
        with writing_whole(png) as file:
            figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
        with writing_whole(svg) as file:
            figure.savefig(file, format="svg", metadata=_NO_METADATA)
    return [png, svg]


def as_svg(figure: Figure, name: str = "figure", title: str = "") -> str:
    """Return an `<svg>` element for an HTML page: ids start with `name`, ink and paper follow the page's colours."""
    stream = io.StringIO()
    with drawing():
        _put_in_place(figure)
        figure.savefig(stream, format="svg", transparent=True, metadata=_NO_METADATA)
    text = stream.getvalue()
    # The digest keeps ids apart where several pages come together, as in a notebook.
    return inline(text, f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}", title, PAGE_VARIABLES)


def _put_in_place(figure: Figure) -> None:
    """Lay a figure out for good; to save it with a layout to come would draw all of it twice, once for that alone."""
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
        figure.set_layout_engine(None)


def _can_be_log(curves: "DataFrame") -> bool:
    """Tell whether means are positive in all panels, where they are looked at."""
    return all(are_positive(_looked_at(panel)["mean"].to_numpy()) for panel in curves.partition_by("problem"))


def _looked_at(panel: "DataFrame") -> "DataFrame":
    """Return the rows after the first hundredth of the rounds, which would take most of the room of a log axis."""
    return panel.filter(panel["round"] >= panel["round"].to_numpy().max() / 100)


def _draw_curves(axes: Axes, panel: "DataFrame", styles: Styles, of: str, is_log: bool) -> None:
    for position, curve in enumerate(panel.partition_by("policy", maintain_order=True)):
        style = styles[curve["policy"][0]]
        rounds, mean = curve["round"].to_numpy(), curve["mean"].to_numpy()
        low, high = curve["ci_low"].to_numpy(), curve["ci_high"].to_numpy()
        axes.fill_between(rounds, low, high, color=style.colour, alpha=0.18, linewidth=0, zorder=2)
        step = max(1, len(rounds) // POINTS_WITH_MARKER)
        # Markers of different policies start at different rounds, so that they do not hide one another.
        line = styled_line(style, markevery=(step // 2 + position * 3 % step, step) if step > 1 else None)
        line.set_data(rounds, mean)
        axes.add_line(line)
    last = int(panel["round"].to_numpy().max())
    if of == "best-arm share":
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    elif panel["mean"].is_nan().any():
        raise BadInput(f"there is no {of} on {panel['problem'][0]}, where what is chosen is not one of fixed arms")
    else:
        log_scale(axes, "y", _looked_at(panel)["mean"].to_numpy(), is_log)
    set_title(axes, panel["title"][0])
    set_labels(axes, "round", LABELS[of])
    axes.set_xlim(0, last)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=(1, 2, 5, 10)))
    axes.xaxis.set_major_formatter(FuncFormatter(short_number))


def _draw_finals(axes: Axes, panel: "DataFrame", styles: Styles, has_many_dots: bool, is_log: bool) -> None:
    for row, (policy, style) in enumerate(styles.items()):
        regrets = panel.filter(policy=policy).sort("run")["regret"].to_numpy()
        if not len(regrets):
            continue
        lower, median, upper = np.quantile(regrets, (0.25, 0.5, 0.75))
        # Multiples of the median mean nothing once regrets reach down to zero.
        is_far = (regrets > FAR * median) & (lower > 0)
        # Multiples of the golden ratio spread the dots evenly without chance.
        spread = np.arange(len(regrets)) * 0.6180339887 % 1 - 0.5
        # Marked runs keep below the line of text that counts them.
        heights = row + np.where(is_far, 0.12 + 0.25 * spread, 0.5 * spread)
        opacity = float(np.clip(40 / len(regrets), 0.06, 0.7))
        axes.barh(row, upper - lower, left=lower, height=0.62, color=style.colour, alpha=0.25, linewidth=0, zorder=2)
        axes.plot(
            regrets[~is_far],
            heights[~is_far],
            linestyle="",
            marker="o",
            markersize=2.6,
            color=style.colour,
            alpha=opacity,
            markeredgewidth=0,
            rasterized=has_many_dots,
            zorder=3,
        )
        axes.plot(regrets[is_far], heights[is_far], linestyle="", marker="x", markersize=3.6, color=INK, zorder=5)
        axes.vlines(median, row - 0.31, row + 0.31, color=style.colour, linewidth=2.2, zorder=4)
        axes.plot(regrets.mean(), row, marker="D", markersize=4, color=PAPER, markeredgecolor=INK, zorder=6)
        if n_far := int(is_far.sum()):
            axes.annotate(
                f"{n_far} of {len(regrets)} beyond {FAR} \N{MULTIPLICATION SIGN} median",
                (1, row - 0.33),
                xycoords=axes.get_yaxis_transform(),
                ha="right",
                va="center",
                fontsize=6.5,
                color=MUTED,
                zorder=7,
                bbox={"facecolor": PAPER, "alpha": 0.75, "edgecolor": "none", "pad": 0.5},
            )
    axes.set_yticks(range(len(styles)), [wrapped(policy, 26, most_lines=2) for policy in styles])
    axes.set_ylim(len(styles) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    log_scale(axes, "x", panel["regret"].to_numpy(), is_log)
    set_title(axes, panel["title"][0])
    set_labels(axes, "final regret of a run", "")


def _key_of_finals() -> tuple[list[Artist], list[str]]:
    grey = COLOURS[4]
    handles = {
        "one run": Line2D([], [], linestyle="", marker="o", markersize=3, color=grey),
        "quartiles": Patch(color=grey, alpha=0.3, linewidth=0),
        "median": Line2D([], [], linestyle="", marker="|", markersize=9, markeredgewidth=2.2, color=grey),
        "mean": Line2D([], [], linestyle="", marker="D", markersize=4, color=PAPER, markeredgecolor=INK),
        f"run beyond {FAR} \N{MULTIPLICATION SIGN} median": Line2D(
            [], [], linestyle="", marker="x", markersize=3.6, color=INK
        ),
    }
    return list(handles.values()), list(handles)


def _height_of_rows(n_rows: int) -> float:
    return max(1.5, 0.9 + 0.3 * n_rows)
