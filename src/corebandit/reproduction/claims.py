"""Judging a claim: by the 95 % bootstrap interval of a paired difference or ratio, one of three verdicts."""

from collections.abc import Sequence

from corebandit.contracts.state import FloatArray
from corebandit.experiments.result import Result
from corebandit.experiments.statistics import Interval, mean_interval, ratio_interval
from corebandit.report.claim import FAILS, HOLDS, UNDECIDED, Claim, Finding
from corebandit.report.tables import FEWEST_RUNS

FEWEST_RUNS_TO_COVER = 30  # a bootstrap interval of fewer is too narrow to be blamed for missing a value


def below(bound: float, interval: Interval, n_runs: int, *, problem: str, policy: str, measure: str) -> Finding:
    """Judge whether a quantity is at most `bound`."""
    value, low, high = interval
    is_enough = n_runs >= FEWEST_RUNS  # the bootstrap of a few runs is narrower than it should be
    verdict = HOLDS if is_enough and high <= bound else FAILS if is_enough and low > bound else UNDECIDED
    return Finding(problem, policy, measure, value, low, high, bound, verdict, high - bound)


def above(bound: float, interval: Interval, n_runs: int, *, problem: str, policy: str, measure: str) -> Finding:
    """Judge whether a quantity is at least `bound`."""
    value, low, high = interval
    is_enough = n_runs >= FEWEST_RUNS
    verdict = HOLDS if is_enough and low >= bound else FAILS if is_enough and high < bound else UNDECIDED
    return Finding(problem, policy, measure, value, low, high, bound, verdict, bound - low)


def covering(target: float, interval: Interval, n_runs: int, *, problem: str, policy: str, measure: str) -> Finding:
    """Judge whether an interval contains `target`."""
    value, low, high = interval
    verdict = UNDECIDED if n_runs < FEWEST_RUNS_TO_COVER else HOLDS if low <= target <= high else FAILS
    return Finding(problem, policy, measure, value, low, high, target, verdict, max(low - target, target - high))


def judged(claim_id: str, claim: str, warm_up: float | None, findings: Sequence[Finding]) -> Claim:
    """Put findings together: the claim holds if all do, and fails if any does."""
    found = {finding.verdict for finding in findings}
    verdict = FAILS if FAILS in found else UNDECIDED if UNDECIDED in found else HOLDS
    n_holding = sum(finding.verdict == HOLDS for finding in findings)
    tightest = max(findings, key=lambda finding: (finding.verdict == FAILS, finding.excess))
    evidence = f"{n_holding} of {len(findings)} comparisons hold; tightest: {tightest}"
    return Claim(claim_id, claim, warm_up, verdict, evidence, tuple(findings))


class Finals:
    """The final regrets of a figure, or of several, for comparisons on paired runs."""

    def __init__(self, result: Result, *figures: str) -> None:
        self.regret: dict[tuple[str, str], FloatArray] = {
            (curve.problem, curve.policy): curve.finals for curve in result.curves() if curve.figure in figures
        }

    @property
    def problems(self) -> list[str]:
        """Return the problems, in the order of the experiments."""
        return list(dict.fromkeys(problem for problem, _ in self.regret))

    def less(self, problem: str, policy: str, rival: str) -> Finding:
        """Judge whether a policy's regret is below a rival's."""
        own, other = self.regret[problem, policy], self.regret[problem, rival]
        measure = f"{policy} - {rival}"
        return below(0.0, mean_interval(own - other), own.size, problem=problem, policy=policy, measure=measure)

    def comparable(self, problem: str, policy: str, rivals: Sequence[str], factor: float) -> Finding:
        """Judge whether a policy's regret is at most `factor` times that of its best rival."""
        best = min(rivals, key=lambda rival: float(self.regret[problem, rival].mean()))
        own = self.regret[problem, policy]
        interval = ratio_interval(own, self.regret[problem, best])
        return below(factor, interval, own.size, problem=problem, policy=policy, measure=f"{policy} / {best}")
