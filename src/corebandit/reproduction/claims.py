"""Judging a claim: by p-values of a studentised bootstrap over paired runs.

The rules were fixed before the numbers they judge. A claim holds if each of its comparisons does: that is an
intersection of statements, which is sure as soon as each of them is, so the level needs no correction for their number
(Berger, 1982). It fails if any does, at a level corrected for their number (Holm); else it is undecided.

The level is that of a 95 % interval, and a verdict must still stand if as many runs fail as these may not have shown
(`statistics/failures.py`). So how many runs one takes depends on how clear the numbers are: 100 for a regret far above
another, 3,000 for a tenth. What is clear but for such failures is said to look so. `docs/coverage.md` has how often
verdicts are false.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import counted
from corebandit.experiments.result import Result
from corebandit.report.claim import FAILS, HOLDS, LEVEL, LOOKS, UNDECIDED, VERBS, Claim, Finding, strongest, verdict_of
from corebandit.statistics.estimates import (
    Estimate,
    Interval,
    Largest,
    exponential,
    largest_log_ratio,
    mean_estimate,
)
from corebandit.statistics.failures import DEAREST, share_failed, share_unseen, unseen_cost, usual_cost
from corebandit.statistics.several import holm
from corebandit.statistics.shares import frequency_interval, share_chances

POWER = 1.96 + 1.28  # standard errors at which a comparison alone is told 9 times of 10
MOST_RUNS = 1e9  # more would tell nobody anything
SIMILAR = (0.95, 1.05)  # ratios between these are called similar
SIMILAR_LEVEL = 0.05  # of both one-sided tests, as is usual of equivalence


class Subject(NamedTuple):
    """What is compared."""

    problem: str
    policy: str
    measure: str


class Unseen(NamedTuple):
    """By how much a quantity may be higher, or lower, because of failures that the runs do not show.

    `unit` is what differences of regret are compared in, between problems: what a run usually costs.
    """

    higher: float = 0.0
    lower: float = 0.0
    unit: float = 1.0

    @classmethod
    def in_difference(cls, usual: float, n_runs: int) -> "Unseen":
        """Return this of the difference of two mean regrets; either policy may be the one that fails."""
        cost = unseen_cost(usual, n_runs)
        return cls(cost, cost, usual or 1.0)

    @classmethod
    def in_log_ratio(cls, above: FloatArray, below: Iterable[FloatArray], usual: float) -> "Unseen":
        """Return this of the logarithm of one mean regret divided by the lowest of others."""
        cost, least = unseen_cost(usual, above.size), min(float(regret.mean()) for regret in below)
        return cls(*(math.log1p(cost / mean) if mean > 0.0 else math.inf for mean in (float(above.mean()), least)))


NOTHING_UNSEEN = Unseen()


# One comparison ---------------------------------------------------------------------------------------------------


def below(
    bound: float, estimate: Estimate | Largest, n_runs: int, subject: Subject, unseen: Unseen = NOTHING_UNSEEN
) -> Finding:
    """Judge whether a quantity is below `bound`; what is equal is not."""
    seen = estimate.chance_above(bound), estimate.chance_below(bound)
    surely = estimate.chance_above(bound - unseen.higher), estimate.chance_below(bound + unseen.lower)
    return _finding(bound, estimate, estimate.interval(), (*seen, *surely), n_runs, subject, unseen)


def ratio_below(
    bound: float, estimate: Estimate | Largest, n_runs: int, subject: Subject, unseen: Unseen = NOTHING_UNSEEN
) -> Finding:
    """Judge whether a ratio, of which the logarithm was estimated, is below `bound`."""
    return _as_ratio(below(math.log(bound), estimate, n_runs, subject, unseen), bound)


def ratio_above(
    bound: float, estimate: Estimate, n_runs: int, subject: Subject, unseen: Unseen = NOTHING_UNSEEN
) -> Finding:
    """Judge whether a ratio, of which the logarithm was estimated, is above `bound`; what is equal is not."""
    turned = Estimate(-estimate.value, estimate.error, -estimate.resampled, estimate.errors)
    turned_unseen = Unseen(unseen.lower, unseen.higher, unseen.unit)
    finding = below(-math.log(bound), turned, n_runs, subject, turned_unseen)
    turned_back = replace(finding, value=-finding.value, ci_low=-finding.ci_high, ci_high=-finding.ci_low)
    return _as_ratio(turned_back, bound)


def similar(estimate: Estimate, n_runs: int, subject: Subject, unseen: Unseen = NOTHING_UNSEEN) -> Finding:
    """Judge whether a ratio, of which the logarithm was estimated, is within 5 % of 1, by two one-sided tests."""
    low, high = (math.log(end) for end in SIMILAR)

    def chances(higher: float, lower: float) -> tuple[float, float]:
        holds = max(estimate.chance_above(high - higher), estimate.chance_below(low + lower))
        return holds, min(1.0, 2.0 * min(estimate.chance_below(high + lower), estimate.chance_above(low - higher)))

    # The 90 % interval lies within the margin exactly where both tests say so.
    interval = estimate.interval(1.0 - 2.0 * SIMILAR_LEVEL)
    nearer = max if estimate.value > 0.0 else min
    both = (*chances(0.0, 0.0), *chances(unseen.higher, unseen.lower))
    finding = _finding(nearer(low, high), estimate, interval, both, n_runs, subject, unseen)
    return replace(_as_ratio(finding, nearer(SIMILAR)), level=SIMILAR_LEVEL)


def rarely(bound: float, failures: int, trials: int, subject: Subject, clustering: float = 1.0) -> Finding:
    """Judge whether something happens in less than a share `bound` of all trials, by binomial tests.

    `clustering` is the design effect: how many trials are worth one that is independent of all others.
    """
    share, low, high = frequency_interval(failures, trials, clustering)
    chances = share_chances(bound, failures, trials, clustering)
    return Finding(*subject, share, low, high, bound, *chances, *chances, trials, beyond=low - bound)


def often(bound: float, successes: int, trials: int, subject: Subject, clustering: float = 1.0) -> Finding:
    """Judge whether something happens in more than a share `bound` of all trials; see `rarely`."""
    finding = rarely(1.0 - bound, trials - successes, trials, subject, clustering)
    value, low, high = (1.0 - end for end in (finding.value, finding.ci_high, finding.ci_low))
    return replace(finding, value=value, ci_low=low, ci_high=high, bound=bound)


def exactly(bound: float, value: float, n_runs: int, subject: Subject) -> Finding:
    """Judge whether a number that is no estimate is `bound`."""
    chances = float(value != bound), float(value == bound)
    return Finding(*subject, value, value, value, bound, *chances, *chances, n_runs, beyond=abs(value - bound))


def _finding(
    bound: float,
    estimate: Estimate | Largest,
    interval: Interval,
    chances: tuple[float, float, float, float],
    n_runs: int,
    subject: Subject,
    unseen: Unseen,
) -> Finding:
    gap = abs(estimate.value - bound)
    cost = unseen.lower if estimate.value > bound else unseen.higher
    beyond = max(interval.low - bound, bound - interval.high) / unseen.unit
    return Finding(*subject, *interval, bound, *chances, n_runs, _told(gap, estimate.error, cost, n_runs), beyond)


def _told(gap: float, error: float, cost: float, n_runs: int) -> int | None:
    """Return how many runs would tell so large a gap, with errors like the root of 1 / runs and failures like 1 / runs.

    That is n_runs / x^2, where cost x^2 + POWER error x = gap.
    """
    errors = POWER * error
    if not gap > 0.0 or errors == math.inf:
        return None
    root = math.sqrt(errors**2 + 4.0 * cost * gap)
    told = n_runs * ((errors + root) / (2.0 * gap)) ** 2
    return math.ceil(told) if told < MOST_RUNS else None


def _as_ratio(finding: Finding, bound: float) -> Finding:
    value, low, high = exponential(Interval(finding.value, finding.ci_low, finding.ci_high))
    return replace(finding, value=value, ci_low=low, ci_high=high, bound=bound)


# All comparisons of a claim ---------------------------------------------------------------------------------------


def judged(claim_id: str, claim: str, warm_up: float | None, findings: Sequence[Finding], reading: str = "") -> Claim:
    """Put findings together: the claim holds if each does, and fails if any does, corrected for their number."""
    surely, fails_surely = _together(findings, [(each.p_holds_unseen, each.p_fails_unseen) for each in findings])
    seemingly, fails_seemingly = _together(findings, [(each.p_holds, each.p_fails) for each in findings])
    verdict = strongest(surely, seemingly)
    one_by_one = {finding.verdict for finding in findings}
    uncorrected = next(
        (said for said in (FAILS, LOOKS[FAILS], UNDECIDED, LOOKS[HOLDS], HOLDS) if said in one_by_one), UNDECIDED
    )
    evidence = _evidence(findings, verdict, fails_surely if surely == FAILS else fails_seemingly)
    return Claim(claim_id, claim, warm_up, verdict, uncorrected, evidence, tuple(findings), reading)


def _together(findings: Sequence[Finding], chances: Sequence[tuple[float, float]]) -> tuple[str, list[bool]]:
    """Return the verdict of all comparisons, of which nothing is said if there are none, and which of them fail."""
    level = max((finding.level for finding in findings), default=LEVEL)
    fails = holm([fail for _, fail in chances], level)
    holds = [hold <= finding.level for finding, (hold, _) in zip(findings, chances, strict=True)]
    return verdict_of(bool(holds) and all(holds), any(fails)), fails


def _evidence(findings: Sequence[Finding], verdict: str, fails: Sequence[bool]) -> str:
    """Say what decided: of failures the one that is surely farthest beyond its bound, else the nearest to failing."""
    if not findings:
        return "nothing was measured"
    failing = [finding for finding, is_failing in zip(findings, fails, strict=True) if is_failing]
    if verdict in (FAILS, LOOKS[FAILS]):
        decisive = max(failing, key=lambda each: each.beyond)
    elif verdict == UNDECIDED:
        decisive = max(findings, key=lambda each: each.p_holds)
    else:
        decisive = max(findings, key=lambda each: each.p_holds_unseen)
    numbers = Counter(finding.verdict for finding in findings)
    counts = (f"{numbers[what]} {verbs[numbers[what] > 1]}" for what, verbs in VERBS.items() if numbers[what])
    said = [f"of {counted(len(findings), 'comparison')} {', '.join(counts)}"]
    said.append(f"decisive: {decisive}")
    if verdict in LOOKS.values():
        said.append(
            f"{decisive.runs:,} runs cannot exclude that {100 * share_unseen(decisive.runs):.2g} % of all fail, at "
            f"{DEAREST:g} times the usual cost, which would undo it"
        )
    if verdict in (UNDECIDED, *LOOKS.values()) and decisive.runs_to_tell and decisive.runs_to_tell > decisive.runs:
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
        self.usual: dict[str, float] = {  # what a run usually costs on each problem
            problem: usual_cost(regret for (where, _), regret in self.regret.items() if where == problem)
            for problem in self.problems
        }

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
        subject, unseen = Subject(problem, policy, f"{policy} - {rival}"), self.unseen(problem, own.size)
        return below(0.0, mean_estimate(own - other), own.size, subject, unseen)

    def least(self, problem: str, policy: str, rivals: Sequence[str]) -> Finding:
        """Judge whether a policy's regret is below that of every rival, which is one comparison."""
        own = self.regret[problem, policy]
        gaps = {rival: own - self.regret[problem, rival] for rival in rivals}
        nearest = max(gaps, key=lambda rival: float(gaps[rival].mean()))
        subject = Subject(problem, policy, f"{policy} - {nearest}, the nearest of {len(rivals)}")
        all_gaps = Largest([mean_estimate(gap) for gap in gaps.values()])
        return below(0.0, all_gaps, own.size, subject, self.unseen(problem, own.size))

    def unseen(self, problem: str, n_runs: int) -> Unseen:
        """Return what the difference of two mean regrets on a problem may be off, by failures that do not show."""
        return Unseen.in_difference(self.usual[problem], n_runs)

    def comparable(self, problem: str, policy: str, rivals: Sequence[str], factor: float) -> Finding:
        """Judge whether a policy's regret is below `factor` times that of every rival, so of the best."""
        best, ratio = self.beside_best(problem, policy, rivals)
        own = self.regret[problem, policy]
        others = (self.regret[problem, self.player(problem, rival)] for rival in rivals)
        unseen = Unseen.in_log_ratio(own, others, self.usual[problem])
        return ratio_below(factor, ratio, own.size, Subject(problem, policy, f"{policy} / {best}"), unseen)

    def beside_best(self, problem: str, policy: str, rivals: Sequence[str]) -> tuple[str, Largest]:
        """Return the best of these rivals, and the logarithm of a policy's regret divided by that of the best.

        Which one is best is asked in every resample anew, so that intervals know of that choice.
        """
        players = [self.player(problem, rival) for rival in rivals]
        others = {rival: self.regret[problem, rival] for rival in players}
        best = min(others, key=lambda rival: float(others[rival].mean()))
        return best, largest_log_ratio([self.regret[problem, policy]], list(others.values()))

    def rarely_fails(self, problem: str, policy: str, bound: float) -> Finding:
        """Judge whether less than a share `bound` of a policy's runs fail, by the yardstick of all policies there."""
        regret = self.regret[problem, policy]
        n_failed = round(share_failed(regret, self.usual[problem]) * regret.size)
        return rarely(bound, n_failed, regret.size, Subject(problem, policy, "share of failed runs"))
