"""Figures that say why: how often each arm was chosen, and which problems were hard."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from corebandit.contracts.errors import BadInput
from corebandit.report.panels import (
    Styles,
    are_positive,
    figure_of_lines,
    log_scale,
    set_labels,
    set_title,
    split_panels,
    styled_line,
)
from corebandit.report.style import policy_styles

if TYPE_CHECKING:
    from polars import DataFrame

_MOST_VECTOR_DOTS = 4000


def pulls_by_rank(runs: "DataFrame") -> Figure:
    """Draw the mean share of rounds that each arm was chosen in, from the best arm to the worst, on a log scale."""
    return figure_of_lines(split_panels(runs, "problem"), policy_styles(runs["policy"]), _draw_pulls)


def regret_by_gap(runs: "DataFrame") -> Figure:
    """Draw the final regret of each run against how far the second best arm is below the best."""
    is_log = are_positive(runs["regret"].to_numpy())
    draw = partial(_draw_gaps, has_many_dots=runs.height > _MOST_VECTOR_DOTS, is_log=is_log)
    return figure_of_lines(split_panels(runs, "problem"), policy_styles(runs["policy"]), draw)


def _draw_pulls(axes: Axes, panel: "DataFrame", styles: Styles) -> None:
    for curve in panel.partition_by("policy", maintain_order=True):
        _require(curve["gap"].is_not_nan().all(), "pulls by rank", panel)
        means, pulls = np.array(curve["means"].to_list()), np.array(curve["pulls"].to_list(), np.float64)
        order = np.argsort(-np.nan_to_num(means, nan=-np.inf), axis=1, kind="stable")
        shares = (np.take_along_axis(pulls, order, axis=1) / pulls.sum(axis=1, keepdims=True)).mean(axis=0)
        line = styled_line(styles[curve["policy"][0]], markevery=max(1, shares.size // 10))
        line.set_data(np.arange(1, shares.size + 1), shares)
        axes.add_line(line)
    n_arms = max(len(pulls) for pulls in panel["pulls"])
    shown = np.concatenate([np.asarray(line.get_ydata(), np.float64) for line in axes.lines])
    log_scale(axes, "y", shown[shown > 0.0])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    set_title(axes, panel["title"][0])
    set_labels(axes, "arms, from the best to the worst", "share of rounds")
    axes.set_xlim(0.6, n_arms + 0.4)


def _draw_gaps(axes: Axes, panel: "DataFrame", styles: Styles, has_many_dots: bool, is_log: bool) -> None:
    _require(panel["gap"].is_not_nan().all(), "regret by gap", panel)
    for curve in panel.partition_by("policy", maintain_order=True):
        style = styles[curve["policy"][0]]
        opacity = float(np.clip(100 / curve.height, 0.1, 0.7))
        axes.plot(
            curve["gap"],
            curve["regret"],
            linestyle="",
            marker=style.marker or "o",
            markersize=3.2,
            color=style.colour,
            alpha=opacity,
            markeredgewidth=0,
            rasterized=has_many_dots,
            zorder=4 if style.is_emphasised else 3,
        )
    log_scale(axes, "x", panel["gap"].to_numpy())
    log_scale(axes, "y", panel["regret"].to_numpy(), is_log)
    set_title(axes, panel["title"][0])
    set_labels(axes, "gap between the two best arms", "final regret of a run")


def _require(has_arms: bool, what: str, panel: "DataFrame") -> None:
    if not has_arms:
        raise BadInput(f"there is no {what} on {panel['problem'][0]}: its arms were not noted, or are not fixed")
