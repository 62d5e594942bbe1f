"""How CORe explores best where it has no warm-up: noise scales and extra draws against the best rivals in hindsight.

Without a warm-up every arm is tried once, and each arm's noise has some draws more than the arm has rewards; it may
also grow with the log of how far an arm has fallen behind. A grid of noise scales, extra draws and growths plays on a
part of the problems, the rivals at all their settings on every problem; then one setting without a warm-up, the best
setting of each rival and CORe's older ones play on all problems anew.

The rule by which the setting is chosen, for arms and rankings on problems with arms, for LinCORe on linear ones, was
written down before the large run it was chosen in: over the problems that it is chosen on and all horizons, the lowest
geometric mean of regret divided by that of the best rival in hindsight, among the settings of which on average at most
3 % of the runs of the longest horizon go bad; if there are none, the one of which the fewest do.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from corebandit.contracts.recipe import AnyPolicy
from corebandit.contracts.state import FloatArray
from corebandit.experiments.description import Point
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.arms.core import CORe
from corebandit.report import tables
from corebandit.report.claim import Claim
from corebandit.report.ratios import ratio_maps
from corebandit.report.report import Drawing
from corebandit.reproduction.claims import Finals, judged
from corebandit.reproduction.figure import Figure, Size
from corebandit.reproduction.studies import bad_runs
from corebandit.reproduction.studies.exploration_cells import (
    KINDS,
    candidates,
    core_on,
    families_on,
    is_by_features,
)
from corebandit.reproduction.studies.warmup_study import GONE_BAD, share_gone_bad
from corebandit.statistics.estimates import exponential, largest_log_ratio, mean_estimate
from corebandit.statistics.failures import FAILED, share_failed, usual_cost

NAME = "exploration"
SEARCH_SEED = (
    1_000_003  # added to the seed: rivals are tuned, and the setting is chosen, on other runs than are reported
)
MOST_GONE_BAD = 0.03  # of the runs of the longest horizon, on average over problems
RATIO = "regret / that of the best rival"
NO_WARM_UP, SHORT, PAPER = "RecommendedCORe", "CORe (warm-up 0.5)", "CORe"
OWN = (NO_WARM_UP, SHORT, PAPER)
UNEQUAL = KINDS["Unequal noise"].problem.label
SETTING = CORe(alpha=0.4, warm_up=0.0, extra=1, growth=1.0)  # which the rule has chosen for arms and rankings
LINEAR_SETTING = CORe(alpha=0.8, warm_up=0.0, extra=4)  # and for LinCORe

Regrets = dict[tuple[str, str], dict[str, FloatArray]]  # final ones by policy, of a part of the study and a problem
Tuned = Mapping[str, Mapping[str, Mapping[str, str]]]  # of a grid and a problem, each rival's best setting


def horizons(size: Size, runs: int) -> dict[int, int]:
    """Return the runs of each horizon: fewer of the longest, which is left out where too few would remain."""
    found = {size.horizon // 10: runs, size.horizon: runs}
    few = round(0.3 * runs)
    return found | ({10 * size.horizon: few} if few >= tables.FEWEST_RUNS else {})


def part_of(horizon: int) -> str:
    """Return which part of the study the experiments for a horizon are."""
    return f"{horizon:,} rounds"


def grid_of(horizon: int) -> str:
    """Return which part the grids for a horizon are."""
    return f"grid, {horizon:,} rounds"


# Choosing ---------------------------------------------------------------------------------------------------------


def search(size: Size) -> list[Experiment]:
    """Return rivals at all their settings on every problem, and those of CORe on problems that one is chosen on."""
    found = []
    for horizon, runs in horizons(size, size.search_runs).items():
        for title, kind in KINDS.items():
            if horizon > size.horizon and not kind.is_long:
                continue
            policies: dict[str, AnyPolicy] = {}
            points = {}
            for label, core in candidates(is_by_features(kind.problem)).items() if kind.is_chosen_on else ():
                policies[label] = core_on(kind.problem, core.changed(sampler=size.sampler))
                points[label] = Point(f"growth {core.growth:g}", {"alpha": core.alpha, "extra": core.extra})
            for settings in families_on(kind.problem).values():
                policies |= settings
            found.append(
                Experiment(
                    kind.problem,
                    policies,
                    horizon=horizon,
                    runs=runs,
                    seed=size.seed + SEARCH_SEED,
                    name=NAME,
                    part=grid_of(horizon),
                    title=title,
                    points=points,
                )
            )
    return found


class Cell(NamedTuple):
    """One setting of CORe on one problem for one horizon."""

    horizon: int
    problem: str
    is_by_features: bool
    setting: str
    ratio: float  # mean regret / that of the best rival
    gone_bad: float  # share of runs
    runs: int


def cells(played: Sequence[Mapping[str, Any]], finals: Regrets) -> Iterator[Cell]:
    """Yield what came of the grid, setting by setting."""
    for experiment in played:
        if experiment["name"] != NAME or not experiment.get("points"):
            continue
        regret, points = finals[experiment["part"], experiment["label"]], experiment["points"]
        best = min(float(values.mean()) for policy, values in regret.items() if policy not in points)
        horizon, title = experiment["horizon"], experiment["title"]
        for setting in points:
            ratio, gone_bad = float(regret[setting].mean()) / best, share_gone_bad(regret[setting])
            by_features = is_by_features(KINDS[title].problem)
            yield Cell(horizon, title, by_features, setting, ratio, gone_bad, regret[setting].size)


def chosen_setting(found: Sequence[Cell], by_features: bool = False) -> str:
    """Return the setting that the rule chooses, for arms or for features."""
    means = overall(found, by_features)
    longest = max(cell.horizon for cell in found if cell.is_by_features == by_features)
    bad: dict[str, list[float]] = {}
    for cell in found:
        if (cell.is_by_features, cell.horizon) == (by_features, longest):
            bad.setdefault(cell.setting, []).append(cell.gone_bad)
    shares = {setting: float(np.mean(values)) for setting, values in bad.items()}
    safe = [setting for setting, share in shares.items() if share <= MOST_GONE_BAD]
    return min(safe, key=lambda setting: means[setting]) if safe else min(shares, key=lambda setting: shares[setting])


def overall(found: Sequence[Cell], by_features: bool) -> dict[str, float]:
    """Return the geometric mean of each setting's ratios over all problems and horizons."""
    logs: dict[str, list[float]] = {}
    for cell in found:
        if cell.is_by_features == by_features:
            logs.setdefault(cell.setting, []).append(float(np.log(cell.ratio)))
    return {setting: float(np.exp(np.mean(values))) for setting, values in logs.items()}


