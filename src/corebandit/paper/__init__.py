"""The paper's experiments as data, its claims and their verdicts. A new figure is one module, and one line here."""

from corebandit.paper import figure1, figure2, figure3, theory
from corebandit.paper.claims import Claim
from corebandit.paper.figure import Figure, Size

FIGURES = {figure.name: figure for figure in (figure1.FIGURE, figure2.FIGURE, figure3.FIGURE, theory.FIGURE)}

__all__ = ["FIGURES", "Claim", "Figure", "Size"]
