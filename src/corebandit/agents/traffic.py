"""How much traffic each option gets and how much is heard of it, and who is left out of a decision because of that.

A policy learns from rewards alone, so it would choose an option again and again that it has heard nothing of: a new
one, or one whose rewards are lost on their way. Here decisions that wait are counted. They never change a policy's
scores, only what is on offer; where every reward is told before the next decision, nothing is ever left out.
"""

import math
from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from corebandit.contracts.audit import demand
from corebandit.contracts.state import IntArray
from corebandit.contracts.validate import check_count, check_number

SHARE_OF = 100  # decisions in a row, of which an option may get a limited share
PATIENCE = 100  # decisions in a row without a reward, of an option that is otherwise heard of


class Tally:
    """What became of the decisions for one option."""

    __slots__ = ("last_told", "late", "mean", "open", "patience", "spread", "told", "unanswered")

    def __init__(self) -> None:
        self.open = 0  # decisions that wait
        self.told = 0  # rewards, also of choices that others made
        self.mean = self.spread = 0.0  # of the rewards, and the sum of their squared distances to it
        self.unanswered = 0  # decisions since something was told of it
        self.patience = 0  # as many of these are fine
        self.last_told: float | None = None
        self.late = 0  # rewards that came after the end of the window

    def hear(self, reward: float, now: float, patience: int) -> None:
        """Count a reward."""
        told = self.told + 1
        gap = reward - self.mean
        self.mean += gap / told
        self.spread += gap * (reward - self.mean)
        self.told, self.last_told, self.unanswered = told, now, 0
        if self.patience < patience:
            self.patience += 1

    @property
    def made(self) -> int:
        """Return how often it was tried, whatever came of it."""
        return self.told + self.open


FIELDS = ("told", "mean", "spread", "unanswered", "patience", "last_told", "late")  # that are saved; open ones follow


class Traffic:
    """Tallies of all options, and limits.

    Parameters
    ----------
    patience
        An option counts as not heard of once so many decisions for it in a row had no reward; one that has had fewer
        rewards, once as many as it has had. Then it gets at most an equal part of the decisions that wait.
    max_share
        The most that an option may get of any 100 decisions in a row; 1 for no limit.
    """

    def __init__(self, n_options: int, patience: int = PATIENCE, max_share: float = 1.0) -> None:
        self.patience = check_count("patience", patience, at_least=0)
        check_number("max_share", max_share, above=0, at_most=1)
        self.max_share = float(max_share)
        self.tallies = [Tally() for _ in range(n_options)]
        self.n_open = 0  # decisions, or places in rankings
        self._waiting: set[int] = set()  # options with open decisions
        self._recent: deque[int] | None = deque() if self.max_share < 1.0 else None
        self._recent_counts: dict[int, int] = {}

    def make_room(self, n_options: int) -> None:
        """Have a tally for so many options."""
        self.tallies += [Tally() for _ in range(n_options - len(self.tallies))]

    # What happens -------------------------------------------------------------------------------------------------

    def decide(self, options: Iterable[int]) -> None:
        """Count a decision for these options."""
        for option in options:
            tally = self.tallies[option]
            tally.open += 1
            tally.unanswered += 1
            self.n_open += 1
            self._waiting.add(option)
            if self._recent is not None:
                self._note(option)

    def close(self, options: Iterable[int]) -> None:
        """Let a decision for these options wait no longer."""
        for option in options:
            tally = self.tallies[option]
            tally.open -= 1
            self.n_open -= 1
            if tally.open == 0:
                self._waiting.discard(option)

    def hear(self, option: int, reward: float, now: float) -> None:
        """Count a reward of an option."""
        self.tallies[option].hear(reward, now, self.patience)

    def _note(self, option: int) -> None:
        recent, counts = self._recent, self._recent_counts
        assert recent is not None
        recent.append(option)
        counts[option] = counts.get(option, 0) + 1
        if len(recent) >= SHARE_OF:  # the next decision makes a hundred
            oldest = recent.popleft()
            counts[oldest] -= 1

    # Who is left out ----------------------------------------------------------------------------------------------

    @property
    def is_limiting(self) -> bool:
        """Tell whether anything may be left out now."""
        return self.n_open > 0 or self._recent is not None

    def within_limits(self, offered: IntArray, n_chosen: int = 1) -> IntArray:
        """Return those of the `offered` options that may be chosen now; never fewer than `n_chosen`.

        An option that is not heard of must not have more than its part, ⌈open / K⌉, of the open decisions after this
        one. Not all K can have had as much, so at least one stays; where several are chosen at once and too few stay,
        those come back that have least.
        """
        if offered.size <= n_chosen:
            return offered
        most = math.ceil((self.n_open + n_chosen) / offered.size)
        left_out = {
            option for option in self._waiting if self._is_unheard(option) and self.tallies[option].open >= most
        }
        if self._recent is not None:
            most_recent = max(1, math.floor(self.max_share * SHARE_OF))
            left_out |= {option for option, count in self._recent_counts.items() if count >= most_recent}
        if not left_out:
            return offered
        return self._without(offered, left_out, n_chosen)

    def least_tried(self, offered: IntArray) -> IntArray:
        """Return the options with the fewest decisions made, told or not: what forced tries are for."""
        made = [self.tallies[option].made for option in offered.tolist()]
        least: IntArray = offered[np.array(made) == min(made)]
        return least

    def _is_unheard(self, option: int) -> bool:
        tally = self.tallies[option]
        return tally.unanswered >= min(tally.patience, self.patience)

    def _without(self, offered: IntArray, left_out: set[int], n_chosen: int) -> IntArray:
        listed = offered.tolist()
        stay = [option for option in listed if option not in left_out]
        if len(stay) < n_chosen:
            back = sorted((option for option in listed if option in left_out), key=self._burden)
            stay += back[: n_chosen - len(stay)]
            return np.array(sorted(stay), dtype=np.int64)
        return np.array(stay, dtype=np.int64)

    def _burden(self, option: int) -> tuple[int, int]:
        return self.tallies[option].open, self._recent_counts.get(option, 0)

    # Saving -------------------------------------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """Return what there is, ready for JSON; what waits is told by who keeps the decisions."""
        return {
            "tallies": {field: [getattr(tally, field) for tally in self.tallies] for field in FIELDS},
            "recent": None if self._recent is None else list(self._recent),
        }

    def restore(self, content: dict[str, Any], waiting: Iterable[Iterable[int]]) -> None:
        """Go on with what was saved, and with decisions that wait for these options."""
        columns = content["tallies"]
        n_options = len(columns["told"])
        demand(all(len(columns[field]) == n_options for field in FIELDS), "tallies must all be of the same length")
        self.make_room(n_options)
        for field in FIELDS:
            for tally, value in zip(self.tallies, columns[field], strict=False):
                setattr(tally, field, _checked(field, value))
        for options in waiting:
            for option in options:
                self.tallies[option].open += 1
                self.n_open += 1
                self._waiting.add(option)
        if self._recent is not None:
            for option in content["recent"] or ():
                self._note(check_count("recent", option, at_least=0))

    def trust_everyone(self) -> None:
        """Take every option for one that is heard of: what was saved before tallies were kept does not say."""
        for tally in self.tallies:
            tally.patience = self.patience


def _checked(field: str, value: Any) -> Any:
    if field in ("mean", "spread"):
        check_number(field, value)
        return float(value)
    if field == "last_told":
        if value is not None:
            check_number(field, value)
        return value
    return check_count(field, value, at_least=0)
