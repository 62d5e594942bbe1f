"""The decisions of an agent, by id: which wait for what became of them, and which were answered already."""

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, Generic, TypeVar

from corebandit.contracts.audit import demand
from corebandit.contracts.errors import AlreadyTold, UnknownDecision
from corebandit.contracts.validate import check_count, shortened

Chosen = TypeVar("Chosen")  # what users call it: an arm, or the items of a ranking
Choice = TypeVar("Choice")  # what must be known of a decision to learn from its answer


class Ledger(Generic[Chosen, Choice]):
    """Ids, each given once, and what was decided under those that wait.

    It has no lock: whoever keeps a ledger changes other things along with it, under one lock for all.

    Parameters
    ----------
    noun
        What errors call a decision.
    lesson
        What they say is learned of it: "a reward is", "clicks are".
    in_words
        Says what was chosen: "chose 'red'".

    >>> ledger = Ledger[str, int]("decision", "a reward is", lambda arm: f"chose {arm!r}")
    >>> ledger.enter("red", 0)
    0
    >>> ledger.find(0)
    (0, 0)
    >>> ledger.close(0)
    >>> ledger.find(0)
    Traceback (most recent call last):
    ...
    corebandit.contracts.errors.AlreadyTold: decision 0 was told or forgotten already; a reward is learned only once
    """

    def __init__(self, noun: str, lesson: str, in_words: Callable[[Chosen], str]) -> None:
        self.noun, self.lesson, self.in_words = noun, lesson, in_words
        self.next_id = 0
        self.waiting: dict[int, tuple[Chosen, Choice]] = {}

    def enter(self, chosen: Chosen, choice: Choice) -> int:
        """Return the id of a new decision, which waits from now on."""
        decision_id = self.next_id
        self.waiting[decision_id] = chosen, choice
        self.next_id = decision_id + 1
        return decision_id

    def find(self, decision_id: Any, receipt: Any = None, claimed: Any = None) -> tuple[int, Choice]:
        """Return the id and the choice of a decision that waits, or say why there is none.

        Whoever has not a bare id but the whole receipt also says what it claims was chosen: it may be another agent's.
        """
        is_id = isinstance(decision_id, Integral) and not isinstance(decision_id, bool)
        if not is_id or not 0 <= decision_id < self.next_id:
            given = shortened(decision_id if receipt is None else receipt)
            raise UnknownDecision(f"{self.noun} must be one that ask() returned, or its id, not {given}")
        decision_id = int(decision_id)
        if decision_id not in self.waiting:
            raise AlreadyTold(
                f"{self.noun} {decision_id} was told or forgotten already; {self.lesson} learned only once"
            )
        chosen, choice = self.waiting[decision_id]
        if receipt is not None and claimed != chosen:
            raise UnknownDecision(
                f"{self.noun} must be one of this agent's, which {self.in_words(chosen)}, not {shortened(receipt)}"
            )
        return decision_id, choice

    def close(self, decision_id: int) -> None:
        """Let a decision wait no longer: it was answered, or never will be."""
        del self.waiting[decision_id]

    def content(self, plain: Callable[[Choice], Any]) -> dict[str, Any]:
        """Return what there is, ready for JSON if `plain` makes a choice so."""
        return {
            "pending": [[decision_id, plain(choice)] for decision_id, (_, choice) in self.waiting.items()],
            "next_id": self.next_id,
        }

    def restore(self, content: dict[str, Any], decisions: Iterable[tuple[Chosen, Choice]]) -> None:
        """Go on with what was saved; `decisions` are what was read of those that wait, in their order."""
        next_id = check_count("next_id", content["next_id"], at_least=0)
        ids = [check_count("pending", decision_id, at_least=0) for decision_id, _ in content["pending"]]
        demand(all(decision_id < next_id for decision_id in ids), f"pending must have ids below next_id, {next_id}")
        demand(len(set(ids)) == len(ids), "pending must have each id once")
        self.next_id, self.waiting = next_id, dict(zip(ids, decisions, strict=True))
