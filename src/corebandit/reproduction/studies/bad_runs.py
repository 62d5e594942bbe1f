"""How CORe's runs go bad, and for how long: with a long warm-up, a short one, and none in three forms.

A run is on a wrong arm in a stretch between two checkpoints if it loses there, a round, over ten times what the median
run of the best setting loses a round from first to last. The first hundredth of the rounds does not count: there all
arms are tried. What is counted is what is lost, so several arms that are nearly as bad look like one.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from corebandit.contracts.state import FloatArray
from corebandit.experiments.curve import Curve
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.arms.core import CORe
from corebandit.policies.arms.recommended_core import RecommendedCORe
from corebandit.problems.random_arms import BernoulliBandit
from corebandit.report.against_bounds import shares
from corebandit.report.report import Drawing
from corebandit.reproduction.figure import Size

NAME, PART = "exploration", "bad runs"
NEW = RecommendedCORe()
RECOMMENDED = CORe(alpha=NEW.alpha, warm_up=NEW.warm_up, extra=NEW.extra, growth=NEW.growth)
TIMES = 10.0  # what the median run loses
SETTINGS = {
    "warm-up 4, the paper's": CORe(),
    "warm-up 0.5": CORe(warm_up=0.5),
    "no warm-up": CORe(warm_up=0.0),
    "no warm-up, extra draws": CORe(alpha=0.7, warm_up=0.0, extra=8),
    "no warm-up, growing noise": RECOMMENDED,
}


def experiments(size: Size) -> list[Experiment]:
    """Return the settings on Bernoulli arms, for the longest horizon: no table shows them."""
    policies = {label: core.changed(sampler=size.sampler) for label, core in SETTINGS.items()}
    more = {
        "horizon": 10 * size.horizon,
        "runs": 2 * size.runs,
        "name": NAME,
        "part": PART,
        "title": "Bernoulli",
        "shown": False,
    }
    return [size.experiment(BernoulliBandit(), policies, **more)]


def drawings(result: Result) -> list[Drawing]:
    """Return one picture: how many runs are on a wrong arm at a time, and for how many rounds runs are."""
    curves = result.curves(NAME, PART)
    if not curves:
        return []
    n_runs, horizon = len(curves[0].regret), int(curves[0].rounds[-1])
    caption = (
        f"Runs of CORe on a wrong arm ({n_runs:,} runs of {horizon:,} rounds on Bernoulli arms): they lose over "
        f"{TIMES:g} times what the median run of the best setting loses a round. The first hundredth of the rounds "
        "does not count. Left: the share of runs that are, round by round. Right: "
        "the share of runs that are for at least so many rounds in all. Shares of zero are not drawn."
    )
    return [Drawing(NAME, "Runs on a wrong arm", caption, shares(pl.DataFrame(list(_points(curves)))))]


def on_wrong_arm(curve: Curve, fastest: float) -> tuple[FloatArray, FloatArray, Any]:
    """Return the ends and lengths of stretches, and whether each run loses faster than `fastest` in each of them."""
    ends, lengths = curve.rounds[1:], np.diff(curve.rounds)
    lost = np.diff(curve.regret, axis=1) / lengths
    counts = ends > curve.rounds[-1] / 100
    return ends[counts].astype(float), lengths[counts].astype(float), lost[:, counts] > fastest


def _points(curves: Sequence[Curve]) -> Iterator[dict[str, Any]]:
    horizon = float(curves[0].rounds[-1])
    fastest = TIMES * min(float(np.median(curve.finals)) for curve in curves) / horizon
    by_round = {"title": "Runs on a wrong arm", "x_name": "round", "y_name": "share of runs", "bound": None}
    in_all = {"title": "For how long", "x_name": "at least so many rounds", "y_name": "share of runs", "bound": None}
    for curve in curves:
        ends, _, is_wrong = on_wrong_arm(curve, fastest)
        for end, share in zip(ends.tolist(), is_wrong.mean(axis=0).tolist(), strict=True):
            yield {**by_round, "series": curve.policy, "x": end, "share": share}
    for curve in curves:
        _, lengths, is_wrong = on_wrong_arm(curve, fastest)
        rounds = is_wrong @ lengths
        for least in np.geomspace(horizon / 100, horizon, 80).tolist():
            yield {**in_all, "series": curve.policy, "x": least, "share": float((rounds >= least).mean())}
