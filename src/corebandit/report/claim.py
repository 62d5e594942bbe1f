"""A claim and how it fared: data that are judged elsewhere and shown here."""

import math
from dataclasses import asdict, dataclass
from typing import Any

LEVEL = 0.025  # of each side: that of a 95 % interval
HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
LOOKS = {HOLDS: "looks as if it holds", FAILS: "looks as if it does not"}  # but for failures that no run has shown
VERBS = {  # of one, and of several
    HOLDS: ("holds", "hold"),
    LOOKS[HOLDS]: ("looks as if it holds", "look as if they hold"),
    FAILS: ("does not hold", "do not hold"),
    LOOKS[FAILS]: ("looks as if it does not", "look as if they do not"),
    UNDECIDED: ("is undecided", "are undecided"),
}


@dataclass(frozen=True)
class Finding:
    """One measured quantity, the bound a claim says it keeps, and how surely it does.

    `p_holds` is small where the data say that it keeps the bound, `p_fails` where they say that it does not: p-values
    of one-sided tests. `p_holds_unseen` and `p_fails_unseen` are the same if as many runs fail as these runs may not
    have shown (`statistics/failures.py`): verdicts rest on them. So many `runs_to_tell` would tell, if what was
    measured is the truth; `beyond` is how far the interval is beyond the bound, in logarithms or usual runs.
    """

    problem: str
    policy: str
    measure: str
    value: float
    ci_low: float
    ci_high: float
    bound: float
    p_holds: float
    p_fails: float
    p_holds_unseen: float
    p_fails_unseen: float
    runs: int
    runs_to_tell: int | None = None
    beyond: float = 0.0
    level: float = LEVEL

    @property
    def verdict(self) -> str:
        """Return what this quantity alone says, corrected for nothing."""
        surely = verdict_of(self.p_holds_unseen <= self.level, self.p_fails_unseen <= self.level)
        return strongest(surely, verdict_of(self.p_holds <= self.level, self.p_fails <= self.level))

    def __str__(self) -> str:
        """Return the measurement in words."""
        on = f" ({self.problem})" if self.problem else ""
        interval = f"[{self.ci_low:.3g}, {self.ci_high:.3g}]"
        return f"{self.measure}{on} is {self.value:.3g} {interval}, bound {self.bound:.3g}"

    def describe(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        plain = {key: value for key, value in asdict(self).items() if key not in ("level", "beyond")}
        ends = {key: plain[key] if math.isfinite(plain[key]) else None for key in ("ci_low", "ci_high")}
        return {**plain, **ends, "verdict": self.verdict}


def verdict_of(holds: bool, fails: bool) -> str:
    """Return the verdict of two tests."""
    return FAILS if fails else HOLDS if holds else UNDECIDED


def strongest(surely: str, seemingly: str) -> str:
    """Return a verdict that failures nobody has seen cannot undo, or what it looks like without them."""
    return surely if surely != UNDECIDED else LOOKS.get(seemingly, UNDECIDED)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, judged for one length of the warm-up, or whatever its length.

    It holds if all findings do, each at the level, and fails if any does, at a level corrected for their number;
    `uncorrected` is what they say one by one. `reading` names what stands for what where the sources can be read in
    another way than the figure shows.
    """

    id: str
    claim: str
    warm_up: float | None
    verdict: str
    uncorrected: str
    evidence: str
    details: tuple[Finding, ...] = ()
    reading: str = ""

    def describe(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {**asdict(self), "details": [finding.describe() for finding in self.details]}
