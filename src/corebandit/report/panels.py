"""What all figures share: panels side by side, a legend below, axes that suit their values.

Only matplotlib's figure objects are used, never pyplot, so drawing leaves no trace in the process.
"""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import AutoLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from corebandit.contracts.errors import BadInput
from corebandit.report.style import PAPER, LineStyle, drawing

if TYPE_CHECKING:
    from polars import DataFrame

Styles = Mapping[str, LineStyle]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]

COLUMNS = 3


def split_panels(frame: "DataFrame", *columns: str) -> list["DataFrame"]:
    """Return the rows of each panel, told apart by `columns`, in the order of the frame."""
    if frame.is_empty():
        raise BadInput("a figure needs at least one row of data")
    return frame.partition_by(*columns, maintain_order=True)


def panel_grid(
    n_panels: int, height: float, width: float = 3.7, lone_width: float = 5.6, most_columns: int = COLUMNS
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, each `width` by `height` inches; one that stands alone is `lone_width` wide."""
    columns, rows = min(n_panels, most_columns), math.ceil(n_panels / most_columns)
    full_width = lone_width if n_panels == 1 else width * columns
    figure = Figure(figsize=(full_width, height * rows + 0.4), layout=ConstrainedLayoutEngine(hspace=0.04))
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in grid[n_panels:]:
        axes.remove()
    return figure, grid[:n_panels]


def single_panel(draw: Callable[[Axes], None], height: float, width: float = 4.2) -> Figure:
    """Return a figure of one panel, for the page."""
    with drawing():
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.subplots())
    return figure


def shared_legend(figure: Figure, handles: Sequence[Artist], labels: Sequence[str], handle_length: float = 2.8) -> None:
    """Put a legend below all panels, in as many columns as fit."""
    widths = [0.25 + 0.12 * handle_length + 0.075 * max(map(len, label.split("\n"))) for label in labels]
    for columns in range(len(labels), 0, -1):
        # Matplotlib gives the first columns one label more where they cannot all have the same number.
        rows, n_longer = divmod(len(labels), columns)
        ends = np.cumsum([rows + 1] * n_longer + [rows] * (columns - n_longer)).tolist()
        if sum(max(widths[first:end]) for first, end in pairwise([0, *ends])) <= figure.get_figwidth():
            break
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, handlelength=handle_length)


def figure_of_lines(panels: Sequence["DataFrame"], styles: Styles, draw: Callable[..., None]) -> Figure:
    """Return a figure with one panel for each frame, `draw(axes, panel, styles)`, and a legend of lines below."""
    with drawing():
        figure, grid = panel_grid(len(panels), height=3.0)
        for position, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
            draw(axes, panel, styles)
            if position % COLUMNS:
                axes.set_ylabel("")
        legend_of_styles(figure, styles)
    return figure


def legend_of_styles(figure: Figure, styles: Styles) -> None:
    """Put a legend of lines below all panels."""
    handles = [styled_line(style) for style in styles.values()]
    shared_legend(figure, handles, [wrapped(name, 48) for name in styles])


def wrapped(label: str, width: int, most_lines: int = 4) -> str:
    """Return a label in short lines, without control characters, which SVG files cannot hold."""
    lines = textwrap.wrap("".join(character if character.isprintable() else " " for character in label), width)
    if len(lines) > most_lines:
        lines[most_lines - 1 :] = [lines[most_lines - 1][: width - 1] + "…"]
    return "\n".join(lines)


def set_title(axes: Axes, title: str, width: int = 32) -> None:
    """Write the title of a panel above it, in lines of at most `width` characters."""
    axes.set_title(wrapped(title, width), loc="left")


def styled_line(style: LineStyle, **options: Any) -> Line2D:
    """Return a line without points, for an axes or a legend."""
    return Line2D(
        [],
        [],
        color=style.colour,
        linestyle=style.dashes,
        linewidth=style.width,
        marker=style.marker,
        markersize=4.5,
        markeredgecolor=PAPER,
        markeredgewidth=0.5,
        zorder=4 if style.is_emphasised else 3,
        **options,
    )


def are_positive(values: FloatArray) -> bool:
    """Tell whether there are values, and all of them are positive; realised regret may not be."""
    values = values[np.isfinite(values)]
    return len(values) > 0 and bool(values.min() > 0)


def log_scale(axes: Axes, name: str, values: FloatArray, is_log: bool = True) -> None:
    """Give axis `name` a log scale if all values are positive, and those of the panels beside it too: `is_log`."""
    values = values[np.isfinite(values)]
    axis = axes.xaxis if name == "x" else axes.yaxis
    if is_log and are_positive(values):
        low, high = float(values.min()), float(values.max())
        margin = max(high / low, 1.5) ** 0.06
        axes.set(**{f"{name}scale": "log", f"{name}lim": (low / margin, high * margin)})
        # Within half a decade the round numbers of a log axis are too few.
        axis.set_major_locator(AutoLocator() if high < 5 * low else LogLocator(subs=(1, 2, 5)))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(MaxNLocator(6, steps=(1, 2, 5, 10)))
    axis.set_major_formatter(FuncFormatter(short_number))


def set_labels(axes: Axes, x: str, y: str) -> None:
    """Say what the axes show, and which of them is logarithmic."""
    scales = (x, axes.get_xscale()), (y, axes.get_yscale())
    x, y = (f"{label}, log scale" if scale == "log" else label for label, scale in scales)
    axes.set(xlabel=x, ylabel=y)


def short_number(value: float, position: int | None = None) -> str:
    """Return a tick label: 0.5, 200, 2k, 1.5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return minus(f"{value / size:g}{letter}")
    return minus(f"{value:g}")


def minus(number: str) -> str:
    """Return a number with a typographic minus sign."""
    return number.replace("-", "\N{MINUS SIGN}")
