"""The paper's lemmas, tried on rewards of arms taken in turns and on LinCORe's own histories: T1, T2, T6, T7, T8.

Beside each verdict stands the margin: how much more could be asked until the lemma would begin to fail.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from corebandit.experiments.curve import Curve
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.linear.lincore import LinCORe
from corebandit.report.claim import Claim, Finding
from corebandit.reproduction import own_histories as own
from corebandit.reproduction.claims import Subject, judged, often, rarely
from corebandit.reproduction.figure import Size
from corebandit.reproduction.paper.growth import FACTORS, NAME
from corebandit.reproduction.theory import failures_of, lemma_trials
from corebandit.reproduction.watched import AT_ONE, EDGES, N_LOOKS

UNSEEN: dict[str, Any] = {"name": NAME, "shown": False}  # no table shows these experiments

# Arms in turns.
HORIZONS = (300, 1_000, 10_000)
TRIALS, LEAST_TRIALS = 600, 2_000  # for each run of the experiments; at least
TRIALS_TO_DECIDE = 6  # times n, for a failure rate of 1/n to be told from none
LEMMA_1, LEMMA_2 = "lemma 1", "lemma 2"
LEMMAS: dict[str, tuple[tuple[float, ...], float]] = {  # means of the arms, and the factor of the warm-up
    **{f"{LEMMA_1}, {series}": ((0.5,), factor) for factor, series in FACTORS.items()},
    LEMMA_2: ((0.0, 1.0), 4.0),
}

# LinCORe's own histories.
OWN_HORIZONS = {150: 0.5, 1_000: 0.6}  # with z: the theorem's least, whose warm-up leaves some of 150, and the usual
OWN_RUNS, LEAST_OWN_RUNS, OWN_RUNS_TO_DECIDE = 8, 1_050, 7  # two lengths of the warm-up are judged at once
FRESH_DRAWS = 10  # of the noise, in each look
PRACTICE, THEOREM, COINS = "own histories", "theorem's alpha", "coin rewards"
FEW_RUNS = 60  # where many draws of each history count, not many histories
THEOREM_DRAWS, COIN_DRAWS = 600_000, 120_000  # at least: p3 is about 1e-5


# Experiments ------------------------------------------------------------------------------------------------------


def checks(size: Size) -> Iterator[Experiment]:
    """Yield trials of the lemmas, for every n that so many can decide."""
    trials = max(TRIALS * size.runs, LEAST_TRIALS)
    for part, (means, factor) in LEMMAS.items():
        for horizon in HORIZONS:
            if trials >= TRIALS_TO_DECIDE * horizon:
                yield lemma_trials(horizon, trials, factor=factor, means=means, seed=size.seed, **UNSEEN, part=part)
    runs = max(OWN_RUNS * size.runs, LEAST_OWN_RUNS)
    few = max(FEW_RUNS, size.runs)
    for horizon in OWN_HORIZONS:
        if runs < OWN_RUNS_TO_DECIDE * horizon:
            continue
        policies = {label(series, horizon): lincore(factor, horizon) for factor, series in FACTORS.items()}
        conservative = {name: own.with_theorem_alpha(policy, horizon) for name, policy in policies.items()}
        for part, played, n_runs, n_draws, rewards in (
            (PRACTICE, policies, runs, FRESH_DRAWS, "gaussian"),
            (THEOREM, conservative, few, _draws_a_look(THEOREM_DRAWS, few), "gaussian"),
            (COINS, policies, few, _draws_a_look(COIN_DRAWS, few), "bernoulli"),
        ):
            yield own.history_trials(played, horizon, n_runs, n_draws, rewards, seed=size.seed, **UNSEEN, part=part)


def lincore(factor: float, horizon: int) -> LinCORe:
    """Return the policy that is watched."""
    return LinCORe(z=OWN_HORIZONS[horizon], warm_up=factor, sampler="exact")


def label(series: str, horizon: int) -> str:
    """Return its label."""
    return f"LinCORe, {series}, n = {horizon:,}"


def _draws_a_look(draws: int, runs: int) -> int:
    return -(-draws // (runs * N_LOOKS))


def seen_of(result: Result, part: str, series: str | None = None) -> Iterator[tuple[int, str, Curve]]:
    """Yield n, the warm-up and what was seen, of all own histories of a kind, or of those with one warm-up."""
    found = {curve.policy: curve for curve in result.curves(NAME, part)}
    for horizon in OWN_HORIZONS:
        for each in FACTORS.values():
            if (series is None or each == series) and (curve := found.get(label(each, horizon))):
                yield horizon, each, curve


# Claims -----------------------------------------------------------------------------------------------------------


def claims(result: Result) -> list[Claim]:
    """Judge the lemmas; those on what comes after the warm-up for both of its lengths."""
    judgements = []
    for factor, series in FACTORS.items():
        judgements += [
            _with_margins(
                judged(
                    "T1",
                    "Lemma 1: after the warm-up the pool's variance is at least alpha^2 z sigma^2 / 2 in all rounds, "
                    "with probability 1 - 1/n (Gaussian rewards; arms of equal means in turns, and LinCORe's own "
                    "histories).",
                    factor,
                    [
                        *_in_turns(result, f"{LEMMA_1}, {series}", "variance", 1.0),
                        *_own_findings(result, "variance", 1.0, series),
                    ],
                ),
                _room_margins(result, "variance", 1.0, series),
            ),
            _optimism(result, factor, series),
        ]
    judgements += [
        _with_margins(
            judged(
                "T2",
                "Lemma 2: no value in the pool is ever larger than alpha (4 sqrt(sigma^2 log n) + 1), with probability "
                "1 - 2/n, which is what the proof gives (Gaussian rewards; arms of means 0 and 1 in turns, and "
                "LinCORe's own histories).",
                None,
                [*_in_turns(result, LEMMA_2, "ceiling", 2.0), *_own_findings(result, "size", 2.0)],
            ),
            _room_margins(result, "size", 2.0),
        ),
        _with_margins(
            judged(
                "T6",
                "Concentration of least squares: the estimate is never further than c1 from the truth, in the norm of "
                "G, with probability 1 - 1/n (Gaussian rewards, LinCORe's own histories).",
                None,
                _own_findings(result, "distance", 1.0),
            ),
            _room_margins(result, "distance", 1.0),
        ),
        _concentration(result),
    ]
    return judgements


def _in_turns(result: Result, part: str, which: str, per_horizon: float) -> list[Finding]:
    """Judge a lemma by how often it fails on arms in turns; it may in a share `per_horizon` / n of all runs."""
    findings = []
    for horizon, curve in zip(HORIZONS, result.curves(NAME, part), strict=False):  # of the longest there may be none
        failures = failures_of(curve)
        subject = Subject(
            f"n = {horizon:,}, {failures.runs:,} runs", "arms in turns", "share of runs in which it fails"
        )
        findings.append(rarely(per_horizon / horizon, getattr(failures, which), failures.runs, subject))
    return findings


def _own_findings(result: Result, bound: str, per_horizon: float, series: str | None = None) -> list[Finding]:
    """Judge a lemma by how often it fails on LinCORe's own histories."""
    return [
        rarely(
            per_horizon / horizon,
            own.n_broken(curve, bound),
            curve.finals.size,
            Subject(
                f"n = {horizon:,}, {curve.finals.size:,} runs", f"LinCORe, {each}", "share of runs in which it fails"
            ),
        )
        for horizon, each, curve in seen_of(result, PRACTICE, series)
    ]


