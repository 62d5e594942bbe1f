"""Studies beyond the paper, made and judged as its figures are. A new one is one module, and one line here."""

from corebandit.paper.figure import Figure
from corebandit.studies import exchange, glm, neural, warmup

STUDIES: dict[str, Figure] = {module.NAME: module.FIGURE for module in (glm, exchange, warmup, neural)}

__all__ = ["STUDIES"]
