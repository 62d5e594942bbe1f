"""What an agent decided."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from corebandit.agents.ids import DecisionId

# What users call an option. `Agent` alone is a type too, whatever its options are; Python has that from 3.13 on.
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Arm = TypeVar("Arm", bound=Hashable, default=Any)
else:
    from typing import TypeVar

    Arm = TypeVar("Arm", bound=Hashable)


class Decision(NamedTuple, Generic[Arm]):
    """An arm that was chosen, and the id to report its reward under: no other decision of any agent has it."""

    arm: Arm
    id: DecisionId
    propensities: dict[Arm, float] | None = None  # of all arms that could be chosen; None: not known
    is_held_out: bool = False  # chosen uniformly, to compare with

    @property
    def propensity(self) -> float | None:
        """Return the probability that the arm was chosen with; None if it is not known."""
        return None if self.propensities is None else self.propensities[self.arm]
