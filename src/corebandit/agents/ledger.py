"""The decisions of an agent, by id: which wait for what became of them, since when, and how the others ended."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat
from numbers import Integral
from operator import itemgetter
from typing import Any, Generic, TypeVar

from corebandit.agents.ids import GIVEN, LOST, DecisionId, Ids
from corebandit.agents.rounds import Rounds
from corebandit.agents.traffic import Traffic
from corebandit.contracts.errors import AlreadyTold, LostDecision, TooLate, UnknownDecision, demand
from corebandit.contracts.validate import check_count, check_number, shortened

Chosen = TypeVar("Chosen")  # what users call it: an arm, or the items of a ranking
Choice = TypeVar("Choice", bound=Any)  # what must be known of a decision to learn from its answer
MOST_EXPIRED = 10_000  # that are remembered, to tell those that come late from those told twice


class Ledger(Generic[Chosen, Choice]):
    """Ids, each given once, and what was decided under those that wait. A decision ends once, and in one way.

    It has no lock: whoever keeps a ledger changes other things along with it, under one lock for all.

    Parameters
    ----------
    noun
        What errors call a decision.
    lesson
        What they say is learned of it: "a reward is", "clicks are".
    in_words
        Says what was chosen: "chose 'red'".
    options_of
        Returns the indices of the options that a choice is of; none where options have no names to be known by.
    traffic
        Counts what each option gets.
    is_of_one
        Whether every choice begins with the index of the one option that it is of: these are counted faster.
    rounds
        Counts decisions. A choice begins with the index of its option, or with those of several.

    >>> ledger = Ledger[str, tuple[int]]("decision", "a reward is", lambda arm: f"chose {arm!r}", lambda choice: choice,
    ...                           Traffic(1))
    >>> first = ledger.enter("red", (0,), now=12.5)
    >>> ledger.find(first)
    (0,)
    >>> ledger.close(first)
    >>> ledger.find(first)
    Traceback (most recent call last):
    ...
    corebandit.contracts.errors.AlreadyTold: decision ... was told or forgotten already; a reward is learned only once
    """

    def __init__(
        self,
        noun: str,
        lesson: str,
        in_words: Callable[[Chosen], str],
        options_of: Callable[[Choice], Sequence[int]],
        traffic: Traffic,
        is_of_one: bool = False,
        rounds: Rounds | None = None,
    ) -> None:
        self.noun, self.lesson, self.in_words = noun, lesson, in_words
        self.options_of, self.traffic, self.is_of_one = options_of, traffic, is_of_one
        self.rounds = Rounds() if rounds is None else rounds
        self.ids = Ids()
        self.waiting: dict[DecisionId, tuple[Chosen, Choice, float]] = {}  # in the order of the decisions
        self.expired: dict[DecisionId, Sequence[int]] = {}  # the last of them, and of which options they were

    def enter(self, chosen: Chosen, choice: Choice, now: float, decision_id: str | None = None) -> str:
        """Return the id of a new decision, which waits from now on; a journal tells that of an old one."""
        if decision_id is None:
            decision_id = self.ids.new()
        else:
            self.ids.note_id(decision_id)
        self.waiting[decision_id] = chosen, choice, now
        self.rounds.enter(choice[0])
        if self.is_of_one:
            self.traffic.decide(choice[0])  # an option, and nothing else to look for
        else:
            for option in self.options_of(choice):
                self.traffic.decide(option)
        return decision_id

    def enter_many(
        self, chosen: Sequence[Chosen], choices: Sequence[Choice], now: float, ids: Sequence[str] | None = None
    ) -> Sequence[str]:
        """Return the ids of many new decisions; each choice is of one option that it begins with, or of no name."""
        if ids is None:
            ids = self.ids.new_many(len(choices))
        else:
            for decision_id in ids:
                self.ids.note_id(decision_id)
        self.waiting.update(zip(ids, zip(chosen, choices, repeat(now)), strict=True))
        self.rounds.enter_many(choices)
        if self.is_of_one:
            for option, times in Counter(map(itemgetter(0), choices)).items():
                self.traffic.decide(option, times)
        return ids

    def find(self, decision_id: Any, receipt: Any = None, claimed: Any = None) -> Choice:
        """Return the choice of a decision that waits, or say why there is none.

        Whoever has not a bare id but the whole receipt also says what it claims was chosen: it may be another agent's.
        """
        is_id = isinstance(decision_id, str) or (
            isinstance(decision_id, Integral) and not isinstance(decision_id, bool)
        )
        if not is_id or decision_id not in self.waiting:
            raise self._why_it_does_not_wait(decision_id, receipt)
        chosen, choice, _ = self.waiting[decision_id]
        if receipt is not None and claimed != chosen:
            raise UnknownDecision(
                f"{self.noun} must be one of this agent's, which {self.in_words(chosen)}, not {shortened(receipt)}"
            )
        return choice

    def _why_it_does_not_wait(self, decision_id: Any, receipt: Any) -> UnknownDecision | AlreadyTold:
        what = self.ids.what_became_of(decision_id)
        if what == LOST:
            return LostDecision(
                f"{self.noun} {decision_id} was made after what this agent was loaded from was saved, or by a copy of "
                "it, so what was chosen is not known here; if you know, observe(...) learns from it"
            )
        if what != GIVEN:
            given = shortened(decision_id if receipt is None else receipt)
            return UnknownDecision(f"{self.noun} must be one that ask() returned, or its id, not {given}")
        if decision_id in self.expired:
            return TooLate(
                f"{self.noun} {decision_id} has expired: what is told now comes too late, is counted and not learned"
            )
        return AlreadyTold(f"{self.noun} {decision_id} was told or forgotten already; {self.lesson} learned only once")

    def close(self, decision_id: DecisionId) -> None:
        """Let a decision wait no longer: it was answered, or never will be."""
        _, choice, _ = self.waiting.pop(decision_id)
        self.rounds.close(choice[0])
        if self.is_of_one:
            self.traffic.close(choice[0])
        else:
            for option in self.options_of(choice):
                self.traffic.close(option)

    def cancel(self, decision_id: DecisionId) -> None:
        """Close a decision that was never made after all."""
        self.close(decision_id)
        self.rounds.decided -= 1

    def expire(self, decision_id: DecisionId) -> None:
        """Let a decision wait no longer because its time is over."""
        options = self.options_of(self.waiting[decision_id][1])
        self.close(decision_id)
        self.expired[decision_id] = options
        if len(self.expired) > MOST_EXPIRED:
            del self.expired[next(iter(self.expired))]

    def count_late(self, decision_id: DecisionId) -> None:
        """Count what was told of a decision that had expired."""
        for option in self.expired[decision_id]:
            self.traffic.tallies[option].late += 1

    def older_than(self, since: float) -> list[DecisionId]:
        """Return the decisions that were made until then and wait still, the oldest first.

        They are looked for from the oldest on, up to the first that is young enough.
        """
        found = []
        for decision_id, (_, _, asked) in self.waiting.items():
            if asked > since:
                break
            found.append(decision_id)
        return found

    @property
    def latest(self) -> float:
        """Return when the youngest decision that waits was made; before all time if none does."""
        return max((asked for _, _, asked in self.waiting.values()), default=-math.inf)

    def turn_back(self, now: float) -> bool:
        """Let no decision be of the future, and tell whether any was: the clock went backwards.

        They would seem young for too long.
        """
        is_changed = False
        for decision_id, (chosen, choice, asked) in reversed(self.waiting.items()):
            if asked <= now:
                break
            self.waiting[decision_id] = chosen, choice, now
            is_changed = True
        return is_changed

    # Saving -------------------------------------------------------------------------------------------------------

    def content(self, plain: Callable[[Choice], Any]) -> dict[str, Any]:
        """Return a copy of what there is, for `in_json`, if `plain` makes a choice ready for it."""
        ids, waiting, expired = list(self.waiting), list(self.waiting.values()), list(self.expired.items())
        return {
            "pending": lambda: ([key, plain(it[1]), it[2]] for key, it in zip(ids, waiting, strict=True)),
            "expired": lambda: ([key, list(options)] for key, options in expired),
            "ids": self.ids.content(chain(self.waiting, self.expired)),
            "decided": self.rounds.decided,
            **self.traffic.content(),
        }

    def restore(self, content: dict[str, Any], decisions: Iterable[tuple[Chosen, Choice]]) -> None:
        """Go on with what was saved; `decisions` are what was read of those that wait, in their order."""
        decided = check_count("decided", content["decided"], at_least=len(content["pending"]))
        ids = Ids()
        ids.restore(content["ids"])
        waiting = dict[DecisionId, tuple[Chosen, Choice, float]]()
        for (decision_id, _, asked), (chosen, choice) in zip(content["pending"], decisions, strict=True):
            demand(ids.what_became_of(decision_id) == GIVEN, f"pending must have ids given, not {decision_id!r}")
            waiting[decision_id] = chosen, choice, check_number("pending", asked)
        demand(len(waiting) == len(content["pending"]), "pending must have each id once")
        expired = dict[DecisionId, Sequence[int]]()
        for decision_id, options in content["expired"]:
            demand(ids.what_became_of(decision_id) == GIVEN, f"expired must have ids given, not {decision_id!r}")
            expired[decision_id] = [check_count("expired", option, at_least=0) for option in options]
        n_options = len(self.traffic.tallies)
        demand(all(option < n_options for each in expired.values() for option in each), "expired must be of options")
        demand(waiting.keys().isdisjoint(expired), "expired must not wait")
        self.traffic.restore(content, [self.options_of(choice) for _, choice, _ in waiting.values()])
        self.ids, self.waiting, self.expired = ids, waiting, expired
        for _, choice, _ in waiting.values():
            self.rounds.enter(choice[0])
        self.rounds.decided = decided
