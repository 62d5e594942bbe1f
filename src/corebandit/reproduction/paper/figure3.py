"""Figure 3: one setting of LinCORe on an easy and on a hard problem (section 5.3 of the paper).

Gaussian linear bandits, K = 50, d = 10, n = 10,000, with noise sigma = 0.2 (easy) and 1 (hard). Each rival is there
twice, with the parameter that suits the one and that suits the other. LinPHE's pseudo-rewards have the standard
deviation 0.5, the only one in the paper's text, or the problem's own, as in its authors' code; claims are judged for
both. The heat map shows LinCORe's regret on the hard problem over alpha and z.
"""

from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from corebandit.contracts.recipe import AnyPolicy
from corebandit.contracts.state import FloatArray
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.experiments.sweep import sweep
from corebandit.policies.linear.linphe import LinPHE
from corebandit.policies.linear.lints import LinTS
from corebandit.problems.linear import LinearBandit
from corebandit.report.claim import Claim, Finding
from corebandit.reproduction.claims import Finals, Subject, Unseen, below, judged, ratio_above, ratio_below
from corebandit.reproduction.figure import LINCORE, Figure, Size, lincores
from corebandit.reproduction.readings import Reading, Said, judge_readings
from corebandit.statistics.estimates import Largest, largest_log_ratio, log_ratio, mean_estimate
from corebandit.statistics.failures import usual_cost

NAME, MAP = "figure3", "heat map"
MANY = 1_000  # runs, of which a map is not played with fewer
EASY, HARD = LinearBandit(rewards="gaussian", sigma=0.2), LinearBandit(rewards="gaussian", sigma=1.0)
CLASSES = {"Easy problem: noise 0.2": EASY, "Hard problem: noise 1": HARD}
FOR_EASY: dict[str, AnyPolicy] = {
    "LinTS for easy": LinTS(sigma=0.2),
    "LinPHE for easy": LinPHE(a=0.2, pseudo="gaussian"),
}
FOR_HARD: dict[str, AnyPolicy] = {
    "LinTS for hard": LinTS(sigma=1.0),
    "LinPHE for hard": LinPHE(a=1.0, pseudo="gaussian"),
}
OWN_NOISE = {label: f"{label} (problem's noise)" for label in ("LinPHE for easy", "LinPHE for hard")}
READINGS = (Reading("LinPHE with the problem's noise", OWN_NOISE),)

ALPHAS = [0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4]
ZS = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
GOOD = list(product([0.4, 0.6, 0.8], [0.5, 0.6, 0.7]))
BAD = {"under-explores": (0.2, 0.2), "over-explores": (1.4, 0.8)}


def _policies(problem: LinearBandit, size: Size) -> dict[str, AnyPolicy]:
    rivals = {**FOR_EASY, **FOR_HARD}
    own_noise = {other: rivals[label].changed(sigma=problem.sigma) for label, other in OWN_NOISE.items()}
    return {**lincores(size), **rivals, **own_noise}


def experiments(size: Size, searched: Result | None = None) -> list[Experiment]:
    """Return the easy and the hard problem, and the heat map for both lengths of the warm-up."""
    fixed = [
        size.experiment(problem, _policies(problem, size), name=NAME, title=title) for title, problem in CLASSES.items()
    ]
    maps = [
        sweep(
            HARD,
            lincore,
            {"alpha": ALPHAS, "z": ZS},
            series=label,
            horizon=size.horizon,
            runs=size.runs if size.runs >= MANY else size.study_runs,  # in a large run as many as elsewhere
            seed=size.seed,
            name=NAME,
            part=MAP,
            title="Hard problem",
        )
        for label, lincore in lincores(size).items()
    ]
    return fixed + maps


def claims(result: Result) -> list[Claim]:
    """Judge what the paper says of this figure, for both lengths of the warm-up and under every reading."""
    of_map = [judge(result, *each) for judge in (_judge_map, _judge_early) for each in LINCORE.items()]
    return judge_rivals(result) + of_map


def judge_rivals(result: Result) -> list[Claim]:
    """Judge what the paper says of LinCORe and its rivals, which is all but the map."""
    return judge_readings(result, NAME, _said(result), LINCORE, READINGS)


