"""Figures of scaling studies: how regret grows with the horizon, the dimension or the number of arms."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D

from corebandit.report import tables
from corebandit.report.panels import (
    COLUMNS,
    FloatArray,
    log_scale,
    panel_grid,
    set_title,
    split_panels,
    styled_line,
    wrapped,
)
from corebandit.report.style import PAPER, LineStyle, drawing
from corebandit.report.sweep_drawings import REGRET, series_styles

if TYPE_CHECKING:
    from polars import DataFrame


def scaling(frame: "DataFrame", fits: "DataFrame") -> Figure:
    """Draw regret against a size on log-log axes, with fitted power laws and the shapes of the bounds.

    A series, its law and its bound have one colour, since bounds may lie close to each other.

    Parameters
    ----------
    frame
        One row a point: title (the panel), series, x_name, x, mean, ci_low, ci_high and, optionally, y_name, and bound:
        a curve to compare with, which takes the place of the power law `reference`; null where there is none.
    fits
        One row a fit: title, series, exponent, ci_low, ci_high, reference (the exponent of the bound), reference_name.
    """
    panels, styles = split_panels(frame, "title"), series_styles(frame)
    with drawing():
        figure, grid = panel_grid(len(panels), height=3.4)
        for position, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
            _draw_scaling(axes, panel, fits.filter(title=panel["title"][0]), styles)
            if position % COLUMNS:
                axes.set_ylabel("")
    return figure


def _draw_scaling(axes: Axes, panel: "DataFrame", fits: "DataFrame", styles: dict[str, LineStyle]) -> None:
    handles: dict[str, Line2D] = {}
    guides: dict[str, list[Line2D]] = {}
    shown: list[FloatArray] = [panel["mean"].to_numpy()]
    for position, series in enumerate(panel.partition_by("series", maintain_order=True)):
        points, name = series.sort("x"), series["series"][0]
        x, mean = points["x"].to_numpy(), points["mean"].to_numpy()
        label = name
        for fit in fits.filter(series=name).iter_rows(named=True):
            label = f"{name}: exponent {tables.estimate(fit['exponent'], fit['ci_low'], fit['ci_high'])}"
            middle = np.log(mean).mean() - fit["exponent"] * np.log(x).mean()
            shown.append(np.exp(middle) * x ** fit["exponent"])
            axes.plot(x, shown[-1], color=styles[name].colour, linewidth=1.3, zorder=3)
            if (guide := _guide(points, fit["reference"])) is not None:
                dashes = (4.0 * position, (4.0, 4.0))  # where two bounds are one, dashes of both colours take turns
                (line,) = axes.plot(x, guide, color=styles[name].colour, linestyle=dashes, linewidth=1.1, zorder=2.5)
                shown.append(guide)
                of_the_bound = "" if fit["reference"] is None else f", exponent {fit['reference']:g}"
                guides.setdefault(f"{fit['reference_name']}{of_the_bound}", []).append(line)
        handles[wrapped(label, 46)] = _draw_points(axes, points, styles[name])
    log_scale(axes, "x", panel["x"].to_numpy())
    low, high = panel["ci_low"].to_numpy(), panel["ci_high"].to_numpy()
    log_scale(axes, "y", np.concatenate([*shown, low[low > 0.0], high]))  # intervals that reach 0 leave the panel below
    set_title(axes, panel["title"][0])
    axes.set(xlabel=panel["x_name"][0], ylabel=panel["y_name"][0] if "y_name" in panel.columns else REGRET)
    bounds = {f"shape of the bound: {name}": tuple(of_series) for name, of_series in guides.items()}
    legend = axes.legend(
        [*handles.values(), *bounds.values()],
        [*handles, *bounds],
        loc="upper left",
        bbox_to_anchor=(-0.02, -0.17),
        borderaxespad=0.0,
        handlelength=3.0,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.5)},  # a dash in the colour of each series
    )
    for text in legend.get_texts()[len(handles) :]:
        text.set_parse_math(True)


def _draw_points(axes: Axes, points: "DataFrame", style: LineStyle) -> Line2D:
    """Draw the points with their intervals and return the line to show in the legend."""
    x, mean = points["x"].to_numpy(), points["mean"].to_numpy()
    low, high = points["ci_low"].to_numpy(), points["ci_high"].to_numpy()
    if (mean > 0.0).all():  # a logarithmic axis has no room for 0
        low = np.maximum(low, 1e-9 * mean)
    lengths = np.maximum((mean - low, high - mean), 0.0)  # rounding can put an interval without width beside its mean
    axes.errorbar(x, mean, lengths, fmt="none", ecolor=style.colour, elinewidth=1.3, capsize=2.5)
    axes.plot(
        x,
        mean,
        linestyle="",
        marker=style.marker,
        markersize=5,
        color=style.colour,
        markeredgecolor=PAPER,
        markeredgewidth=0.5,
        zorder=5,
    )
    return styled_line(style._replace(dashes="-", width=1.3))


def _guide(points: "DataFrame", reference: float | None) -> FloatArray | None:
    """Return the curve to compare with: the bound that the points come with, or a power law through the first point."""
    if "bound" in points.columns and points["bound"].count():
        return points["bound"].to_numpy()
    if reference is None:
        return None
    x, mean = points["x"].to_numpy(), points["mean"].to_numpy()
    return np.asarray(mean[0] * (x / x[0]) ** reference)