def compared_settings(found: Sequence[Cell], by_features: bool = False) -> list[dict[str, Any]]:
    """Return how settings compare, a row for each and each horizon, over the problems that one is chosen on."""
    rows, means = [], overall(found, by_features)
    cells_of: dict[tuple[int, str], list[Cell]] = {}
    for cell in found:
        if cell.is_by_features == by_features:
            cells_of.setdefault((cell.horizon, cell.setting), []).append(cell)
    for (horizon, setting), these in sorted(cells_of.items(), key=lambda item: item[0][0]):
        ratios, bad = [cell.ratio for cell in these], [cell.gone_bad for cell in these]
        rows.append(
            {
                **{"setting": setting, "horizon": horizon, "by features": by_features, "overall": means[setting]},
                "runs": sorted({cell.runs for cell in these}),
                **{"ratio": float(np.exp(np.mean(np.log(ratios)))), "worst": max(ratios)},
                "worst on": max(these, key=lambda cell: cell.ratio).problem,
                **{"gone bad": float(np.mean(bad)), "worst gone bad": max(bad)},
            }
        )
    return rows


def finals_of(result: Result) -> Regrets:
    """Return final regrets by policy, for each part of the study and each problem."""
    finals: Regrets = {}
    for curve in result.curves(NAME):
        finals.setdefault((curve.part, curve.problem), {})[curve.policy] = curve.finals
    return finals


