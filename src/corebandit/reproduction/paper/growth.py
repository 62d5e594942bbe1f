"""Growth of regret: LinCORe against n, d and K, beyond the warm-up, with the bound's shape beside it."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from corebandit.contracts.state import FloatArray
from corebandit.experiments.description import Point
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.linear.lincore import LinCORe
from corebandit.problems.linear import LinearBandit
from corebandit.report.power_laws import scaling
from corebandit.report.report import Drawing
from corebandit.reproduction.figure import Size
from corebandit.reproduction.theory import regret_shape
from corebandit.statistics.estimates import Estimate, mean_interval
from corebandit.statistics.growth import growth_exponent
from corebandit.statistics.resampling import resampled_means

NAME = "theory"
FACTORS = {4.0: "warm-up 4", 2.0: "warm-up 2"}
AGAINST_N, AGAINST_D, AGAINST_K = "Regret against n", "Regret against d", "Regret against K"
AXES = {AGAINST_N: "rounds after the warm-up", AGAINST_D: "d", AGAINST_K: "log K"}
THEOREM = {AGAINST_N: (0.5, "sqrt(n)"), AGAINST_D: (1.0, "d"), AGAINST_K: (0.5, "sqrt(log K)")}  # exponents
BEYOND = "regret beyond the warm-up"
TITLES = {"n": AGAINST_N, "d": AGAINST_D, "K": AGAINST_K}

SHARES_OF_HORIZON = (0.1, 10**-0.5, 1.0, 10**0.5, 10.0)
DIMENSIONS, ARMS_FOR_DIMENSIONS = (5, 10, 20, 40), 100
ARM_COUNTS = (16, 50, 160, 500, 1600)


def growing(size: Size) -> Iterator[Experiment]:
    """Yield LinCORe on problems that grow in n, in d and in K."""
    usual = LinearBandit(rewards="gaussian")
    settings: list[tuple[str, int, LinearBandit, int]] = [
        *(("n", n, usual, n) for n in (round(share * size.horizon) for share in SHARES_OF_HORIZON)),
        *(("d", d, usual.changed(n_features=d, n_arms=ARMS_FOR_DIMENSIONS), size.horizon) for d in DIMENSIONS),
        *(("K", n_arms, usual.changed(n_arms=n_arms), size.horizon) for n_arms in ARM_COUNTS),
    ]
    for name, value, problem, horizon in settings:
        for factor, series in FACTORS.items():
            policy = LinCORe(warm_up=factor, sampler=size.sampler)
            label = f"LinCORe, {series}, {name} = {value:,}"
            yield size.experiment(
                problem,
                {label: policy},
                horizon=horizon,
                name=NAME,
                title=TITLES[name],
                also_at=[min(policy.warm_up_rounds(problem.n_features, horizon), horizon)],
                points={label: Point(series, {name: value})},
            )


class Growth(NamedTuple):
    """Regret beyond the warm-up of one series as one size grows: the rounds after the warm-up, d, or K."""

    title: str
    series: str
    sizes: list[float]
    regret: list[FloatArray]  # of each size, (runs,)
    left_out: list[float]  # sizes at which nearly all is warm-up, so that nothing can be fitted

    def exponent(self) -> Estimate | None:
        """Estimate the exponent of regret in the size, of K in its logarithm; None if there are too few sizes."""
        if len(self.sizes) < 2:
            return None
        # Other d and K are other problems; other horizons are the same ones, played longer.
        return growth_exponent(self.scale, self.regret, paired=self.title == AGAINST_N)

    @property
    def scale(self) -> list[float]:
        """Return what the exponent is of: the sizes, or the logarithms of K."""
        return [math.log(size) if self.title == AGAINST_K else float(size) for size in self.sizes]

    @property
    def fewest_runs(self) -> int:
        """Return how many runs there are of the size that has fewest."""
        return min((regret.size for regret in self.regret), default=0)


def growths(result: Result) -> list[Growth]:
    """Return the regrets of every series, as one size grows."""
    found: dict[tuple[str, str], Growth] = {}
    curves = {(curve.problem, curve.policy): curve for curve in result.curves(NAME, part="")}
    for experiment in result.experiments:
        if experiment["name"] != NAME or experiment.get("part"):
            continue
        for label, point in experiment["points"].items():
            growth = found.setdefault(
                (experiment["title"], point["series"]), Growth(experiment["title"], point["series"], [], [], [])
            )
            curve = curves[experiment["label"], label]
            warm_up = curve.regret[:, curve.rounds.searchsorted(experiment["also_at"][0])]
            beyond = curve.finals - warm_up
            (size,) = point["at"].values()
            rounds_after = experiment["horizon"] - experiment["also_at"][0]
            if resampled_means(beyond).min() > 0.0:
                growth.sizes.append(rounds_after if growth.title == AGAINST_N else size)
                growth.regret.append(beyond)
            else:
                growth.left_out.append(size)
    return list(found.values())


def _shape(title: str, size: float) -> float:
    """Return the bound's shape at a size, the others being what they are."""
    if title == AGAINST_N:
        return regret_shape(max(round(size), 1), 10, 50)
    if title == AGAINST_D:
        return regret_shape(10_000, round(size), ARMS_FOR_DIMENSIONS)
    return regret_shape(10_000, 10, round(size))


def drawings(result: Result) -> list[Drawing]:
    """Return regret against n, d and K with fitted exponents, and the bound's shape beside it."""
    rows, fits = [], []
    for growth in growths(result):
        intervals = [mean_interval(regret) for regret in growth.regret]
        shapes = [_shape(growth.title, size) for size in growth.sizes]
        for x, (mean, low, high), shape in zip(growth.scale, intervals, shapes, strict=True):
            rows.append(
                {
                    "title": growth.title,
                    "series": growth.series,
                    "x_name": AXES[growth.title],
                    "x": x,
                    "y_name": BEYOND,
                    "mean": mean,
                    "ci_low": low,
                    "ci_high": high,
                    "bound": intervals[0][0] * shape / shapes[0],
                }
            )
        if (exponent := growth.exponent()) is None:
            continue
        value, low, high = exponent.interval()
        reference, name = THEOREM[growth.title]
        fits.append(
            {
                "title": growth.title,
                "series": growth.series,
                "exponent": value,
                "ci_low": low,
                "ci_high": high,
                "reference": reference,
                "reference_name": name,
            }
        )
    caption = (
        "LinCORe's regret beyond its warm-up on Gaussian linear bandits as one size grows and the others stay (d = 10, "
        "K = 50; K = 100 while d grows), both axes logarithmic. Solid: the fitted power law, of K in its logarithm, "
        "with its exponent and 95 % interval: growth as measured. Dashed: the shape of the theorem's bound, "
        "d sqrt(n log K), through the first point of each series; the theorem is for the worst case, and for an alpha "
        "that grows with d and n."
    )
    return [Drawing(NAME, "Growth of regret", caption, scaling(pl.DataFrame(rows), pl.DataFrame(fits)))]
