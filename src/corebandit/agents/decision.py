"""What an agent decided."""

from collections.abc import Hashable
from typing import NamedTuple

from corebandit.agents.ids import DecisionId


class Decision(NamedTuple):
    """An arm that was chosen, and the id to report its reward under: no other decision of any agent has it."""

    arm: Hashable
    id: DecisionId
    propensities: dict[Hashable, float] | None = None  # of all arms that could be chosen; None: not known

    @property
    def propensity(self) -> float | None:
        """Return the probability that the arm was chosen with; None if it is not known."""
        return None if self.propensities is None else self.propensities[self.arm]
