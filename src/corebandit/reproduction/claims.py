"""Judging a claim: by p-values of a studentised bootstrap over paired runs, corrected for the number of comparisons.

The rules were fixed before the numbers they judge. A claim holds if all its comparisons do, at a level corrected for
their number (Holm); it fails if any does, corrected likewise; else it is undecided. Of mean regrets there is no verdict
but a first look below the number of runs from which the measured rate of false verdicts on paired differences is at
most 5 % (`docs/coverage.md`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from corebandit.contracts.state import FloatArray
from corebandit.experiments.result import Result
from corebandit.experiments.statistics import (
    Estimate,
    Interval,
    Largest,
    exponential,
    frequency_interval,
    largest_log_ratio,
    mean_estimate,
)
from corebandit.report.claim import ENOUGH_RUNS, FAILS, HOLDS, LEVEL, LOOKS, UNDECIDED, Claim, Finding, holm

ENOUGH_QUERIES = 60  # as many as the paper has; averages over runs of a query have no heavy tail
POWER = (2.81 + 1.28) ** 2  # standard errors, squared, at which a comparison alone is told 9 times of 10
MOST_RUNS = 1e9  # more would tell nobody anything
SIMILAR = (0.95, 1.05)  # ratios between these are called similar
SIMILAR_LEVEL = 0.05  # of both one-sided tests, as is usual of equivalence


class Subject(NamedTuple):
    """What is compared."""

    problem: str
    policy: str
    measure: str


# One comparison ---------------------------------------------------------------------------------------------------


def below(
    bound: float, estimate: Estimate | Largest, n_runs: int, subject: Subject, enough: int = ENOUGH_RUNS
) -> Finding:
    """Judge whether a quantity is below `bound`; what is equal is not."""
    chances = estimate.chance_above(bound), estimate.chance_below(bound)
    return _finding(bound, estimate, estimate.interval(), chances, n_runs, subject, enough)


def ratio_below(
    bound: float, estimate: Estimate | Largest, n_runs: int, subject: Subject, enough: int = ENOUGH_RUNS
) -> Finding:
    """Judge whether a ratio, of which the logarithm was estimated, is below `bound`."""
    finding = below(math.log(bound), estimate, n_runs, subject, enough)
    return _as_ratio(finding, bound)


def ratio_above(bound: float, estimate: Estimate, n_runs: int, subject: Subject, enough: int = ENOUGH_RUNS) -> Finding:
    """Judge whether a ratio, of which the logarithm was estimated, is above `bound`; what is equal is not."""
    turned = Estimate(-estimate.value, estimate.error, -estimate.resampled, estimate.errors)
    finding = below(-math.log(bound), turned, n_runs, subject, enough)
    turned_back = replace(finding, value=-finding.value, ci_low=-finding.ci_high, ci_high=-finding.ci_low)
    return _as_ratio(turned_back, bound)


def similar(estimate: Estimate, n_runs: int, subject: Subject, enough: int = ENOUGH_RUNS) -> Finding:
    """Judge whether a ratio, of which the logarithm was estimated, is within 5 % of 1, by two one-sided tests."""
    low, high = (math.log(end) for end in SIMILAR)
    holds = max(estimate.chance_above(high), estimate.chance_below(low))
    fails = min(1.0, 2.0 * min(estimate.chance_below(high), estimate.chance_above(low)))
    # The 90 % interval lies within the margin exactly where both tests say so.
    interval = estimate.interval(1.0 - 2.0 * SIMILAR_LEVEL)
    nearer = max if estimate.value > 0.0 else min
    finding = _finding(nearer(low, high), estimate, interval, (holds, fails), n_runs, subject, enough)
    return replace(_as_ratio(finding, nearer(SIMILAR)), level=SIMILAR_LEVEL)


def rarely(bound: float, failures: int, trials: int, subject: Subject, clustering: float = 1.0) -> Finding:
    """Judge whether something happens in less than a share `bound` of all trials, by binomial tests.

    `clustering` is the design effect: how many trials are worth one that is independent of all others. That it happens
    too often is told by all of them: each has a chance of `bound` at most, given all before, if it does not.
    """
    from scipy.stats import beta, binom

    share, low, high = frequency_interval(failures, trials, clustering)
    holds = (
        float(beta.sf(bound, failures / clustering + 1.0, (trials - failures) / clustering))
        if failures < trials
        else 1.0
    )
    fails = float(binom.sf(failures - 1, trials, bound))
    return Finding(*subject, share, low, high, bound, holds, fails, trials, enough=1)


def often(bound: float, successes: int, trials: int, subject: Subject, clustering: float = 1.0) -> Finding:
    """Judge whether something happens in more than a share `bound` of all trials; see `rarely`."""
    finding = rarely(1.0 - bound, trials - successes, trials, subject, clustering)
    value, low, high = (1.0 - end for end in (finding.value, finding.ci_high, finding.ci_low))
    return replace(finding, value=value, ci_low=low, ci_high=high, bound=bound)


def exactly(bound: float, value: float, n_runs: int, subject: Subject) -> Finding:
    """Judge whether a number that is no estimate is `bound`."""
    is_other = float(value != bound)
    return Finding(*subject, value, value, value, bound, is_other, 1.0 - is_other, n_runs, enough=1)


def _finding(
    bound: float,
    estimate: Estimate | Largest,
    interval: Interval,
    chances: tuple[float, float],
    n_runs: int,
    subject: Subject,
    enough: int,
) -> Finding:
    gap = abs(estimate.value - bound)
    told = n_runs * POWER * (estimate.error / gap) ** 2 if gap > 0.0 and estimate.error < math.inf else math.inf
    runs_to_tell = max(enough, math.ceil(told)) if told < MOST_RUNS else None
    return Finding(*subject, *interval, bound, *chances, n_runs, enough, runs_to_tell)


def _as_ratio(finding: Finding, bound: float) -> Finding:
    value, low, high = exponential(Interval(finding.value, finding.ci_low, finding.ci_high))
    return replace(finding, value=value, ci_low=low, ci_high=high, bound=bound)


# All comparisons of a claim ---------------------------------------------------------------------------------------


def judged(claim_id: str, claim: str, warm_up: float | None, findings: Sequence[Finding], reading: str = "") -> Claim:
    """Put findings together: the claim holds if all do, and fails if any does, corrected for their number."""
    is_enough = all(finding.runs >= finding.enough for finding in findings)
    level = max((finding.level for finding in findings), default=LEVEL)
    hold, fail = (
        holm(chances, level) for chances in ([each.p_holds for each in findings], [each.p_fails for each in findings])
    )
    verdict = FAILS if any(fail) else HOLDS if findings and all(hold) else UNDECIDED  # of nothing, nothing is said
    plain = {finding.verdict for finding in (replace(each, enough=1) for each in findings)}
    uncorrected = FAILS if FAILS in plain else HOLDS if plain == {HOLDS} else UNDECIDED
    said = (verdict, uncorrected) if is_enough else (LOOKS[verdict], LOOKS[uncorrected])
    return Claim(claim_id, claim, warm_up, *said, _evidence(findings, verdict, is_enough), tuple(findings), reading)


def _evidence(findings: Sequence[Finding], verdict: str, is_enough: bool) -> str:
    """Say what decided."""
    if not findings:
        return "nothing was measured"
    decisive = (
        min(findings, key=lambda each: each.p_fails)
        if verdict == FAILS
        else max(findings, key=lambda each: each.p_holds)
    )
    n_holding = sum(finding.p_holds <= finding.level for finding in findings)
    said = [f"{n_holding} of {len(findings)} comparisons hold one by one; tightest: {decisive}"]
    if not is_enough:
        fewest = min(finding.runs for finding in findings)
        said.append(
            f"a first look: verdicts are given from {max(each.enough for each in findings):,} runs on, not {fewest:,}"
        )
    elif verdict == UNDECIDED and decisive.runs_to_tell and decisive.runs_to_tell > decisive.runs:
        said.append(f"about {decisive.runs_to_tell:,} runs would tell, by itself")
    return "; ".join(said)


class Finals:
    """The final regrets of an experiment, or of some of its parts, for comparisons on paired runs.

    `instead_of` is another reading of the sources: who takes whose part, wherever it was run.
    """

    def __init__(
        self, result: Result, experiment: str, *parts: str, instead_of: Mapping[str, str] | None = None
    ) -> None:
        self.regret: dict[tuple[str, str], FloatArray] = {
            (curve.problem, curve.policy): curve.finals
            for part in parts or ("",)
            for curve in result.curves(experiment, part)
        }
        self.instead_of = instead_of or {}

    @property
    def problems(self) -> list[str]:
        """Return the problems, in the order of the experiments."""
        return list(dict.fromkeys(problem for problem, _ in self.regret))

    def player(self, problem: str, policy: str) -> str:
        """Return who takes the part of a policy on a problem."""
        other = self.instead_of.get(policy, policy)
        return other if (problem, other) in self.regret else policy

    def less(self, problem: str, policy: str, rival: str) -> Finding:
        """Judge whether a policy's regret is below a rival's."""
        policy, rival = self.player(problem, policy), self.player(problem, rival)
        own, other = self.regret[problem, policy], self.regret[problem, rival]
        return below(0.0, mean_estimate(own - other), own.size, Subject(problem, policy, f"{policy} - {rival}"))

    def least(self, problem: str, policy: str, rivals: Sequence[str]) -> Finding:
        """Judge whether a policy's regret is below that of every rival, which is one comparison."""
        own = self.regret[problem, policy]
        gaps = {rival: own - self.regret[problem, rival] for rival in rivals}
        nearest = max(gaps, key=lambda rival: float(gaps[rival].mean()))
        subject = Subject(problem, policy, f"{policy} - {nearest}, the nearest of {len(rivals)}")
        return below(0.0, Largest([mean_estimate(gap) for gap in gaps.values()]), own.size, subject)

    def comparable(self, problem: str, policy: str, rivals: Sequence[str], factor: float) -> Finding:
        """Judge whether a policy's regret is below `factor` times that of every rival, so of the best."""
        best, ratio = self.beside_best(problem, policy, rivals)
        n_runs = self.regret[problem, policy].size
        return ratio_below(factor, ratio, n_runs, Subject(problem, policy, f"{policy} / {best}"))

    def beside_best(self, problem: str, policy: str, rivals: Sequence[str]) -> tuple[str, Largest]:
        """Return the best of these rivals, and the logarithm of a policy's regret divided by that of the best.

        Which one is best is asked in every resample anew, so that intervals know of that choice.
        """
        players = [self.player(problem, rival) for rival in rivals]
        others = {rival: self.regret[problem, rival] for rival in players}
        best = min(others, key=lambda rival: float(others[rival].mean()))
        return best, largest_log_ratio([self.regret[problem, policy]], list(others.values()))