# Reporting --------------------------------------------------------------------------------------------------------


def experiments(size: Size, searched: Result | None) -> list[Experiment]:
    """Return a setting without a warm-up, older ones and every rival at its best setting, on every problem."""
    best = {} if searched is None else tuned(finals_of(searched))
    return [*reported(size, best), *bad_runs.experiments(size)]


def tuned(tried: Regrets) -> Tuned:
    """Return the setting with the lowest mean of each rival, for every problem and horizon it was tried on."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for kind in KINDS.values():
        label = kind.problem.label
        for part in (part for part, problem in tried if problem == label and part.startswith("grid")):
            means = {policy: float(regret.mean()) for policy, regret in tried[part, label].items()}
            found.setdefault(part, {})[label] = {
                family: min((setting for setting in settings if setting in means), key=lambda setting: means[setting])
                for family, settings in families_on(kind.problem).items()
                if not means.keys().isdisjoint(settings)
            }
    return found


def reported(size: Size, best: Tuned) -> list[Experiment]:
    """Return the same, of rivals of which it is known at which settings they are best; else at their first."""
    found = []
    for horizon, runs in horizons(size, size.runs).items():
        for title, kind in KINDS.items():
            if horizon > size.horizon and not kind.is_long:
                continue
            setting = LINEAR_SETTING if is_by_features(kind.problem) else SETTING
            own = {NO_WARM_UP: setting, SHORT: CORe(warm_up=0.5), PAPER: CORe()}
            policies = {label: core_on(kind.problem, core.changed(sampler=size.sampler)) for label, core in own.items()}
            known = best.get(grid_of(horizon), {}).get(kind.problem.label, {})
            for family, settings in families_on(kind.problem).items():
                policies[family] = settings[known.get(family, next(iter(settings)))]
            more = {"part": part_of(horizon), "title": title, "horizon": horizon, "runs": runs}
            found.append(size.experiment(kind.problem, policies, name=NAME, **more))
    return found


def ratios(played: Sequence[Mapping[str, Any]], finals: Regrets) -> list[dict[str, Any]]:
    """Return CORe's regret beside that of the best rival, a row for each of CORe's settings on each problem.

    Which rival is best is asked in every resample anew, so that intervals know of that choice.
    """
    rows = []
    for experiment in played:
        if (experiment["name"], experiment.get("part")) != (NAME, part_of(experiment["horizon"])):
            continue
        regrets = finals[experiment["part"], experiment["label"]]
        rivals = {policy: regret for policy, regret in regrets.items() if policy not in OWN}
        best, usual = min(rivals, key=lambda rival: float(rivals[rival].mean())), usual_cost(regrets.values())
        for policy in OWN:
            regret = regrets[policy]
            mean, ratio = (
                mean_estimate(regret).interval(),
                largest_log_ratio([regret], list(rivals.values())).interval(),
            )
            share = exponential(ratio)
            rows.append(
                {
                    **{"title": experiment["title"], "horizon": experiment["horizon"], "policy": policy},
                    **{"runs": int(regret.size), "mean": mean.value, "ci_low": mean.low, "ci_high": mean.high},
                    **{"ratio": share.value, "ratio_low": share.low, "ratio_high": share.high},
                    **{"best rival": best, "failed": share_failed(regret, usual), "gone bad": share_gone_bad(regret)},
                }
            )
    return rows


def claims(result: Result) -> list[Claim]:
    """Judge the setting without a warm-up."""
    played = {curve.part: int(curve.rounds[-1]) for curve in result.curves(NAME)}
    found = []
    for horizon in (horizon for part, horizon in played.items() if part == part_of(horizon)):
        finals = Finals(result, NAME, part_of(horizon))
        rivals = {
            problem: [policy for known, policy in finals.regret if known == problem and policy not in OWN]
            for problem in finals.problems
        }
        rounds = f"{horizon:,} rounds"
        found += [
            judged(
                f"E1.{horizon}",
                f"Without a warm-up CORe's regret after {rounds} is at most 1.15 times that of the best rival in "
                "hindsight, on every problem.",
                None,
                [finals.comparable(problem, NO_WARM_UP, rivals[problem], 1.15) for problem in finals.problems],
            ),
            judged(
                f"E2.{horizon}",
                f"Without a warm-up CORe's regret after {rounds} is below the paper's setting's, on every problem.",
                None,
                [finals.less(problem, NO_WARM_UP, PAPER) for problem in finals.problems],
            ),
            judged(
                f"E3.{horizon}",
                f"At most 3 % of its runs of {rounds} fail on any problem: regret over {FAILED:g} times what a run "
                "usually costs, the median of the best policy.",
                None,
                [finals.rarely_fails(problem, NO_WARM_UP, MOST_GONE_BAD) for problem in finals.problems],
            ),
        ]
        if UNEQUAL in finals.problems:
            found.append(
                judged(
                    f"E4.{horizon}",
                    "CORe works well where the noise varies much across the arms (the paper's introduction): with its "
                    f"setting its regret after {rounds} is at most 1.25 times that of the best rival in hindsight.",
                    None,
                    [finals.comparable(UNEQUAL, PAPER, rivals[UNEQUAL], 1.25)],
                )
            )
    return found


def drawings(result: Result) -> list[Drawing]:
    """Return the ratios of all settings, averaged over the problems that one is chosen on, and how runs go bad."""
    found = list(cells(result.experiments, finals_of(result)))
    of_arms = _map(found, False, "Ratio to the best rival", "arms", SETTING)
    of_features = _map(found, True, "Ratio to the best rival, linear", "linear models", LINEAR_SETTING)
    return [of_arms, of_features, *bad_runs.drawings(result)]


def _map(found: list[Cell], by_features: bool, title: str, what: str, judged_one: CORe) -> Drawing:
    """Return a map for each horizon and each growth of the noise."""
    rows, cores = [], candidates(by_features)
    for row in compared_settings(found, by_features):
        core = cores[row["setting"]]
        growth = f", growth {core.growth:g}" if core.growth else ""
        rows.append(
            {
                **{"x_name": "alpha", "x": core.alpha, "y_name": "extra draws", "y": float(core.extra)},
                **{"ratio": row["ratio"], "note": f"{100 * row['gone bad']:.1f} %", "is marked": core == judged_one},
                "panel": f"{tables.count(row['horizon'])} rounds{growth}",
            }
        )
    n_problems = len({cell.problem for cell in found if cell.is_by_features == by_features})
    caption = (
        f"Geometric mean over {n_problems} problems with {what} of the mean regret divided by that of the best rival "
        "in hindsight, and below it the share of runs gone bad, whose regret is over "
        f"{GONE_BAD:g} times the setting's own median. Below 1 is better than every rival. Outlined: the setting "
        f"that is judged; by the rule, in this run: {chosen_setting(found, by_features)}."
    )
    return Drawing(NAME, title, caption, ratio_maps(pl.DataFrame(rows), RATIO))


FIGURE = Figure(
    name=NAME,
    caption="CORe without a warm-up against rivals at their best settings in hindsight, over problems and horizons.",
    paper_size=Size(horizon=10_000, runs=200, search_runs=100),
    quick_size=Size(horizon=1000, runs=10, search_runs=5),
    search=search,
    experiments=experiments,
    claims=claims,
    drawings=drawings,
    undrawn=("UCB1", "UCB-V", "BootstrapTS", "RandUCB", "LinUCB", "TopRank", SHORT),
)
