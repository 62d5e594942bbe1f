"""The paper's experiments as data, its claims and their verdicts. A new figure is one module, and one line here."""

from corebandit.paper import figure1, figure2, figure3, figure4, theory
from corebandit.paper.claims import Claim
from corebandit.paper.figure import Figure, Size

FIGURES = {module.NAME: module.FIGURE for module in (figure1, figure2, figure3, figure4, theory)}

__all__ = ["FIGURES", "Claim", "Figure", "Size"]
