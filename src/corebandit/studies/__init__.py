"""Studies beyond the paper, made and judged as its figures are. A new one is one module, and one line here."""

from corebandit.paper.figure import Figure

STUDIES: dict[str, Figure] = {}

__all__ = ["STUDIES"]