def _said(result: Result) -> tuple[Said, ...]:
    halves = {
        (curve.problem, curve.policy): curve.regret[:, curve.rounds.searchsorted(curve.rounds[-1] / 2)]
        for curve in result.curves(NAME, part="")
    }

    def under(finals: Finals, lincore: str) -> list[Finding]:
        _, hard = finals.problems
        findings = []
        for rival in FOR_EASY:
            player = finals.player(hard, rival)
            last, half = finals.regret[hard, player], halves[hard, player]
            subject = Subject(hard, player, f"{player}: regret at the end / at half time")
            unseen = Unseen.in_log_ratio(last, [half], finals.usual[hard])
            findings.append(ratio_above(1.7, log_ratio(last, half), last.size, subject, unseen))
            findings.append(finals.less(hard, lincore, rival))
        return findings

    everyone = (*FOR_EASY, *FOR_HARD)
    return (
        Said(
            "F3.a",
            "LinCORe does well on the easy and on the hard problem with one setting: at most 1.25 times the best "
            "rival in each.",
            everyone,
            lambda finals, lincore: [finals.comparable(each, lincore, everyone, 1.25) for each in finals.problems],
        ),
        Said(
            "F3.b",
            "A rival tuned for the easy problem under-explores on the hard one: its regret is nearly linear, 1.7 "
            "times that at half time or more, and above LinCORe's.",
            tuple(FOR_EASY),
            under,
        ),
        Said(
            "F3.c",
            "A rival tuned for the hard problem over-explores on the easy one: its regret is above LinCORe's.",
            tuple(FOR_HARD),
            lambda finals, lincore: [finals.less(finals.problems[0], lincore, rival) for rival in FOR_HARD],
        ),
    )


def _judge_map(result: Result, factor: float, lincore: str) -> Claim:
    regret = Finals(result, NAME, MAP).regret
    rows = result.sweeps().filter(experiment=NAME, part=MAP, series=lincore).iter_rows(named=True)
    cells = {(row["x"], row["y"]): regret[row["problem"], row["policy"]] for row in rows}
    runs, usual = cells[GOOD[0]].size, usual_cost(cells.values())
    flat = ratio_below(
        1.5,
        largest_log_ratio([cells[cell] for cell in GOOD], list(cells.values())),
        runs,
        Subject(
            "", "LinCORe", f"worst of the region {_worst(cells, GOOD)} / best of the map {_worst(cells, cells, -1.0)}"
        ),
        Unseen.in_log_ratio(max((cells[cell] for cell in GOOD), key=np.mean), cells.values(), usual),
    )
    corners: list[Finding] = [
        below(
            0.0,
            Largest([mean_estimate(cells[cell] - cells[corner]) for cell in GOOD]),
            runs,
            Subject("", "LinCORe", f"worst of the region {_worst(cells, GOOD)} - {_spelled(corner)}, which {how}"),
            Unseen.in_difference(usual, runs),
        )
        for how, corner in BAD.items()
    ]
    return judged(
        "F3.d",
        "On the hard problem alpha in [0.4, 0.8] with z in [0.5, 0.7] is flat and good: its worst cell is within 1.5 "
        "times the best of the map; alpha = z = 0.2 under-explores and alpha = 1.4, z = 0.8 over-explores: both are "
        "worse than every cell of that region.",
        factor,
        [flat, *corners],
    )


def _judge_early(result: Result, factor: float, lincore: str) -> Claim:
    """Judge the first tenth of the rounds, where a long warm-up is most of what there is."""
    rows = result.sweeps().filter(experiment=NAME, part=MAP, series=lincore).iter_rows(named=True)
    curves = {(curve.problem, curve.policy): curve for curve in result.curves(NAME, MAP)}
    cells = {(row["x"], row["y"]): curves[row["problem"], row["policy"]] for row in rows}
    early = {cell: curve.regret[:, curve.rounds.searchsorted(curve.rounds[-1] / 10)] for cell, curve in cells.items()}
    usual, findings = usual_cost(early.values()), []
    for alpha in sorted({alpha for alpha, _ in GOOD}):
        low, high = early[alpha, ZS[0]], early[alpha, ZS[-1]]
        subject = Subject("", "LinCORe", f"early, {_spelled((alpha, ZS[0]))} - {_spelled((alpha, ZS[-1]))}")
        findings.append(below(0.0, mean_estimate(low - high), low.size, subject, Unseen.in_difference(usual, low.size)))
    return judged(
        "F3.e",
        "A large z costs regret early: on the hard problem it is higher after a tenth of the rounds with z = 0.8 than "
        "with z = 0.2, for every alpha of that region.",
        factor,
        findings,
    )


def _worst(
    cells: Mapping[tuple[float, float], FloatArray], among: Iterable[tuple[float, float]], sign: float = 1.0
) -> str:
    """Name the cell of the highest regret, or of the lowest if the sign is negative."""
    return _spelled(max(among, key=lambda cell: sign * float(cells[cell].mean())))


def _spelled(cell: tuple[float, float]) -> str:
    return f"(alpha {cell[0]:g}, z {cell[1]:g})"


FIGURE = Figure(
    name=NAME,
    caption="One setting of LinCORe on an easy and on a hard problem, and over alpha and z on the hard one.",
    paper_size=Size(horizon=10_000, runs=100, search_runs=100),
    quick_size=Size(horizon=10_000, runs=20, search_runs=10),
    experiments=experiments,
    claims=claims,
    undrawn=tuple(OWN_NOISE.values()),
)
