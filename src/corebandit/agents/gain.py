"""What a policy gained over uniform choices, with an interval that may be looked at at any time.

The difference of two means, d, has the standard error s = sqrt(v / n_chosen + v / n_held_out), where v is the larger of
the two sample variances: rare large rewards are easily missed in the small group, whose own variance is then too small
exactly where its mean is. The interval is a confidence sequence (`statistics/sequences.py`): its limits hold at all
times at once, from the number of decisions on where the central limit theorem does. Of rare rewards that takes more
than a number of decisions: before some have come, nobody knows the variance. So some must have, in both groups together
and in the smaller one, whose error is most of all.
What is estimated is the mean gain of the decisions made so far: the policy may learn, the world change.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from corebandit.agents.control import Control, Moments
from corebandit.contracts.validate import counted, shortened
from corebandit.statistics.sequences import width

LEVEL = 0.95  # of the interval of a gain, and of those of all arms together, at all times
ENOUGH = 100  # rewards in the smaller group, from which on sums are near enough to normal
STAND_OUT, STAND_OUT_IN_SMALLER = 10, 3  # rewards unlike those before and after them, such as purchases
MOST_NAMED = 10  # arms that are ruled out, in words


@dataclass(frozen=True, repr=False)
class Gain:
    """What the policy's decisions gained over uniform choices, per decision and in total.

    `ci_low` to `ci_high` covers the gain per decision at all times at once, with a probability of 95 %. They are None
    before `holds_from` decisions have ended, 100 of them in each group, and, where rewards are rare, before some have
    come. So look whenever you like, and stop when you have seen enough.
    """

    per_decision: float | None  # None while there is nothing to compare
    ci_low: float | None
    ci_high: float | None
    n_chosen: int  # decisions of the policy that have ended with a reward
    n_held_out: int  # uniform ones
    holds_from: int  # as many of both together must have ended, at least, before there is an interval
    ruled_out: tuple[Hashable, ...]  # arms that another one surpasses, by what was held out of all arms on offer

    @property
    def total(self) -> float | None:
        """Return what all of the policy's decisions have gained."""
        return self._in_total(self.per_decision)

    @property
    def total_low(self) -> float | None:
        """Return the lower limit of the total."""
        return self._in_total(self.ci_low)

    @property
    def total_high(self) -> float | None:
        """Return the upper limit of the total."""
        return self._in_total(self.ci_high)

    def _in_total(self, per_decision: float | None) -> float | None:
        return None if per_decision is None else per_decision * self.n_chosen

    @property
    def is_decided(self) -> bool:
        """Tell whether the policy is known to be better, or worse, than uniform choices: it is safe to stop."""
        return self.ci_low is not None and self.ci_high is not None and not self.ci_low <= 0.0 <= self.ci_high

    @property
    def verdict(self) -> str:
        """Return in a sentence whether it is safe to stop, and why."""
        n = self.n_chosen + self.n_held_out
        if self.ci_low is None or self.ci_high is None:
            return f"too early to say: {self._missing(n)}"
        if self.ci_low > 0.0:
            return "better than uniform choices: it is safe to stop holding out"
        if self.ci_high < 0.0:
            return "worse than uniform choices: it is safe to stop, and to look for the reason"
        return f"not known yet: per decision it is no more than {self.ci_high:.4g} and no less than {self.ci_low:.4g}"

    def _missing(self, n: int) -> str:
        """Say what an interval waits for, of n decisions."""
        if n < self.holds_from:
            return f"the interval holds from {self.holds_from:,} decisions on, and {n:,} have ended"
        if (smaller := min(self.n_chosen, self.n_held_out)) < ENOUGH:
            return f"the interval holds from {ENOUGH:,} decisions in each group on, and of one {smaller:,} have ended"
        return "too few rewards have differed from the others, and the interval is made of these"

    def __repr__(self) -> str:
        held_out = f"{counted(self.n_chosen, 'decision')} by the policy, {self.n_held_out:,} held out"
        lines = [f"gain over uniform choices, from {held_out}"]
        rows = (
            ("per decision", self.per_decision, self.ci_low, self.ci_high),
            ("in total", self.total, self.total_low, self.total_high),
        )
        for name, value, low, high in rows:
            if value is not None:
                interval = "" if low is None or high is None else f"  ({low:.4g} to {high:.4g})"
                lines.append(f"  {name:12}  {value:.4g}{interval}")
        if self.ruled_out:
            more = ", ..." if len(self.ruled_out) > MOST_NAMED else ""
            lines.append(f"  ruled out: {', '.join(map(shortened, self.ruled_out[:MOST_NAMED]))}{more}")
        return "\n".join([*lines, f"  {self.verdict}"])


def gain_of(control: Control, holdout: float, options: Any) -> Gain:
    """Return the gain of a policy from what came of its decisions and of a share held out."""
    chosen, held_out = control.chosen, control.held_out
    n, start = chosen.n + held_out.n, math.ceil(round(ENOUGH / min(holdout, 1.0 - holdout), 9))
    low = high = None
    is_known = chosen.n > 0 and held_out.n > 0
    difference = chosen.mean - held_out.mean
    variance = max(chosen.variance, held_out.variance)
    if n >= start and are_enough(chosen, held_out) and variance > 0.0:
        half = width(n, start, 1.0 - LEVEL) * math.sqrt(variance / chosen.n + variance / held_out.n)
        low, high = difference - half, difference + half
    out = tuple(options.name(index) for index in ruled_out(control, options.retired))
    return Gain(difference if is_known else None, low, high, chosen.n, held_out.n, start, out)


def are_enough(*groups: Moments) -> bool:
    """Tell whether the rewards of two groups are enough, and different enough, for an interval.

    A reward that is alone among others that are all the same makes two changes.
    """
    smaller = min(groups, key=lambda group: group.n)
    n_changes = sum(group.n_changes for group in groups)
    return smaller.n >= ENOUGH and n_changes >= 2 * STAND_OUT and smaller.n_changes >= 2 * STAND_OUT_IN_SMALLER


def ruled_out(control: Control, retired: frozenset[int]) -> list[int]:
    """Return the options on offer that another one on offer surpasses, by rewards of held-out decisions alone.

    Decisions among some of the options, `ask(arms=[...])`, do not count: they may be made where rewards are others.
    Their limits hold for all options together, at all times: the level is shared among them.
    """
    error, pooled = (1.0 - LEVEL) / max(1, len(control.options)), control.held_out

    def half(moments: Moments) -> float:
        variance = max(moments.variance, pooled.variance)
        return width(moments.n, ENOUGH, error) * math.sqrt(variance / moments.n)

    known = {
        index: (moments.mean - (margin := half(moments)), moments.mean + margin)
        for index, moments in enumerate(control.options)
        if moments.n >= ENOUGH and index not in retired
    }
    best = max((low for low, _ in known.values()), default=-math.inf)
    return [index for index, (_, high) in known.items() if high < best]
