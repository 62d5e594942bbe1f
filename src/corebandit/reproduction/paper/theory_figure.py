"""What the paper proves, measured: the two lemmas on the pool, the reduction to CORe, growth of regret, pool forms.

Growth of regret is measured beyond the warm-up, whose length the theory sets apart (`growth.py`).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from corebandit.contracts.recipe import Problem
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.experiments.statistics import log_ratio
from corebandit.policies.arms.core import CORe
from corebandit.policies.linear.lincore import LinCORe
from corebandit.problems.random_arms import GaussianBandit
from corebandit.report.claim import Claim, Finding
from corebandit.reproduction.claims import Finals, Subject, below, exactly, judged, rarely, similar
from corebandit.reproduction.figure import Figure, Size
from corebandit.reproduction.paper import figure1, figure2
from corebandit.reproduction.paper.growth import (
    AGAINST_D,
    AGAINST_K,
    AGAINST_N,
    FACTORS,
    NAME,
    Growth,
    drawings,
    growing,
    growths,
)
from corebandit.reproduction.theory import failures_of, lemma_trials
from corebandit.reproduction.trials import OneHot

POOL = "theory-pool"
LEMMA_HORIZONS = (300, 1_000, 10_000)
LEMMA_TRIALS, LEAST_LEMMA_TRIALS = 600, 2_000  # for each run of the experiments; at least
TRIALS_TO_DECIDE = 6  # times n, for a failure rate of 1/n to be told from none
LEMMA_1, LEMMA_2, ONE_HOT = "theory-lemma-1", "theory-lemma-2", "theory-one-hot"
LEMMAS: dict[str, tuple[tuple[float, ...], float]] = {  # means of the arms, and the factor of the warm-up
    **{f"{LEMMA_1}-{series}": ((0.5,), factor) for factor, series in FACTORS.items()},
    LEMMA_2: ((0.0, 1.0), 4.0),
}
ONE_HOT_RUNS, ONE_HOT_ROUNDS = 20, 3_000
EXPONENTS = {AGAINST_N: ("rounds after the warm-up", 0.5), AGAINST_K: ("log K", 0.5), AGAINST_D: ("d", 1.5)}
POOL_PROBLEMS: dict[str, Problem] = {**figure1.CLASSES, **figure2.CLASSES}


# Experiments ------------------------------------------------------------------------------------------------------


def experiments(size: Size, searched: Result | None = None) -> list[Experiment]:
    """Return problems that grow in n, in d and in K, and CORe with both forms of the pool."""
    return [*growing(size), *_pools(size)]


def _pools(size: Size) -> Iterator[Experiment]:
    for title, problem in POOL_PROBLEMS.items():
        family = LinCORe if title in figure2.CLASSES else CORe
        policies = {
            f"{pool} pool, {name}": family(warm_up=factor, sampler="exact", pool=pool)
            for factor, name in FACTORS.items()
            for pool in ("mirrored", "plain")
        }
        yield size.experiment(problem, policies, name=POOL, title=title)


# Checks -----------------------------------------------------------------------------------------------------------


def checks(size: Size) -> list[Experiment]:
    """Return trials of the lemmas, for every n that so many can decide, and both CORes on one-hot features."""
    trials = max(LEMMA_TRIALS * size.runs, LEAST_LEMMA_TRIALS)
    lemmas = [
        lemma_trials(horizon, trials, factor=factor, means=means, seed=size.seed, name=name)
        for name, (means, factor) in LEMMAS.items()
        for horizon in LEMMA_HORIZONS
        if trials >= TRIALS_TO_DECIDE * horizon
    ]
    cores = {"CORe": CORe(sampler="exact"), "LinCORe": OneHot(LinCORe(sampler="exact", lam=1e-12))}
    rounds = range(1, ONE_HOT_ROUNDS + 1)
    more = {"horizon": ONE_HOT_ROUNDS, "runs": ONE_HOT_RUNS, "also_at": rounds}
    return [*lemmas, size.experiment(GaussianBandit(), cores, name=ONE_HOT, **more)]


# Claims -----------------------------------------------------------------------------------------------------------


def claims(result: Result) -> list[Claim]:
    """Judge T1 to T5, those that depend on it for both lengths of the warm-up."""
    measured, finals = growths(result), Finals(result, POOL)
    judgements = []
    for factor, series in FACTORS.items():
        judgements += [
            judged(
                "T1",
                "Lemma 1: after the warm-up the pool's variance is at least alpha^2 z sigma^2 / 2 in all rounds, with "
                "probability 1 - 1/n (Gaussian rewards, equal means).",
                factor,
                _lemma_findings(result, f"{LEMMA_1}-{series}", "variance"),
            ),
            judged(
                "T4",
                "Regret beyond the warm-up grows, as measured, like the square root or slower with the rounds after "
                "it, like sqrt(log K) or slower with the arms and like d^1.5 or slower with the features. (The theorem "
                "is for an alpha that grows with d and n, and for the worst case.)",
                factor,
                _growth_findings(measured, series),
            ),
            judged(
                "T5",
                "Centring and mirroring the pool perform similarly to the plain pool: the ratio of regrets is within "
                f"[0.95, 1.05] on all {len(POOL_PROBLEMS)} problems.",
                factor,
                [_pool_finding(finals, problem, series) for problem in finals.problems],
            ),
        ]
    judgements += [
        judged(
            "T2",
            "Lemma 2: no value in the pool is ever larger than alpha (4 sqrt(sigma^2 log n) + 1), with probability "
            "1 - 1/n (Gaussian rewards, means 0 and 1).",
            None,
            _lemma_findings(result, LEMMA_2, "ceiling"),
        ),
        judged(
            "T3",
            "LinCORe on one-hot features is CORe as lambda goes to 0: with exact samplers, the same choices from the "
            "same stream.",
            None,
            [_one_hot_finding(result)],
        ),
    ]
    return sorted(judgements, key=lambda claim: claim.id)


def _lemma_findings(result: Result, name: str, which: str) -> list[Finding]:
    """Judge a lemma by how often it fails in trials."""
    findings = []
    tried = [curve for curve in result.curves() if curve.figure == name]
    for horizon, curve in zip(LEMMA_HORIZONS, tried, strict=False):  # of the longest there may be none
        failures = failures_of(curve)
        findings.append(
            rarely(
                1.0 / horizon,
                getattr(failures, which),
                failures.runs,
                Subject(f"n = {horizon:,}, {failures.runs:,} runs", "", "share of runs in which it fails"),
            )
        )
    return findings


def _growth_findings(measured: Sequence[Growth], series: str) -> list[Finding]:
    """Judge how regret grows in the rounds after the warm-up, in log K and in d."""
    findings = []
    for growth in measured:
        if growth.series == series and (exponent := growth.exponent()) is not None:
            size, bound = EXPONENTS[growth.title]
            n_runs = 0 if growth.left_out else growth.fewest_runs  # with sizes left out nothing is decided
            findings.append(below(bound, exponent, n_runs, Subject("", series, f"exponent of regret in {size}")))
    return findings


def _pool_finding(finals: Finals, problem: str, series: str) -> Finding:
    mirrored, plain = (finals.regret[problem, f"{pool} pool, {series}"] for pool in ("mirrored", "plain"))
    return similar(log_ratio(plain, mirrored), plain.size, Subject(problem, series, "plain / mirrored"))


def _one_hot_finding(result: Result) -> Finding:
    """Count rounds in which CORe and LinCORe on one-hot features choose differently."""
    core, lincore = (curve for curve in result.curves() if curve.figure == ONE_HOT)
    gaps = np.diff(core.regret - lincore.regret, axis=1, prepend=0.0)
    n_different = int((np.abs(gaps) > 1e-9).sum())
    measure = f"rounds of {gaps.size:,} with different choices"
    return exactly(0.0, n_different, len(gaps), Subject(core.problem, lincore.policy, measure))


FIGURE = Figure(
    name=NAME,
    caption="The lemmas, the reduction to CORe, growth of regret in n, d and K, and the pool's forms, measured.",
    paper_size=Size(horizon=10_000, runs=100),
    quick_size=Size(horizon=10_000, runs=10),
    experiments=experiments,
    checks=checks,
    claims=claims,
    drawings=drawings,
)
