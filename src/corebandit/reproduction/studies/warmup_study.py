"""How long CORe should warm up, which is where most of its regret comes from, and how strong its noise should be then.

A grid of warm-up factors and noise scales plays on arms (K = 10), linear bandits (K = 50, d = 10) and made-up search
queries (5 of 10 documents), for three horizons. Each cell is compared with the best rival on its problem, in hindsight:
the rivals are those of Figures 1, 2 and 4; where the noise is Gaussian, those that have a parameter for it are there
both as in the figures and told the noise; linear ones run at several strengths. The setting it found is the one with
the lowest geometric mean of these ratios over all problems and horizons; bad runs count with their regret. It is then
judged on problems of another seed. Until version 0.4 it was the recommended one; the study of exploration
(`exploration_study.py`) has found a better one since, without a warm-up.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.contracts.state import FloatArray
from corebandit.experiments.description import Point
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.arms.bernoulli_ts import BernoulliTS
from corebandit.policies.arms.core import CORe
from corebandit.policies.arms.gaussian_ts import GaussianTS
from corebandit.policies.arms.npts import NPTS
from corebandit.policies.arms.phe import PHE
from corebandit.policies.arms.ssmc import SSMC
from corebandit.policies.arms.ucb1 import UCB1
from corebandit.policies.arms.ucbv import UCBV
from corebandit.policies.linear.lincore import LinCORe
from corebandit.policies.linear.linphe import LinPHE
from corebandit.policies.linear.lints import LinTS
from corebandit.policies.linear.linucb import LinUCB
from corebandit.problems.linear import LinearBandit
from corebandit.problems.random_arms import BernoulliBandit, BetaBandit, GaussianBandit
from corebandit.ranking.policies.adapter import Ranked
from corebandit.ranking.policies.cascade_klucb import CascadeKLUCB
from corebandit.ranking.ranking_problems import YandexLike
from corebandit.report import tables
from corebandit.report.claim import Claim
from corebandit.report.ratios import ratio_maps
from corebandit.report.report import Drawing
from corebandit.reproduction.claims import Finals, judged
from corebandit.reproduction.figure import Figure, Size
from corebandit.statistics.failures import FAILED

NAME = "warmup"
GRID_SEED = 1_000_003  # added to the seed: a setting is judged on other problems than it was found on
FACTORS, ALPHAS = (0.25, 0.5, 1.0, 2.0, 4.0), (0.4, 0.6, 0.8, 1.0)
SIGMAS = (0.2, 0.5, 1.0)
FOUND = CORe(alpha=0.6, warm_up=0.5)  # by this study
GONE_BAD = 5.0  # times the setting's own median regret: what settings were chosen by; claims are judged by failed runs
FARTHEST_NPTS = 10_000  # rounds; a round of NP-TS costs as much as there are rewards, unless they have few values
RATIO = "regret / that of the best rival"

ARMS: dict[str, Problem] = {
    "Bernoulli": BernoulliBandit(),
    "Beta": BetaBandit(),
    **{f"Gaussian {sigma:g}": GaussianBandit(sigma=sigma) for sigma in SIGMAS},
}
LINEAR: dict[str, Problem] = {
    "Bernoulli, linear": LinearBandit(rewards="bernoulli"),
    "Beta, linear": LinearBandit(rewards="beta"),
    **{f"Gaussian {sigma:g}, linear": LinearBandit(rewards="gaussian", sigma=sigma) for sigma in SIGMAS},
}
QUERIES: dict[str, Problem] = {"Search queries": YandexLike(query=None)}
PROBLEMS = {**ARMS, **LINEAR, **QUERIES}


def core_on(problem: Problem, core: CORe) -> AnyPolicy:
    """Return CORe in the form that suits a problem."""
    if isinstance(problem, LinearBandit):
        return LinCORe(alpha=core.alpha, z=core.z, warm_up=core.warm_up, sampler=core.sampler)
    return Ranked(core) if isinstance(problem, YandexLike) else core


def rivals_on(problem: Problem, horizon: int) -> dict[str, AnyPolicy]:
    """Return the rivals on a problem: those of the figures that it comes from."""
    if isinstance(problem, YandexLike):
        return {"Ber-TS": Ranked(BernoulliTS()), "Ber-PHE": Ranked(PHE(a=0.5)), "CascadeKL-UCB": CascadeKLUCB()}
    if isinstance(problem, LinearBandit):
        pseudo = "gaussian" if problem.rewards == "gaussian" else "bernoulli"
        rivals: dict[str, AnyPolicy] = {
            **{f"LinTS {sigma:g}": LinTS(sigma=sigma) for sigma in (0.1, 0.2, 0.3, 0.5, 1.0)},
            **{f"LinPHE {a:g}": LinPHE(a=a, pseudo=pseudo) for a in (0.2, 0.5, 1.0)},
            "LinUCB": LinUCB(scaling="authors"),
        }
    else:
        is_gaussian = isinstance(problem, GaussianBandit)
        rivals = {
            "TS": GaussianTS() if is_gaussian else BernoulliTS(),
            "PHE": PHE(a=0.5, pseudo="gaussian") if is_gaussian else PHE(a=1.1),
            "NP-TS": NPTS(any_reward=is_gaussian),
            "UCB-V": UCBV(any_reward=is_gaussian),
            "SSMC": SSMC(window="last"),
            "UCB1": UCB1(),
        }
        if horizon > FARTHEST_NPTS and not isinstance(problem, BernoulliBandit):
            del rivals["NP-TS"]
    return rivals | _told(rivals, problem)


def _told(rivals: dict[str, AnyPolicy], problem: Problem) -> dict[str, AnyPolicy]:
    """Return the rivals that can be told the noise, told it, where it is Gaussian and not what they assume anyway."""
    is_gaussian = isinstance(problem, GaussianBandit) or getattr(problem, "rewards", "") == "gaussian"
    if not is_gaussian or (sigma := getattr(problem, "sigma", 0.5)) == 0.5:
        return {}
    told = {
        f"{label}, told": policy.changed(sigma=sigma)
        for label, policy in rivals.items()
        if hasattr(policy, "sigma") and not isinstance(policy, LinTS)  # which is there at all these levels
    }
    return dict(told)


# The grid ---------------------------------------------------------------------------------------------------------


def grid_part(horizon: int) -> str:
    """Return which part of the study the grid for a horizon is."""
    return f"{horizon:,} rounds"


def horizons(size: Size) -> dict[int, int]:
    """Return the runs of each horizon: fewer of the longest, which is left out where too few would remain."""
    runs = {size.horizon // 10: 2 * size.search_runs, size.horizon: size.search_runs}
    few = round(0.3 * size.search_runs)
    return runs | ({10 * size.horizon: few} if few >= tables.FEWEST_RUNS else {})


def grid(size: Size) -> list[Experiment]:
    """Return the grid of settings, and the rivals, on every problem for every horizon."""
    found = []
    for horizon, runs in horizons(size).items():
        for title, problem in PROBLEMS.items():
            settings: dict[str, AnyPolicy] = {}
            points = {}
            for factor, alpha in product(FACTORS, ALPHAS):
                label = f"warm-up {factor:g}, alpha {alpha:g}"
                settings[label] = core_on(problem, CORe(alpha=alpha, warm_up=factor, sampler=size.sampler))
                points[label] = Point("CORe", {"alpha": alpha, "warm_up": factor})
            found.append(
                Experiment(
                    problem,
                    {**settings, **rivals_on(problem, horizon)},
                    horizon=horizon,
                    runs=runs,
                    seed=size.seed + GRID_SEED,
                    name=NAME,
                    part=grid_part(horizon),
                    title=title,
                    points=points,
                )
            )
    return found


class Cell(NamedTuple):
    """One setting on one problem for one horizon."""

    horizon: int
    problem: str
    alpha: float
    warm_up: float
    ratio: float  # mean regret / that of the best rival
    gone_bad: float  # share of runs
    rival: str


def share_gone_bad(regret: FloatArray) -> float:
    """Return the share of runs whose regret is over 5 times the median of these very runs."""
    return float((regret > GONE_BAD * np.median(regret)).mean())


def cells(result: Result) -> Iterator[Cell]:
    """Yield what came out, setting by setting."""
    finals: dict[tuple[str, str], dict[str, FloatArray]] = {}
    for curve in result.curves(NAME):
        finals.setdefault((curve.part, curve.problem), {})[curve.policy] = curve.regret[:, -1]
    for experiment in result.experiments:
        if experiment["name"] != NAME or "points" not in experiment:
            continue
        regret, points = finals[experiment["part"], experiment["label"]], experiment["points"]
        means = {policy: float(values.mean()) for policy, values in regret.items() if policy not in points}
        rival = min(means, key=lambda policy: means[policy])
        for label, point in points.items():
            yield Cell(
                experiment["horizon"],
                experiment["title"],
                point["at"]["alpha"],
                point["at"]["warm_up"],
                float(regret[label].mean()) / means[rival],
                share_gone_bad(regret[label]),
                rival,
            )


def _frame(found: list[Cell]) -> pl.DataFrame:
    """Return cells as rows of `ratio_maps`, without a panel."""
    frame = pl.DataFrame(found)
    note = (
        pl.when(pl.col("gone_bad") > 0)
        .then(pl.format("{} %", (100 * pl.col("gone_bad")).round(1)))
        .otherwise(pl.lit(""))
    )
    return frame.with_columns(
        pl.lit("alpha").alias("x_name"),
        pl.col("alpha").alias("x"),
        pl.lit("warm-up factor").alias("y_name"),
        pl.col("warm_up").alias("y"),
        note.alias("note"),
        (pl.col("alpha").eq(FOUND.alpha) & pl.col("warm_up").eq(FOUND.warm_up)).alias("is marked"),
    )


def drawings(result: Result) -> list[Drawing]:
    """Return the ratios averaged over the problems, and those of every problem for every horizon."""
    found = list(cells(result))
    frame, best = _frame(found), best_setting(found)
    everywhere = frame.with_columns(pl.lit("all horizons").alias("panel"))
    by_horizon = frame.with_columns(
        pl.format("{} rounds", pl.col("horizon").map_elements(tables.count, pl.String)).alias("panel")
    )
    averages = (
        pl.concat([everywhere, by_horizon])
        .group_by("panel", "x_name", "x", "y_name", "y", "is marked", maintain_order=True)
        .agg(pl.col("ratio").log().mean().exp(), pl.col("ratio").max().alias("worst"))
        .with_columns(pl.format("≤ {}", pl.col("worst").round(2)).alias("note"))
    )
    longest = max(cell.horizon for cell in found)
    names = ", ".join(f"{cell.rival} on {cell.problem}" for cell in _firsts(found) if cell.horizon == longest)
    caption = (
        f"Geometric mean over {frame['problem'].n_unique()} problems of the mean regret divided by that of the best "
        "rival in hindsight, and below it the largest ratio. Below 1 is better than every rival. Outlined: the "
        f"setting it found; lowest in this run: warm-up {best[0]:g}, alpha {best[1]:g}. The best rivals for "
        f"{longest:,} rounds: {names}."
    )
    drawn = [Drawing(NAME, "Ratio to the best rival", caption, ratio_maps(averages, RATIO))]
    for horizon in dict.fromkeys(cell.horizon for cell in found):
        panels = frame.filter(horizon=horizon).with_columns(pl.col("problem").alias("panel"))
        caption = (
            f"Mean regret after {horizon:,} rounds divided by that of the best rival in hindsight; below it the share "
            f"of runs gone bad, whose regret is over {GONE_BAD:g} times the setting's own median, so that a long "
            "warm-up hides some. Outlined: the setting it found."
            + (" NP-TS is a rival on Bernoulli rewards only." if horizon > FARTHEST_NPTS else "")
        )
        title = f"Every problem, {horizon:,} rounds"
        drawn.append(Drawing(NAME, title, caption, ratio_maps(panels, RATIO), part=grid_part(horizon)))
    return drawn


def best_setting(found: list[Cell]) -> tuple[float, float]:
    """Return warm-up factor and alpha with the lowest geometric mean of ratios."""
    logs: dict[tuple[float, float], list[float]] = {}
    for cell in found:
        logs.setdefault((cell.warm_up, cell.alpha), []).append(float(np.log(cell.ratio)))
    return min(logs, key=lambda setting: float(np.mean(logs[setting])))


def _firsts(found: list[Cell]) -> list[Cell]:
    """Return one cell of every problem and horizon."""
    return list({(cell.horizon, cell.problem): cell for cell in found}.values())


# The setting it found, on other problems --------------------------------------------------------------------------

PAPER, CODE, SHORT = "CORe", "CORe (warm-up 2)", "CORe (warm-up 0.5)"
PARTS = {"": ARMS, "linear": LINEAR, "queries": QUERIES}  # each has rivals of its own


def experiments(size: Size, searched: Result | None) -> list[Experiment]:
    """Return the setting it found, the paper's and the rivals on every problem."""
    found = []
    for part, (title, problem) in ((part, item) for part, problems in PARTS.items() for item in problems.items()):
        settings = {PAPER: CORe(), CODE: CORe(warm_up=2.0), SHORT: FOUND}
        cores = {label: core_on(problem, core.changed(sampler=size.sampler)) for label, core in settings.items()}
        policies = {**cores, **rivals_on(problem, size.horizon)}
        found.append(size.experiment(problem, policies, name=NAME, part=part, title=title))
    return found


