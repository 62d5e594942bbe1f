"""The paper's experiments as data, its claims and their verdicts. A new figure is one module, and one line here."""

from corebandit.report.claim import Claim
from corebandit.reproduction.figure import Figure, Size
from corebandit.reproduction.paper import figure1, figure2, figure3, figure4, theory_figure

FIGURES = {module.NAME: module.FIGURE for module in (figure1, figure2, figure3, figure4, theory_figure)}

__all__ = ["FIGURES", "Claim", "Figure", "Size"]
