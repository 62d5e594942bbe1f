"""Heat maps of ratios: how a grid of settings compares with something else, panel by panel, on one scale."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter

from corebandit.report.panels import minus, panel_grid, set_title, split_panels
from corebandit.report.style import PAPER, drawing
from corebandit.report.sweep_drawings import DARK, text_colour
from corebandit.report.sweep_tables import setting_number

if TYPE_CHECKING:
    from polars import DataFrame

COLOURS = "RdBu_r"  # blue is better than what it is compared with, white the same, red worse; safe for the colour-blind
WIDEST = 4.0  # ratios beyond are drawn as this one
COLUMNS = 4


def ratio_maps(frame: "DataFrame", label: str) -> Figure:
    """Draw one map a panel; all share the colours, on which 1 is white.

    Parameters
    ----------
    frame
        One row a cell: panel, x_name, x, y_name, y, ratio, note (a second line of text, or empty) and `is marked`, for
        cells to outline.
    label
        What the ratio is of, for the colour bar.
    """
    panels = split_panels(frame, "panel")
    with drawing():
        figure, grid = panel_grid(len(panels), height=2.9, width=3.0, lone_width=4.2, most_columns=COLUMNS)
        norm = LogNorm(1.0 / WIDEST, WIDEST, clip=True)
        for position, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
            _draw(axes, panel, norm)
            if position % COLUMNS:
                axes.set_ylabel("")
        bar = figure.colorbar(ScalarMappable(norm, COLOURS), ax=grid, pad=0.02, fraction=0.05, aspect=30, label=label)
        bar.locator = FixedLocator([0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0])
        bar.formatter = FuncFormatter(lambda value, _: f"{value:g}")
        bar.minorticks_off()
        bar.outline.set_visible(False)
        bar.update_ticks()
    return figure


def _draw(axes: Axes, panel: "DataFrame", norm: LogNorm) -> None:
    x, y = np.unique(panel["x"].to_numpy()), np.unique(panel["y"].to_numpy())
    ratios = np.full((y.size, x.size), np.nan)
    rows, columns = np.searchsorted(y, panel["y"].to_numpy()), np.searchsorted(x, panel["x"].to_numpy())
    ratios[rows, columns] = panel["ratio"].to_numpy()
    is_marked = panel["is marked"].to_numpy()
    mesh = axes.pcolormesh(np.ma.masked_invalid(ratios), cmap=COLOURS, norm=norm, edgecolors=PAPER, linewidth=0.8)
    for row, column, ratio, note in zip(rows, columns, panel["ratio"], panel["note"], strict=True):
        axes.text(
            column + 0.5,
            row + 0.5,
            f"{ratio:.2f}\n{note}" if note else f"{ratio:.2f}",
            ha="center",
            va="center",
            fontsize=7,
            linespacing=1.1,
            color=text_colour(*mesh.to_rgba(ratio)[:3]),
        )
    for row, column in zip(rows[is_marked], columns[is_marked], strict=True):
        axes.add_patch(Rectangle((column + 0.05, row + 0.05), 0.9, 0.9, fill=False, edgecolor=DARK, linewidth=1.8))
    axes.set_xticks(np.arange(x.size) + 0.5, [minus(setting_number(value)) for value in x])
    axes.set_yticks(np.arange(y.size) + 0.5, [minus(setting_number(value)) for value in y])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    set_title(axes, panel["panel"][0], width=30)
    axes.set(xlabel=panel["x_name"][0], ylabel=panel["y_name"][0])
