"""A claim and how it fared: data that are judged elsewhere and shown here."""

from dataclasses import asdict, dataclass
from typing import Any

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided at this size"


@dataclass(frozen=True)
class Finding:
    """One measured quantity, and the bound a claim says it keeps."""

    problem: str
    policy: str
    measure: str
    value: float
    ci_low: float
    ci_high: float
    bound: float
    verdict: str
    excess: float  # how far the worse end of the interval lies beyond the bound

    def __str__(self) -> str:
        """Return the measurement in words."""
        on = f" ({self.problem})" if self.problem else ""
        interval = f"[{self.ci_low:.3g}, {self.ci_high:.3g}]"
        return f"{self.measure}{on} is {self.value:.3g} {interval}, bound {self.bound:.3g}"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, judged for one length of the warm-up, or whatever its length."""

    id: str
    claim: str
    warm_up: float | None
    verdict: str
    evidence: str
    details: tuple[Finding, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return asdict(self)
