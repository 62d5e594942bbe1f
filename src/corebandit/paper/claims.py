"""Judging a claim: by the 95 % bootstrap interval of a paired difference or ratio, one of three verdicts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from corebandit.statistics import Interval

FEWEST_RUNS = 10
HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided at this size"


@dataclass(frozen=True)
class Finding:
    """One measured quantity that a claim says is below a bound."""

    problem: str
    policy: str
    measure: str
    value: float
    ci_low: float
    ci_high: float
    bound: float
    verdict: str


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, judged for one length of the warm-up."""

    id: str
    claim: str
    warm_up: float
    verdict: str
    evidence: str
    details: tuple[Finding, ...]

    def describe(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return asdict(self)


def below(bound: float, interval: Interval, n_runs: int, *, problem: str, policy: str, measure: str) -> Finding:
    """Judge whether a quantity is below `bound`."""
    value, low, high = interval
    is_enough = n_runs >= FEWEST_RUNS  # the bootstrap of a few runs is narrower than it should be
    verdict = HOLDS if is_enough and high <= bound else FAILS if is_enough and low > bound else UNDECIDED
    return Finding(problem, policy, measure, value, low, high, bound, verdict)


def judged(claim_id: str, claim: str, warm_up: float, findings: Sequence[Finding]) -> Claim:
    """Put findings together: the claim holds if all do, and fails if any does."""
    found = {finding.verdict for finding in findings}
    verdict = FAILS if FAILS in found else UNDECIDED if UNDECIDED in found else HOLDS
    n_holding = sum(finding.verdict == HOLDS for finding in findings)
    tightest = max(findings, key=lambda finding: (finding.verdict == FAILS, finding.ci_high - finding.bound))
    evidence = (
        f"{n_holding} of {len(findings)} comparisons hold; tightest: {tightest.measure} ({tightest.problem}) is "
        f"{tightest.value:.3g} [{tightest.ci_low:.3g}, {tightest.ci_high:.3g}], bound {tightest.bound:g}"
    )
    return Claim(claim_id, claim, warm_up, verdict, evidence, tuple(findings))
