"""Worlds that change: CORe that forgets against rivals that do, and what caution costs where nothing changes.

`DriftingCORe` is told for how many decisions a world stays the same. How long it remembers then, and its noise (alpha,
extra), were chosen on worlds of their own (other laws, numbers of arms, paces, half the horizon), by a rule that was
fixed before: of the settings with at most 1.2 times the regret of plain CORe where nothing changes, take the one whose
worst ratio to the best rival, over all worlds that do change, is lowest. It is then judged on the worlds below. A rival
is the best of all its settings in hindsight, world by world; where a setting is not named it is the policy's default.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.contracts.state import FloatArray
from corebandit.experiments.description import Point
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.arms.bernoulli_ts import BernoulliTS
from corebandit.policies.arms.core import CORe
from corebandit.policies.arms.discounted_core import DiscountedCORe
from corebandit.policies.arms.drifting_core import MEMORY, DriftingCORe
from corebandit.policies.arms.restarting_core import RestartingCORe
from corebandit.policies.arms.window_core import WindowCORe
from corebandit.policies.linear.discounted_lincore import DiscountedLinCORe
from corebandit.policies.linear.drifting_lincore import DriftingLinCORe
from corebandit.policies.linear.lincore import LinCORe
from corebandit.policies.linear.restarting_lincore import RestartingLinCORe
from corebandit.policies.linear.window_lincore import WindowLinCORe
from corebandit.problems.changing import ChangedBest, ChangingBandit, QuietlyBetter
from corebandit.problems.changing_linear import ChangingLinearBandit
from corebandit.problems.linear import LinearBandit
from corebandit.problems.random_arms import BernoulliBandit, GaussianBandit
from corebandit.report.claim import Claim, Finding
from corebandit.report.ratios import ratio_maps
from corebandit.report.report import Drawing
from corebandit.reproduction.claims import Finals, Subject, below, judged
from corebandit.reproduction.figure import Figure, Size
from corebandit.reproduction.studies.drift_rivals import linear_rivals, rivals
from corebandit.statistics.estimates import mean_estimate

NAME, LINEAR_PART, SEARCH_PART = "drift", "linear", "search"
SEARCH_SEED = 1_000_003  # added to the seed
MEMORIES, ALPHAS, EXTRAS = (4.0, 6.0, 8.0, 12.0, 16.0), (0.3, 0.4, 0.5, 0.6), (1, 2, 4)
TOLD, UNTOLD, RESTARTING = "DriftingCORe", "DriftingCORe (told 10,000)", "RestartingCORe"
WINDOW, DISCOUNTED, CORE, FREE, TS = "WindowCORe", "DiscountedCORe", "CORe", "CORe (no warm-up)", "TS"
LIN_TOLD, LIN_RESTARTING, LIN_CORE = "DriftingLinCORe", "RestartingLinCORe", "LinCORe"
STEADY, STEADY_LINEAR = "Nothing changes", "Nothing changes, linear"
BEST_CHANGES, QUIET = "The best arm changes", "One arm quietly improves"
BY_HAND = 244.0  # what a hand-made window of 4,000 rounds lost after the best arm had changed

Worlds = dict[str, tuple[Problem, int]]  # by title: the world, and for how many rounds it stays the same


def worlds(size: Size) -> Worlds:
    """Return the worlds that are reported."""
    n = size.horizon
    return {
        "Abrupt changes": (ChangingBandit("abrupt", n // 8), n // 8),
        "Smooth drift": (ChangingBandit("smooth", n // 4), n // 4),
        "Seasons": (ChangingBandit("season", n // 4), n // 4),
        "Some arm improves": (ChangingBandit("improves", n // 2), n // 2),
        "Arms die": (ChangingBandit("deaths", n // 10), n // 10),
        BEST_CHANGES: (ChangedBest(lasts=n // 2), n // 2),
        QUIET: (QuietlyBetter(lasts=n // 2), n // 2),
        STEADY: (BernoulliBandit(), n),
    }


def search_worlds(size: Size) -> Worlds:
    """Return the worlds on which DriftingCORe's setting was chosen, for half the horizon."""
    n = size.horizon // 2
    return {
        "Abrupt changes, beta": (ChangingBandit("abrupt", n // 8, 5, rewards="beta"), n // 8),
        "Abrupt changes, 20 arms": (ChangingBandit("abrupt", n // 4, 20, rewards="gaussian"), n // 4),
        "Smooth drift, Gaussian": (ChangingBandit("smooth", n // 4, 5, rewards="gaussian"), n // 4),
        "Seasons, beta": (ChangingBandit("season", n // 5, 5, rewards="beta"), n // 5),
        "Some arm improves, Gaussian": (ChangingBandit("improves", n // 2, 5, gap=0.15, rewards="gaussian"), n // 2),
        "Five arms die": (ChangingBandit("deaths", n // 5, 5), n // 5),
        "Nothing changes, Gaussian": (GaussianBandit(n_arms=5), n),
    }


def linear_worlds(size: Size) -> Worlds:
    """Return the worlds with features, for half the horizon."""
    n = size.horizon // 2
    return {
        "Abrupt changes, linear": (ChangingLinearBandit("abrupt", n // 4), n // 4),
        "Smooth drift, linear": (ChangingLinearBandit("smooth", n // 2), n // 2),
        "Theta changes once": (ChangingLinearBandit("once", n // 2), n // 2),
        STEADY_LINEAR: (LinearBandit(), n),
    }


# Choosing the setting ---------------------------------------------------------------------------------------------


def search(size: Size) -> list[Experiment]:
    """Return a grid of settings, and the rivals, on worlds of their own."""
    found = []
    for title, (problem, lasts) in search_worlds(size).items():
        settings, points = dict[str, AnyPolicy](), dict[str, Point]()
        for memory, alpha, extra in product(MEMORIES, ALPHAS, EXTRAS):
            label = f"memory {memory:g}, alpha {alpha:g}, extra {extra}"
            told = max(1, round(lasts * (memory / MEMORY) ** 2))  # memory goes with the root of what it is told
            settings[label] = DriftingCORe(told, alpha=alpha, extra=extra)
            points[label] = Point(f"extra {extra}", {"alpha": alpha, "memory": memory})
        found.append(
            size.experiment(
                problem,
                {**settings, CORE: CORe(sampler=size.sampler), **rivals(problem)},
                horizon=size.horizon // 2,
                runs=size.study_runs,
                seed=size.seed + SEARCH_SEED,
                name=NAME,
                part=SEARCH_PART,
                title=title,
                points=points,
            )
        )
    return found


class Cell(NamedTuple):
    """One setting on one world."""

    world: str
    alpha: float
    memory: float
    extra: int
    ratio: float  # mean regret / that of the best rival, or of plain CORe where nothing changes


def cells(result: Result) -> Iterator[Cell]:
    """Yield what came out of the search, setting by setting."""
    regret: dict[str, dict[str, float]] = {}
    for curve in result.curves(NAME, SEARCH_PART):
        regret.setdefault(curve.problem, {})[curve.policy] = float(curve.finals.mean())
    for experiment in result.experiments:
        if (experiment["name"], experiment.get("part")) != (NAME, SEARCH_PART):
            continue
        means, points = regret[experiment["label"]], experiment["points"]
        others = [value for policy, value in means.items() if policy not in points and policy != CORE]
        base = means[CORE] if experiment["title"].startswith(STEADY) else min(others)
        for label, point in points.items():
            at, extra = point["at"], int(label.rpartition(" ")[2])
            yield Cell(experiment["title"], at["alpha"], at["memory"], extra, means[label] / base)


def chosen(found: list[Cell]) -> tuple[float, float, int]:
    """Return alpha, memory and extra by the rule: the lowest worst ratio of those that cost little if all is steady."""
    worst: dict[tuple[float, float, int], float] = {}
    for cell in found:
        setting = (cell.alpha, cell.memory, cell.extra)
        ratio = (0.0 if cell.ratio <= 1.2 else np.inf) if cell.world.startswith(STEADY) else cell.ratio
        worst[setting] = max(worst.get(setting, 0.0), ratio)
    return min(worst, key=lambda setting: worst[setting])


def drawings(result: Result) -> list[Drawing]:
    """Return the ratios of the search, world by world."""
    found = list(cells(result))
    alpha, memory, extra = chosen(found)
    own = DriftingCORe()
    frame = pl.DataFrame([cell for cell in found if cell.extra == own.extra]).select(
        pl.col("world").alias("panel"),
        pl.lit("alpha").alias("x_name"),
        pl.col("alpha").alias("x"),
        pl.lit("memory").alias("y_name"),
        pl.col("memory").alias("y"),
        "ratio",
        pl.lit("").alias("note"),
        (pl.col("alpha").eq(own.alpha) & pl.col("memory").eq(MEMORY)).alias("is marked"),
    )
    caption = (
        "Mean regret of DriftingCORe divided by that of the best rival in hindsight, or of plain CORe where nothing "
        "changes, on the worlds on which its setting was chosen; memory is in units of sqrt(lasts x arms). Shown are "
        f"settings with {own.extra} extra draws; outlined: its own; by the rule, in this run: alpha {alpha:g}, memory "
        f"{memory:g}, extra {extra}."
    )
    return [Drawing(NAME, "How long to remember", caption, ratio_maps(frame, "regret / best rival's"))]


# The chosen setting, on other worlds ------------------------------------------------------------------------------


def experiments(size: Size, searched: Result | None) -> list[Experiment]:
    """Return all policies on the worlds that are reported."""
    found = []
    for title, (problem, lasts) in worlds(size).items():
        policies: dict[str, AnyPolicy] = {
            TOLD: DriftingCORe(lasts),
            UNTOLD: DriftingCORe(),
            RESTARTING: RestartingCORe(),
            WINDOW: WindowCORe(sampler=size.sampler),
            DISCOUNTED: DiscountedCORe(),
            CORE: CORe(sampler=size.sampler),
            FREE: CORe(warm_up=0.0, extra=4, sampler=size.sampler),
            TS: BernoulliTS(),
            **rivals(problem),
        }
        found.append(size.experiment(problem, policies, name=NAME, title=title))
    half = {"horizon": size.horizon // 2, "runs": max(1, size.runs // 2), "name": NAME, "part": LINEAR_PART}
    for title, (problem, lasts) in linear_worlds(size).items():
        linear: dict[str, AnyPolicy] = {
            LIN_TOLD: DriftingLinCORe(lasts),
            LIN_RESTARTING: RestartingLinCORe(),
            "WindowLinCORe": WindowLinCORe(),
            "DiscountedLinCORe": DiscountedLinCORe(),
            LIN_CORE: LinCORe(sampler=size.sampler),
            "LinCORe (no warm-up)": LinCORe(warm_up=0.0, extra=4, sampler=size.sampler),
            **linear_rivals(),
        }
        found.append(size.experiment(problem, linear, title=title, **half))
    return found


DRAWN = ("SW-UCB 4,000, 0.05", "D-LinUCB 1,000, 0.05, 1")  # of the rivals; more lines would hide each other
OURS = (TOLD, UNTOLD, RESTARTING, WINDOW, DISCOUNTED, CORE, FREE, TS)


def claims(result: Result) -> list[Claim]:
    """Judge the recommended policies."""
    arms, linear = Finals(result, NAME), Finals(result, NAME, LINEAR_PART)
    titles = titles_of(result)
    changing = [problem for problem in arms.problems if titles[problem] != STEADY]
    (steady,) = (problem for problem in arms.problems if titles[problem] == STEADY)
    changing_linear = [problem for problem in linear.problems if titles[problem] != STEADY_LINEAR]
    (steady_linear,) = (problem for problem in linear.problems if titles[problem] == STEADY_LINEAR)
    named = [problem for problem in arms.problems if titles[problem] in (BEST_CHANGES, QUIET)]
    after = _after(result)
    return [
        *(
            judged(
                f"D1.{letter}",
                f"{who} has at most 1.3 times the regret of the best rival, picked in hindsight, on each world that "
                f"changes{how}.",
                None,
                [arms.comparable(problem, who, rivals_in(arms, problem), 1.3) for problem in changing],
            )
            for letter, who, how in (
                ("a", TOLD, ", if told for how many decisions each stays the same"),
                ("b", UNTOLD, ""),
                ("c", RESTARTING, ", without any number"),
            )
        ),
        *(
            judged(
                f"D2.{letter}",
                f"Where nothing changes {who} has at most 1.2 times the regret of plain CORe{how}.",
                None,
                [arms.comparable(steady, who, [CORE], 1.2)],
            )
            for letter, who, how in (("a", TOLD, ", if told so"), ("b", UNTOLD, ""), ("c", RESTARTING, ""))
        ),
        judged(
            "D3",
            "In both named worlds DriftingCORe's regret after the change is below that of a window of 4,000 rounds, "
            f"and below {BY_HAND:g}.",
            None,
            [judge(arms, after, problem) for judge in (_less_after, _few_after) for problem in named],
        ),
        judged(
            "D4",
            "With features DriftingLinCORe has at most 1.3 times the regret of the best setting of D-LinUCB on each "
            "world that changes.",
            None,
            [linear.comparable(each, LIN_TOLD, linear_rivals_in(linear, each), 1.3) for each in changing_linear],
        ),
        judged(
            "D5",
            "Where nothing changes DriftingLinCORe has at most 1.2 times the regret of plain LinCORe, if told so.",
            None,
            [linear.comparable(steady_linear, LIN_TOLD, [LIN_CORE], 1.2)],
        ),
    ]


def titles_of(result: Result) -> dict[str, str]:
    """Return the title of each world that is reported, by its problem."""
    return {curve.problem: curve.title for curve in result.curves(NAME) if curve.part != SEARCH_PART}


def rivals_in(finals: Finals, problem: str) -> list[str]:
    """Return who meets our policies for arms on a problem."""
    return [policy for where, policy in finals.regret if where == problem and policy not in OURS]


def linear_rivals_in(finals: Finals, problem: str) -> list[str]:
    """Return who meets those for features."""
    return [policy for where, policy in finals.regret if where == problem and policy.startswith("D-LinUCB")]


def _after(result: Result) -> dict[tuple[str, str], FloatArray]:
    """Return the regret of the second half of each run; raise BadInput if it was not kept after half of the rounds."""
    after = {}
    for curve in result.curves(NAME, part=""):
        half = -(-curve.rounds[-1] // 2)
        if half not in curve.rounds:
            raise BadInput(f"D3 needs the regret of {curve.policy} after half of all rounds, {half:,}, too")
        after[curve.problem, curve.policy] = curve.finals - curve.regret[:, curve.rounds.searchsorted(half)]
    return after


def _less_after(finals: Finals, after: dict[tuple[str, str], FloatArray], problem: str) -> Finding:
    own, other = after[problem, TOLD], after[problem, WINDOW]
    subject = Subject(problem, TOLD, f"after the change, {TOLD} - {WINDOW}")
    return below(0.0, mean_estimate(own - other), own.size, subject, finals.unseen(problem, own.size))


def _few_after(finals: Finals, after: dict[tuple[str, str], FloatArray], problem: str) -> Finding:
    own = after[problem, TOLD]
    subject, unseen = Subject(problem, TOLD, "regret after the change"), finals.unseen(problem, own.size)
    return below(BY_HAND, mean_estimate(own), own.size, subject, unseen)


FIGURE = Figure(
    name=NAME,
    caption="Worlds that change: CORe that forgets, and rivals that do, at their best settings in hindsight.",
    paper_size=Size(horizon=40_000, runs=100, search_runs=50),  # half an hour on two cores has room for no more
    quick_size=Size(horizon=40_000, runs=10, search_runs=5),
    search=search,
    experiments=experiments,
    claims=claims,
    drawings=drawings,
    undrawn=(DISCOUNTED, FREE, *(each for each in rivals(BernoulliBandit()) | linear_rivals() if each not in DRAWN)),
)
