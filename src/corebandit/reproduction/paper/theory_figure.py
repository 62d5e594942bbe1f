"""What the paper proves, measured: its lemmas (`lemmas.py`), the reduction to CORe, growth of regret, pool forms.

Growth of regret is measured beyond the warm-up, whose length the theory sets apart (`growth.py`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from corebandit.contracts.recipe import Problem
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.arms.core import CORe
from corebandit.policies.linear.lincore import LinCORe
from corebandit.problems.random_arms import GaussianBandit
from corebandit.report.claim import Claim, Finding
from corebandit.report.report import Drawing
from corebandit.reproduction.claims import Finals, Subject, Unseen, below, exactly, judged, similar
from corebandit.reproduction.figure import Figure, Size
from corebandit.reproduction.paper import figure1, figure2, growth, lemma_drawing, lemmas
from corebandit.reproduction.paper.growth import AGAINST_D, AGAINST_K, AGAINST_N, AXES, FACTORS, NAME, THEOREM
from corebandit.reproduction.trials import OneHot
from corebandit.statistics.estimates import log_ratio
from corebandit.statistics.failures import unseen_cost, usual_cost
from corebandit.statistics.growth import exponent_weights

POOL = "pool"
ONE_HOT = "one-hot"
ONE_HOT_RUNS, ONE_HOT_ROUNDS = 20, 3_000
EXPONENTS = {AGAINST_N: 0.5, AGAINST_K: 0.5, AGAINST_D: 1.5}  # of d the theorem's, if arms are without number
POOL_PROBLEMS: dict[str, Problem] = {**figure1.CLASSES, **figure2.CLASSES}


# Experiments ------------------------------------------------------------------------------------------------------


def experiments(size: Size, searched: Result | None = None) -> list[Experiment]:
    """Return problems that grow in n, in d and in K, CORe with both forms of the pool, and what is checked."""
    return [*growth.growing(size), *_pools(size), *checks(size)]


def _pools(size: Size) -> Iterator[Experiment]:
    for title, problem in POOL_PROBLEMS.items():
        family = LinCORe if title in figure2.CLASSES else CORe
        policies = {
            f"{pool} pool, {name}": family(warm_up=factor, sampler="exact", pool=pool)
            for factor, name in FACTORS.items()
            for pool in ("mirrored", "plain")
        }
        yield size.experiment(problem, policies, name=NAME, part=POOL, title=title)


# Checks -----------------------------------------------------------------------------------------------------------


def checks(size: Size) -> list[Experiment]:
    """Return trials of the lemmas, and both CORes on one-hot features: no table shows them."""
    cores = {"CORe": CORe(sampler="exact"), "LinCORe": OneHot(LinCORe(sampler="exact", lam=1e-12))}
    rounds = range(1, ONE_HOT_ROUNDS + 1)
    more = {"horizon": ONE_HOT_ROUNDS, "runs": ONE_HOT_RUNS, "also_at": rounds, "shown": False}
    return [*lemmas.checks(size), size.experiment(GaussianBandit(), cores, name=NAME, part=ONE_HOT, **more)]


# Claims -----------------------------------------------------------------------------------------------------------


def claims(result: Result) -> list[Claim]:
    """Judge T1 to T8, those that depend on it for both lengths of the warm-up."""
    measured, finals = growth.growths(result), Finals(result, NAME, POOL)
    judgements = lemmas.claims(result)
    for factor, series in FACTORS.items():
        judgements += [
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
            "T3",
            "LinCORe on one-hot features is CORe as lambda goes to 0: with exact samplers, the same choices from the "
            "same stream.",
            None,
            [_one_hot_finding(result)],
        ),
    ]
    return sorted(judgements, key=lambda claim: claim.id)


def _growth_findings(measured: Sequence[growth.Growth], series: str) -> list[Finding]:
    """Judge how regret grows in the rounds after the warm-up, in log K and in d."""
    findings = []
    for each in measured:
        if each.series == series and (exponent := each.exponent()) is not None:
            size, (theorem, _), bound = AXES[each.title], THEOREM[each.title], EXPONENTS[each.title]
            measure = f"exponent of regret in {size} as measured (the theorem's: {theorem:g})"
            finding = below(bound, exponent, each.fewest_runs, Subject("", series, measure), _unseen(each))
            if each.left_out:  # then nothing is decided
                finding = replace(finding, p_holds_unseen=1.0, p_fails_unseen=1.0)
            findings.append(finding)
    return findings


def _unseen(each: growth.Growth) -> Unseen:
    """Return how far an exponent may be off if failures do not show, at any of the sizes."""
    rises = [np.log1p(unseen_cost(usual_cost([regret]), regret.size) / regret.mean()) for regret in each.regret]
    shifts = exponent_weights(each.scale) * rises
    return Unseen(float(shifts[shifts > 0.0].sum()), float(-shifts[shifts < 0.0].sum()))


def _pool_finding(finals: Finals, problem: str, series: str) -> Finding:
    mirrored, plain = (finals.regret[problem, f"{pool} pool, {series}"] for pool in ("mirrored", "plain"))
    unseen = Unseen.in_log_ratio(plain, [mirrored], finals.usual[problem])
    return similar(log_ratio(plain, mirrored), plain.size, Subject(problem, series, "plain / mirrored"), unseen)


def _one_hot_finding(result: Result) -> Finding:
    """Count rounds in which CORe and LinCORe on one-hot features choose differently."""
    core, lincore = result.curves(NAME, ONE_HOT)
    gaps = np.diff(core.regret - lincore.regret, axis=1, prepend=0.0)
    n_different = int((np.abs(gaps) > 1e-9).sum())
    measure = f"rounds of {gaps.size:,} with different choices"
    return exactly(0.0, n_different, len(gaps), Subject(core.problem, lincore.policy, measure))


def drawings(result: Result) -> list[Drawing]:
    """Return how regret grows, and the room that the lemmas have."""
    return [*growth.drawings(result), *lemma_drawing.drawings(result)]


FIGURE = Figure(
    name=NAME,
    caption="The lemmas, the reduction to CORe, growth of regret in n, d and K, and the pool's forms, measured.",
    paper_size=Size(horizon=10_000, runs=100),
    quick_size=Size(horizon=10_000, runs=10),
    experiments=experiments,
    claims=claims,
    drawings=drawings,
)
