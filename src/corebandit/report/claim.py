"""A claim and how it fared: data that are judged elsewhere and shown here."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

ENOUGH_RUNS = 1_000  # from here on false verdicts are rare enough, as measured, at this level of each side
LEVEL = 0.0025
HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
LOOKS = {HOLDS: "looks as if it holds", FAILS: "looks as if it does not", UNDECIDED: "open"}  # too few runs to judge


@dataclass(frozen=True)
class Finding:
    """One measured quantity, the bound a claim says it keeps, and how surely it does.

    `p_holds` is small where the data say that it keeps the bound, `p_fails` where they say that it does not: p-values
    of one-sided tests. Of `enough` runs a verdict may be given, of fewer a first look; `runs_to_tell` would tell, if
    what was measured is the truth.
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
    runs: int
    enough: int
    runs_to_tell: int | None = None
    level: float = LEVEL

    @property
    def verdict(self) -> str:
        """Return what this quantity alone says, corrected for nothing."""
        verdict = HOLDS if self.p_holds <= self.level else FAILS if self.p_fails <= self.level else UNDECIDED
        return verdict if self.runs >= self.enough else LOOKS[verdict]

    def __str__(self) -> str:
        """Return the measurement in words."""
        on = f" ({self.problem})" if self.problem else ""
        interval = f"[{self.ci_low:.3g}, {self.ci_high:.3g}]"
        return f"{self.measure}{on} is {self.value:.3g} {interval}, bound {self.bound:.3g}"

    def describe(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        plain = {key: value for key, value in asdict(self).items() if key != "level"}
        ends = {key: plain[key] if math.isfinite(plain[key]) else None for key in ("ci_low", "ci_high")}
        return {**plain, **ends, "verdict": self.verdict}


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, judged for one length of the warm-up, or whatever its length.

    It holds if all findings do, at a level corrected for their number (Holm), and fails if any does; `uncorrected` is
    what they say one by one. `reading` names what stands for what where the sources can be read in another way than the
    figure shows.
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


def holm(chances: Sequence[float], level: float) -> list[bool]:
    """Tell which of several p-values are small enough, corrected for their number (Holm, 1979).

    >>> holm([0.01, 0.02, 0.03], 0.05), holm([0.02, 0.02, 0.03], 0.05)
    ([True, True, True], [False, False, False])
    """
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    small = [False] * len(chances)
    for rank, place in enumerate(order):
        if chances[place] > level / (len(chances) - rank):
            break
        small[place] = True
    return small