def claims(result: Result) -> list[Claim]:
    """Judge the setting it found."""
    finals = Finals(result, NAME, *PARTS)
    rivals = {
        problem: [policy for name, policy in finals.regret if name == problem and policy not in (PAPER, CODE, SHORT)]
        for problem in finals.problems
    }
    arms = [problem.label for problem in ARMS.values()]
    others = [problem for problem in finals.problems if problem not in arms]
    return [
        judged(
            "W1",
            "With the short warm-up CORe's regret is below that of every rival of Figure 1 on the five problems "
            "with arms, also of those that are told the noise.",
            None,
            [finals.least(problem, SHORT, rivals[problem]) for problem in arms],
        ),
        judged(
            "W2",
            "With the short warm-up LinCORe, and CORe on search queries, are at most 1.1 times the best rival in "
            "hindsight, whose parameter was picked on these very problems.",
            None,
            [finals.comparable(problem, SHORT, rivals[problem], 1.1) for problem in others],
        ),
        judged(
            "W3",
            "The short warm-up's regret is below the paper's setting's on every problem.",
            None,
            [finals.less(problem, SHORT, PAPER) for problem in finals.problems],
        ),
        judged(
            "W4",
            f"With the short warm-up at most 5 % of the runs fail: regret over {FAILED:g} times what a run usually "
            "costs, the median of the best policy.",
            None,
            [finals.rarely_fails(problem, SHORT, 0.05) for problem in finals.problems],
        ),
    ]


FIGURE = Figure(
    name=NAME,
    caption="CORe's warm-up and noise against the best rival, over problems and horizons; the setting it found.",
    paper_size=Size(horizon=10_000, runs=100, search_runs=100),
    quick_size=Size(horizon=10_000, runs=10, search_runs=5),
    search=grid,
    experiments=experiments,
    claims=claims,
    drawings=drawings,
)
