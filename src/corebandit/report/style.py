"""The look of the figures: colours, line styles, fonts.

What matplotlib keeps as settings of the whole process (fonts, SVG options) is set under a lock for as long as a figure
is drawn, so that threads may draw at the same time.
"""

import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

import matplotlib.style

INK, MUTED, GRID, PAPER = "#1f2328", "#656d76", "#d8dee4", "#ffffff"
PAGE_VARIABLES = {INK: "--ink", MUTED: "--muted", GRID: "--grid", PAPER: "--paper"}
EMPHASIS = "#d55e00"
FAMILY = (EMPHASIS, "#dd1c77", "#a6611a")  # for variants of CORe, told apart by dashes too
# Okabe and Ito's colours, without the vermilion kept for CORe, and with yellow and black replaced by colours that
# can be seen on white as well as on black.
COLOURS = ("#0072b2", "#009e73", "#aa4499", "#56b4e9", "#808080", "#e69f00", "#8c7d00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h", "*")
Dashes = Literal["-", "--", "-.", ":"]
DASHES: tuple[Dashes, ...] = ("-", "--", "-.", ":")

_STYLE = {
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "corebandit",
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8,
}
_LOCK = threading.RLock()


class LineStyle(NamedTuple):
    """How a policy is drawn, the same in every panel."""

    colour: str
    dashes: Dashes
    width: float
    marker: str
    is_emphasised: bool


def policy_styles(policies: Iterable[str]) -> dict[str, LineStyle]:
    """Return a style per policy: CORe and its variants share strong hues, the others differ in hue and marker."""
    policies = list(dict.fromkeys(policies))
    family = [policy for policy in policies if re.match(r"\w*CORe\b", policy)]
    # The name without an addition gets the solid line, wherever it stands.
    family.sort(key=lambda policy: re.fullmatch(r"\w*CORe", policy) is None)
    styles = {}
    for index, policy in enumerate(family):
        marker = "" if index < len(DASHES) else MARKERS[index % len(MARKERS)]
        colour = FAMILY[index % len(FAMILY)]
        styles[policy] = LineStyle(colour, DASHES[index % len(DASHES)], 2.4, marker, True)
    for index, policy in enumerate(policy for policy in policies if policy not in family):
        dashes = DASHES[index // len(COLOURS) % len(DASHES)]
        styles[policy] = LineStyle(COLOURS[index % len(COLOURS)], dashes, 1.3, MARKERS[index % len(MARKERS)], False)
    return {policy: styles[policy] for policy in policies}


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in the house style, whatever the user's own settings."""
    with _LOCK, matplotlib.style.context(["default", _STYLE]):
        yield
