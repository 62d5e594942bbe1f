"""Studies beyond the paper, made and judged as its figures are. A new one is one module, and one line here."""

from corebandit.reproduction.figure import Figure
from corebandit.reproduction.studies import (
    drift_study,
    exchange_study,
    exploration_study,
    glm_study,
    neural_study,
    warmup_study,
)

MODULES = (glm_study, exchange_study, warmup_study, exploration_study, drift_study, neural_study)
STUDIES: dict[str, Figure] = {module.NAME: module.FIGURE for module in MODULES}

__all__ = ["STUDIES"]
