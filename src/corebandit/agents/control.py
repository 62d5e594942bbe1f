"""What came of decisions that the policy made, and of those held out, which are uniform: a control group."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from corebandit.contracts.errors import demand
from corebandit.contracts.recipe import LARGEST_REWARD, MOST_OBSERVATIONS
from corebandit.contracts.validate import check_count, check_number

BEFORE = "before"  # held out before the agent was changed: it counts for no gain any more


class Moments:
    """How many numbers there were, their mean, the sum of their squared distances to it, and how often they changed."""

    __slots__ = ("last", "mean", "n", "n_changes", "spread")

    def __init__(
        self, n: int = 0, mean: float = 0.0, spread: float = 0.0, last: float = 0.0, n_changes: int = 0
    ) -> None:
        self.n, self.mean, self.spread = n, mean, spread
        self.last, self.n_changes = last, n_changes  # numbers that are not the same as the one before

    def add(self, number: float) -> None:
        """Count one more."""
        self.n_changes += self.n > 0 and number != self.last
        self.n += 1
        self.last = number
        gap = number - self.mean
        self.mean += gap / self.n
        self.spread += gap * (number - self.mean)

    @property
    def variance(self) -> float:
        """Return the sample variance; of fewer than 2 numbers nobody knows it."""
        return self.spread / (self.n - 1) if self.n > 1 else math.inf

    def content(self) -> list[float]:
        """Return all of it, ready for JSON."""
        return [self.n, self.mean, self.spread, self.last, self.n_changes]

    @classmethod
    def restored(cls, saved: Any, largest: float) -> "Moments":
        """Return what was saved of numbers of at most this size."""
        n, mean, spread, last, n_changes = saved
        demand(check_count("control", n, at_least=0) <= MOST_OBSERVATIONS, "control must be of decisions made")
        return cls(
            n,
            check_number("control", mean, at_least=-largest, at_most=largest),
            check_number("control", spread, at_least=0, at_most=4 * largest**2 * MOST_OBSERVATIONS),
            check_number("control", last, at_least=-largest, at_most=largest),
            min(check_count("control", n_changes, at_least=0), n),
        )


def is_of_all(choice: Any, options: Any) -> bool:
    """Tell whether a choice of one option was among all that have names and are on offer now, not some that were named.

    Only such ones compare options: what is asked for some of them may be asked where rewards are others.
    """
    known = choice[2] or {}
    return options.names is not None and all(option in known for option in options.indices_on_offer)


class Control:
    """Rewards by who decided, and those of held-out decisions by option.

    >>> control = Control(n_options=2)
    >>> control.hear(False, 1.0, [(0, 1.0)])
    >>> control.hear(True, 0.0, [(1, 0.0)])
    >>> control.chosen.mean, control.held_out.mean, control.options[1].n
    (1.0, 0.0, 1)
    """

    def __init__(self, n_options: int) -> None:
        self.chosen, self.held_out = Moments(), Moments()  # rewards of decisions by the policy, and of the others
        self.options = [Moments() for _ in range(n_options)]  # rewards of each option where it was held out

    def make_room(self, n_options: int) -> None:
        """Have room for so many options."""
        self.options += [Moments() for _ in range(n_options - len(self.options))]

    def hear(self, is_held_out: bool | str, reward: float, parts: Iterable[tuple[int, float]]) -> None:
        """Count the reward of a decision, and what part of it each option, by its index, had in it."""
        if is_held_out == BEFORE:
            return
        if not is_held_out:
            self.chosen.add(reward)
            return
        self.held_out.add(reward)
        for option, part in parts:
            self.options[option].add(part)

    def content(self, choices: Iterable[Any]) -> dict[str, Any]:
        """Return a copy of what there is, ready for JSON, with who made the choices that wait."""
        return {
            "chosen": self.chosen.content(),
            "held_out": self.held_out.content(),
            "options": [moments.content() for moments in self.options],
            "pending": [choice[-1] for choice in choices],
        }

    def restore(self, saved: Any, n_shown: int) -> None:
        """Go on with what was saved of decisions that show so many options."""
        largest = n_shown * LARGEST_REWARD
        options = [Moments.restored(each, LARGEST_REWARD) for each in saved["options"]]
        demand(len(options) == len(self.options), f"control must be of {len(self.options)} options")
        self.chosen, self.held_out = (Moments.restored(saved[group], largest) for group in ("chosen", "held_out"))
        self.options = options

    @staticmethod
    def marked(saved: Any, choices: Sequence[Any]) -> list[Any]:
        """Return the choices that wait with who made them, as it was saved."""
        flags = saved["pending"]
        demand(len(flags) == len(choices), "control must be of each decision that waits")
        is_known = all(flag is None or isinstance(flag, bool) or flag == BEFORE for flag in flags)
        demand(is_known, "control must say who decided")
        return [(*choice[:-1], flag) for choice, flag in zip(choices, flags, strict=True)]
