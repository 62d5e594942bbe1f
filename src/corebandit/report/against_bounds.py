"""Figures of shares against bounds: how often something happens as more is asked, and how often it may."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from corebandit.report.panels import (
    Styles,
    log_scale,
    panel_grid,
    set_title,
    shared_legend,
    split_panels,
    styled_line,
)
from corebandit.report.style import MUTED, drawing, policy_styles

if TYPE_CHECKING:
    from polars import DataFrame

LEAST = 1e-7  # shares below are not drawn


def shares(frame: "DataFrame") -> Figure:
    """Draw shares over what is asked, one panel a title and one line a series, all axes logarithmic.

    Parameters
    ----------
    frame
        One row a point: title (the panel), series, x_name, x, y_name, share and bound, a dashed line; null where
        nothing is promised. Shares of zero cannot be drawn and are left out.
    """
    panels, styles = split_panels(frame, "title"), policy_styles(frame["series"])
    styles = {series: style._replace(marker="") for series, style in styles.items()}
    with drawing():
        figure, grid = panel_grid(len(panels), height=3.0)
        for axes, panel in zip(grid, panels, strict=True):
            _draw(axes, panel, styles)
        handles, labels = [*map(styled_line, styles.values())], [*styles]
        if frame["bound"].is_not_null().any():
            handles.append(styled_line(next(iter(styles.values()))._replace(colour=MUTED, dashes="--", width=1.1)))
            labels.append("what the lemma says")
        shared_legend(figure, handles, labels)
    return figure


def _draw(axes: Axes, panel: "DataFrame", styles: Styles) -> None:
    for series in panel.partition_by("series", maintain_order=True):
        x, share, bound = (series[name].cast(float).to_numpy() for name in ("x", "share", "bound"))
        style = styles[series["series"][0]]
        seen = share > LEAST
        axes.plot(x[seen], share[seen], color=style.colour, linestyle=style.dashes, linewidth=style.width)
        axes.plot(x, np.where(bound > LEAST, bound, np.nan), color=MUTED, linestyle="--", linewidth=1.1, zorder=2.5)
    log_scale(axes, "x", panel["x"].to_numpy())
    drawn = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in axes.lines])
    log_scale(axes, "y", drawn)
    set_title(axes, panel["title"][0])
    axes.set(xlabel=panel["x_name"][0], ylabel=panel["y_name"][0])
