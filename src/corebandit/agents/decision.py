"""What an agent decided."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, overload

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


# Makes a decision of all its fields in half the time that `Decision(...)` takes.
made_of: Callable[[tuple[Any, DecisionId, Any, bool]], Decision[Any]] = partial(tuple.__new__, Decision)


class Decisions(Sequence[Decision[Arm]]):
    """Many decisions in their order, and all their `arms` and `ids`.

    Each decision is made when it is first asked for: whoever needs arms and ids alone does not wait for the rest.

    >>> many = Decisions(["red", "green"], ["family-session-0", "family-session-1"])
    >>> many.arms, len(many), many[1].id
    (('red', 'green'), 2, 'family-session-1')
    """

    def __init__(
        self, arms: Sequence[Arm], ids: Sequence[DecisionId], made: Sequence[Decision[Arm]] | None = None
    ) -> None:
        self.arms, self.ids, self._made = tuple(arms), tuple(ids), made

    def _all(self) -> Sequence[Decision[Arm]]:
        if self._made is None:
            fields = zip(self.arms, self.ids, repeat(None), repeat(False))
            self._made = list(map(made_of, fields))
        return self._made

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Decision[Arm]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Decision[Arm]]: ...
    def __getitem__(self, place: int | slice) -> Decision[Arm] | Sequence[Decision[Arm]]:
        return self._all()[place]

    def __iter__(self) -> Iterator[Decision[Arm]]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"Decisions({list(self)!r})"