def _room_margins(result: Result, bound: str, per_horizon: float, series: str | None = None) -> list[str]:
    return [
        f"{own.margin(curve, bound, per_horizon / horizon):.2f} ({each}, n = {horizon:,})"
        for horizon, each, curve in seen_of(result, PRACTICE, series)
    ]


def _with_margins(claim: Claim, margins: Sequence[str]) -> Claim:
    """Say beside the evidence how much tighter the bound could be."""
    said = "on LinCORe's own histories the bound could be tighter by a factor of "
    return _saying(claim, said + ", ".join(margins)) if margins else claim


def _saying(claim: Claim, *more: str) -> Claim:
    """Say more beside the evidence."""
    return replace(claim, evidence="; ".join([claim.evidence, *more]))


def _concentration(result: Result) -> Claim:
    findings, margins = [], []
    kinds = {PRACTICE: "Gaussian rewards", THEOREM: "Gaussian rewards, the theorem's alpha", COINS: "0/1 rewards"}
    for name, kind in kinds.items():
        seen = list(seen_of(result, name))
        margins += [f"{min(own.spread_margin(curve) for *_, curve in seen):.2f} ({kind})"] if seen else []
        for horizon, series, curve in seen:
            draws, beyond = own.n_draws(curve), own.counts(curve, "spread")
            on, who = f"{kind}, n = {horizon:,}, {draws:,} draws", f"LinCORe, {series}"
            findings += [
                rarely(
                    own.spread_bound(place),
                    beyond[place],
                    draws,
                    Subject(on, who, f"share of draws beyond {EDGES[place]:.3g} a |x|"),
                    own.clustering(curve, "spread", place),
                )
                for place in own.TRIED
            ]
    claim = judged(
        "T7",
        "Concentration of the perturbation: given the past, it moves an arm's estimate by c |x| or more with "
        "probability 2 exp(-c^2 / (2 a^2)) at most, |x| in the norm of G^-1 and a the largest value in the pool "
        "(LinCORe's own histories; with 0/1 rewards the bound has least room).",
        None,
        findings,
    )
    said = "the noise could be larger by a factor of "
    return _saying(claim, said + ", ".join(margins)) if margins else claim


def _optimism(result: Result, factor: float, series: str) -> Claim:
    findings, said = [], []
    for horizon, _, curve in seen_of(result, THEOREM, series):
        policy = own.with_theorem_alpha(lincore(factor, horizon), horizon)
        promised, draws, lifted = own.promised_optimism(policy, horizon), own.n_draws(curve), own.n_optimistic(curve)
        findings.append(
            often(
                promised,
                lifted,
                draws,
                Subject(
                    f"n = {horizon:,}, alpha = {policy.alpha:.3g}, {draws:,} draws",
                    f"LinCORe, {series}",
                    "share of draws that are optimistic",
                ),
                own.clustering(curve, "lift", AT_ONE),
            )
        )
        fewest = curve.measures["fewest"].min() / (draws / (curve.finals.size * N_LOOKS))
        said.append(
            f"that is {lifted / draws / promised:,.0f} times the bound, and in no past fewer than {fewest:.3g} of its "
            f"draws (n = {horizon:,})"
        )
    for horizon, _, curve in seen_of(result, PRACTICE, series):
        draws = own.n_draws(curve)
        said.append(
            f"with alpha = 0.6, as measured, {own.n_optimistic(curve) / draws:.3g} of the draws are, and "
            f"{curve.measures['hopeful'].sum() / draws:.3g} put the best arm above its true mean (n = {horizon:,})"
        )
    claim = judged(
        "T8",
        "Anti-concentration: given the past, the perturbation lifts the best arm's estimate by more than c1 |x| with "
        "probability p3 at least, for the theorem's alpha (Gaussian rewards, LinCORe's own histories after the "
        "warm-up).",
        factor,
        findings,
    )
    return _saying(claim, *said)
