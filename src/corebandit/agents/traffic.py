"""How much traffic each option gets and how much is heard of it, and who is left out of a decision because of that.

A policy learns from rewards alone, so it would choose an option again and again that it has heard nothing of: a new
one, or one whose rewards are lost on their way. Here decisions that wait are counted. They never change a policy's
scores, only what is on offer; where every reward is told before the next decision, nothing is ever left out.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from corebandit.agents.noticing import Watch
from corebandit.contracts.errors import demand
from corebandit.contracts.recipe import LARGEST_REWARD, MOST_OBSERVATIONS
from corebandit.contracts.state import IntArray
from corebandit.contracts.validate import check_count, check_number

SHARE_OF = 100  # decisions in a row, of which an option may get a limited share
PATIENCE = 100  # decisions in a row without a reward, of an option that is otherwise heard of


class Tally:
    """What became of the decisions for one option."""

    __slots__ = ("last_told", "late", "mean", "open", "patience", "spread", "told", "unanswered", "watch")

    def __init__(self) -> None:
        self.open = 0  # decisions that wait
        self.told = 0  # rewards, also of choices that others made
        self.mean = self.spread = 0.0  # of the rewards, and the sum of their squared distances to it
        self.unanswered = 0  # decisions since something was told of it
        self.patience = 0  # as many of these are fine
        self.last_told: float | None = None
        self.late = 0  # rewards that came after the end of the window
        self.watch: Watch | None = None  # for changes of what it pays

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

    def decide(self, option: int, times: int = 1) -> None:
        """Count a decision for an option, or several, where the share of recent ones is not limited."""
        tally = self.tallies[option]
        tally.open = n_open = tally.open + times
        tally.unanswered += times
        self.n_open += times
        if n_open == times:
            self._waiting.add(option)
        if self._recent is not None:
            self._note(option)

    def close(self, option: int) -> None:
        """Let a decision for an option wait no longer."""
        tally = self.tallies[option]
        tally.open = n_open = tally.open - 1
        self.n_open -= 1
        if n_open == 0:
            self._waiting.discard(option)

    def hear(self, option: int, reward: float, now: float) -> None:
        """Count a reward of an option."""
        tally = self.tallies[option]
        tally.told = told = tally.told + 1
        gap = reward - tally.mean
        tally.mean = mean = tally.mean + gap / told
        tally.spread += gap * (reward - mean)
        tally.last_told, tally.unanswered = now, 0
        if tally.patience < self.patience:
            tally.patience += 1

    def _note(self, option: int) -> None:
        recent, counts = self._recent, self._recent_counts
        assert recent is not None
        recent.append(option)
        counts[option] = counts.get(option, 0) + 1
        if len(recent) >= SHARE_OF:  # the next decision makes a hundred
            oldest = recent.popleft()
            counts[oldest] -= 1

    def counts(self) -> IntArray:
        """Return what decides who is left out, `(4, options)`: open, unanswered, how many of these are fine, told."""
        columns = [
            (tally.open, tally.unanswered, min(tally.patience, self.patience), tally.told) for tally in self.tallies
        ]
        return np.array(columns, np.int64).reshape(-1, 4).T.copy()

    # Who is left out ----------------------------------------------------------------------------------------------

    @property
    def is_limiting(self) -> bool:
        """Tell whether anything may be left out now."""
        return self.n_open > 0 or self._recent is not None

    def within_limits(self, offered: IntArray, n_chosen: int = 1) -> IntArray:
        """Return those of the `offered` options that may be chosen now; never fewer than `n_chosen`.

        An option that is not heard of must not have more than its part, ⌈open / K⌉, of the open decisions after this
        one. Not all K can have had as much, so at least one stays; where several are chosen at once and too few stay,
        those come back, and get more, that were ever heard of and have least.
        """
        if offered.size <= n_chosen:
            return offered
        most = math.ceil((self.n_open + n_chosen) / offered.size)
        left_out = {
            option for option in self._waiting if self._is_unheard(option) and self.tallies[option].open >= most
        }
        if self._recent is not None:
            most_recent = max(1, math.floor(round(self.max_share * SHARE_OF, 9)))  # 0.29 of 100 are 29
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

    def replace(self, shown: IntArray, allowed: IntArray) -> None:
        """Put others in place of what is shown and not `allowed`: for policies that cannot be told what is on offer."""
        fill_in(shown, self.by_burden(allowed))

    def by_burden(self, allowed: IntArray) -> list[int]:
        """Return options in the order in which they take the place of others."""
        return sorted(allowed.tolist(), key=self._burden)

    def _burden(self, option: int) -> tuple[bool, int, int]:
        tally = self.tallies[option]
        return tally.told == 0, tally.open, self._recent_counts.get(option, 0)

    # Saving -------------------------------------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """Return a copy of what there is, for `in_json`; what waits is told by who keeps the decisions."""
        tallies = list(map(attrgetter(*FIELDS), self.tallies))
        return {
            "tallies": lambda: {field: [tally[place] for tally in tallies] for place, field in enumerate(FIELDS)},
            "recent": None if self._recent is None else list(self._recent),
        }

    def restore(self, content: dict[str, Any], waiting: Iterable[Iterable[int]]) -> None:
        """Go on with what was saved, and with decisions that wait for these options."""
        columns, tallies = content["tallies"], [Tally() for _ in self.tallies]
        for field in FIELDS:
            demand(len(columns[field]) == len(tallies), f"tallies must be of {len(tallies)} options")
            for tally, value in zip(tallies, columns[field], strict=True):
                setattr(tally, field, _checked(field, value))
        recent = [check_count("recent", option, at_least=0) for option in content["recent"] or ()]
        demand(all(option < len(tallies) for option in recent), "recent must be of options")
        self.tallies = tallies
        for options in waiting:
            for option in options:
                self.tallies[option].open += 1
                self.n_open += 1
                self._waiting.add(option)
        if self._recent is not None:
            for option in recent:
                self._note(option)


def fill_in(shown: IntArray, stand_ins: Sequence[int]) -> None:
    """Put some of `stand_ins`, the first ones first, in place of what is shown and not among them."""
    there = set(shown.tolist())
    spare = (option for option in stand_ins if option not in there)
    for place in np.flatnonzero(~np.isin(shown, stand_ins)):
        shown[place] = next(spare)


def _checked(field: str, value: Any) -> Any:
    if field == "mean":
        return check_number(field, value, at_least=-LARGEST_REWARD, at_most=LARGEST_REWARD)
    if field == "spread":
        return check_number(field, value, at_least=0, at_most=4 * LARGEST_REWARD**2 * MOST_OBSERVATIONS)
    if field == "last_told":
        return None if value is None else check_number(field, value)
    count = check_count(field, value, at_least=0)
    demand(count <= MOST_OBSERVATIONS, f"{field} must not be more than anyone can count")
    return count
