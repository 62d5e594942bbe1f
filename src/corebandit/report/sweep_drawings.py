"""Figures of parameter sweeps: regret at the end as lines over one parameter, as heat maps over two."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator
from matplotlib.transforms import Bbox

from corebandit.report.panels import (
    COLUMNS,
    FloatArray,
    Styles,
    are_positive,
    figure_of_lines,
    log_scale,
    minus,
    panel_grid,
    set_labels,
    set_title,
    short_number,
    single_panel,
    split_panels,
    styled_line,
)
from corebandit.report.style import INK, PAPER, LineStyle, drawing, policy_styles
from corebandit.report.sweep_tables import cell_number, setting_number

if TYPE_CHECKING:
    from polars import DataFrame

REGRET = "regret at the end"
# From this ratio of the largest to the smallest value of a panel on, axes are logarithmic.
WIDE = 20
# Light cells are good ones. The map is perceptually uniform, so it also reads in grey.
_COLOURS = "viridis_r"
# On a coloured cell text must not follow the colours of the page.
DARK, LIGHT = "#0b0d0f", "#fdfdfd"
_CELL_WIDTH, _CELL_HEIGHT, _WIDEST = 0.43, 0.31, 14.0


def sweep_figures(sweeps: "DataFrame") -> list[Figure]:
    """Draw the rows of one figure: lines if there are sweeps of one parameter, heat maps if there are some of two."""
    lines, maps = one_parameter(sweeps), two_parameters(sweeps)
    return [draw(rows) for draw, rows in ((sweep_lines, lines), (heat_map, maps)) if not rows.is_empty()]


def one_parameter(sweeps: "DataFrame") -> "DataFrame":
    """Return the rows that belong to sweeps of one parameter."""
    return sweeps.filter(sweeps["y_name"].is_null())


def two_parameters(sweeps: "DataFrame") -> "DataFrame":
    """Return the rows that belong to sweeps of two parameters."""
    return sweeps.filter(sweeps["y_name"].is_not_null())


def series_styles(sweeps: "DataFrame") -> dict[str, LineStyle]:
    """Return a style per series, always with a marker: only the marked points were measured."""
    styles = policy_styles(sweeps["series"])
    return {series: style._replace(marker=style.marker or "p") for series, style in styles.items()}


def sweep_lines(sweeps: "DataFrame") -> Figure:
    """Draw final regret over one parameter, one panel per title and one line per series."""
    panels = split_panels(one_parameter(sweeps), "title")
    return figure_of_lines(panels, series_styles(sweeps), partial(_draw_lines, logs=_log_axes(panels)))


def sweep_panels(sweeps: "DataFrame", styles: Styles) -> list[Figure]:
    """Draw each panel of `sweep_lines` as a figure of its own, without a legend."""
    panels = split_panels(one_parameter(sweeps), "title")
    draw = partial(_draw_lines, styles=styles, logs=_log_axes(panels))
    return [single_panel(partial(draw, panel=panel), height=2.9) for panel in panels]


def heat_map(sweeps: "DataFrame") -> Figure:
    """Draw final regret over two parameters, one map per title and series."""
    panels = split_panels(two_parameters(sweeps), "title", "series")
    widths, heights = zip(*map(_size_of_map, panels), strict=True)
    width = max(widths)
    with drawing():
        columns = max(1, min(COLUMNS, int(_WIDEST / width)))
        figure, grid = panel_grid(len(panels), max(heights), width, lone_width=width, most_columns=columns)
        for axes, panel in zip(grid, panels, strict=True):
            _draw_map(axes, panel)
    return figure


def heat_map_panels(sweeps: "DataFrame") -> list[Figure]:
    """Draw each map of `heat_map` as a figure of its own."""
    figures = []
    for panel in split_panels(two_parameters(sweeps), "title", "series"):
        width, height = _size_of_map(panel)
        figures.append(single_panel(partial(_draw_map, panel=panel), height, width))
    return figures


def _log_axes(panels: "Sequence[DataFrame]") -> dict[str, bool]:
    """Tell which axes are logarithmic, in all panels alike: those along which some panel is wide, and all can be."""
    return {
        axis: all(map(are_positive, values)) and any(np.nanmax(one) >= WIDE * np.nanmin(one) for one in values)
        for axis, column in (("x", "x"), ("y", "mean"))
        for values in [[panel[column].to_numpy() for panel in panels]]
    }


def _draw_lines(axes: Axes, panel: "DataFrame", styles: Styles, logs: Mapping[str, bool]) -> None:
    lowest = []
    for series in panel.partition_by("series", maintain_order=True):
        curve, style = series.sort("x"), styles[series["series"][0]]
        x, mean = curve["x"].to_numpy(), curve["mean"].to_numpy()
        low, high = curve["ci_low"].to_numpy(), curve["ci_high"].to_numpy()
        axes.fill_between(x, low, high, color=style.colour, alpha=0.18, linewidth=0, zorder=2)
        line = styled_line(style)
        line.set_data(x, mean)
        axes.add_line(line)
        best = series.row(series["mean"].arg_min(), named=True)
        lowest.append((best["x"], best["mean"]))
        axes.plot(
            *lowest[-1],
            marker="o",
            markersize=10,
            markerfacecolor="none",
            markeredgecolor=style.colour,
            markeredgewidth=1.5,
            zorder=5,
        )
    log_scale(axes, "x", panel["x"].to_numpy(), logs["x"])
    log_scale(axes, "y", panel["mean"].to_numpy(), logs["y"])
    set_title(axes, panel["title"][0])
    set_labels(axes, " or ".join(panel["x_name"].unique(maintain_order=True)), REGRET)
    _make_room_below(axes)
    _name_lowest(axes, lowest)


def _make_room_below(axes: Axes) -> None:
    """Lower the bottom of the panel, so that text fits under the lowest point."""
    to_scale = axes.yaxis.get_transform()
    bottom, top = to_scale.transform(np.array(axes.get_ylim()))
    axes.set_ylim(bottom=float(to_scale.inverted().transform(np.array([bottom - 0.13 * (top - bottom)]))[0]))


def _name_lowest(axes: Axes, lowest: Sequence[tuple[float, float]]) -> None:
    """Write the parameter next to each lowest point, where it hides as little as possible."""
    size = 8.0
    pixels = axes.figure.dpi / 72
    paths = [line.get_path() for line in axes.lines]
    lines = [path.transformed(axes.transData) for path in paths if len(path) > 1]
    centres = axes.transData.transform(lowest)
    taken = [Bbox.from_extents(*(centre - 6 * pixels), *(centre + 6 * pixels)) for centre in centres]
    named: list[tuple[str, FloatArray]] = []
    for point, centre in zip(lowest, centres, strict=True):
        text = short_number(point[0])
        if any(text == other and np.hypot(*(centre - place)) < 12 * pixels for other, place in named):
            continue  # series whose lowest points coincide share one text
        named.append((text, centre))
        half = np.array([0.31 * size * len(text) + 1, 0.5 * size + 1]) * pixels
        sideways = 8 + half[0] / pixels
        candidates = []
        for offset in ((0, -13), (0, 13), (sideways, -9), (-sideways, -9), (sideways, 9), (-sideways, 9)):
            middle = centre + np.array(offset) * pixels
            box = Bbox.from_extents(*(middle - half), *(middle + half))
            hidden = 10 * sum(box.overlaps(other) for other in taken) + sum(
                line.intersects_bbox(box, filled=False) for line in lines
            )
            outside = box.x0 < axes.bbox.x0 or box.x1 > axes.bbox.x1
            candidates.append((hidden + 10 * outside, offset, box))
        _, offset, box = min(candidates, key=lambda candidate: candidate[0])
        taken.append(box)
        axes.annotate(
            text,
            point,
            offset,
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=size,
            fontweight="bold",
            color=INK,
            bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.7, "pad": 0.8},
            zorder=6,
        )


def _size_of_map(panel: "DataFrame") -> tuple[float, float]:
    """Return width and height in inches, such that every cell holds its number."""
    return 1.35 + _CELL_WIDTH * max(panel["x"].n_unique(), 4), 0.85 + _CELL_HEIGHT * max(panel["y"].n_unique(), 4)


def _draw_map(axes: Axes, panel: "DataFrame") -> None:
    x, y = np.unique(panel["x"].to_numpy()), np.unique(panel["y"].to_numpy())
    means = np.full((y.size, x.size), np.nan)
    rows, columns = np.searchsorted(y, panel["y"].to_numpy()), np.searchsorted(x, panel["x"].to_numpy())
    means[rows, columns] = panel["mean"].to_numpy()
    low, high = np.nanmin(means), np.nanmax(means)
    norm = LogNorm(low, high) if 0 < low < high else Normalize(low, high)
    mesh = axes.pcolormesh(np.ma.masked_invalid(means), cmap=_COLOURS, norm=norm, edgecolors=PAPER, linewidth=0.8)
    lowest = panel["mean"].arg_min()
    best = int(rows[lowest]), int(columns[lowest])
    for (row, column), mean in np.ndenumerate(means):
        if np.isfinite(mean):
            axes.text(
                column + 0.5,
                row + 0.5,
                minus(cell_number(mean)),
                ha="center",
                va="center_baseline",
                fontsize=7.5,
                fontweight="bold" if (row, column) == best else "normal",
                color=text_colour(*mesh.to_rgba(mean)[:3]),
            )
    # Within its cell an outline stands out whatever the colour of the page.
    corner = (best[1] + 0.07, best[0] + 0.07)
    axes.add_patch(Rectangle(corner, 0.86, 0.86, fill=False, edgecolor=DARK, linewidth=1.8))
    axes.set_xticks(np.arange(x.size) + 0.5, [minus(setting_number(value)) for value in x])
    axes.set_yticks(np.arange(y.size) + 0.5, [minus(setting_number(value)) for value in y])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    set_title(axes, _map_title(panel), width=int(11 * (_size_of_map(panel)[0] - 0.6)))
    axes.set(xlabel=panel["x_name"][0], ylabel=panel["y_name"][0])
    _colour_bar(axes, mesh, is_wide=0 < 5 * low <= high)


def _map_title(panel: "DataFrame") -> str:
    title, series = panel["title"][0], panel["series"][0]
    return title if series in title else f"{title}: {series}"


def text_colour(*colour: float) -> str:
    """Return dark or light, whichever has the stronger contrast to a cell (relative luminance as in WCAG 2)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return DARK if np.dot(linear, (0.2126, 0.7152, 0.0722)) > 0.18 else LIGHT


def _colour_bar(axes: Axes, mesh: QuadMesh, is_wide: bool) -> None:
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02, fraction=0.06, aspect=24, label=REGRET)
    bar.locator = LogLocator(subs=(1, 2, 5)) if is_wide else MaxNLocator(6)
    bar.formatter = FuncFormatter(short_number)
    bar.minorticks_off()
    bar.outline.set_visible(False)
    bar.update_ticks()
