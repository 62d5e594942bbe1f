"""Synthetic results whose numbers are easy to foresee."""

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pytest

from corebandit.experiments.frames import DIFFERENCES, SWEEPS
from corebandit.report.claim import Claim, Finding
from corebandit.report.report import Frames

POLICIES = {"UCB1": 440.0, "UCB-V": 780.0, "TS": 116.0, "CORe": 107.0, "CORe (warm-up 2)": 83.0}
TITLES = {"bernoulli": "Bernoulli bandit", "beta": "Beta bandit"}
CHECKPOINTS = 100


def make_frames(
    policies: Mapping[str, float] = POLICIES,
    titles: Mapping[str, str] = TITLES,
    experiment: str = "figure1",
    runs: int = 11,
    horizon: int = 10_000,
    baseline: str = "CORe",
) -> Frames:
    """Make runs that spread evenly from 0.5 to 1.5 times the regret of their policy, which grows like a root."""
    rows: dict[str, list[dict[str, Any]]] = {"summary": [], "curves": [], "finals": [], "differences": []}
    factors = [0.5 + run / (runs - 1) for run in range(runs)] if runs > 1 else [1.0]
    for problem, title in titles.items():
        for policy, regret in policies.items():
            where = {"experiment": experiment, "part": "", "problem": problem, "title": title, "policy": policy}
            size = abs(regret)
            interval = {"mean": regret, "ci_low": regret - 0.1 * size, "ci_high": regret + 0.1 * size}
            rows["summary"].append({**where, "horizon": horizon, "runs": runs, "stderr": 0.04 * size, **interval})
            rows["summary"][-1]["cpu_seconds"] = 1.5
            rows["finals"] += [{**where, "run": run, "regret": regret * factor} for run, factor in enumerate(factors)]
            for checkpoint in range(1, CHECKPOINTS + 1):
                growth = (checkpoint / CHECKPOINTS) ** 0.5
                curve = {name: growth * value for name, value in interval.items()}
                rows["curves"].append({**where, "round": checkpoint * horizon // CHECKPOINTS, **curve})
            if baseline in policies and policy != baseline:
                gap = regret - policies[baseline]
                spread = {"runs": 50, "mean": gap, "ci_low": gap - 30, "ci_high": gap + 30, "share_better": 0.25}
                rows["differences"].append({**where, "baseline": baseline, **spread})
    schemas = {"differences": DIFFERENCES}  # there may be none
    return Frames(**{name: pl.DataFrame(part, schema=schemas.get(name)) for name, part in rows.items()})


def make_search(
    titles: tuple[str, ...] = ("Easy", "Hard"), place: tuple[str, str] = ("figure2", "parameter search")
) -> pl.DataFrame:
    """Make a search over sigma whose regret is lowest, at 100, for LinTS at 0.4 and LinPHE at 0.8."""
    best = {"LinTS": 0.4, "LinPHE": 0.8}
    rows = [
        point(place, title, series, 100 + 1000 * (step / 10 - centre) ** 2, sigma=step / 10)
        for title in titles
        for series, centre in best.items()
        for step in range(1, 13)
    ]
    return pl.DataFrame(rows, schema=SWEEPS)


def make_map(n_alpha: int = 7, n_z: int = 7, place: tuple[str, str] = ("figure3", "heat map")) -> pl.DataFrame:
    """Make a grid whose regret is lowest, at 100, where both alpha and z are third."""
    rows = [
        point(place, "Hard", "LinCORe", 100 * 2.0 ** (abs(i - 2) + abs(j - 2)), alpha=0.2 + 0.2 * i, z=0.2 + 0.1 * j)
        for i in range(n_alpha)
        for j in range(n_z)
    ]
    return pl.DataFrame(rows, schema=SWEEPS)


def point(place: tuple[str, str], title: str, series: str, mean: float, **at: float) -> dict[str, Any]:
    """Make one point of a sweep, with an interval of 10 % to either side."""
    (x_name, x), (y_name, y) = [*at.items(), (None, None)][:2]
    policy = f"{series}({','.join(f'{name}={value:g}' for name, value in at.items())})"
    where = {
        "experiment": place[0],
        "part": place[1],
        "title": title,
        "series": series,
        "policy": policy,
        "x_name": x_name,
        "x": x,
    }
    size = {"y_name": y_name, "y": y, "runs": 100, "horizon": 10_000}
    return where | size | {"mean": mean, "ci_low": 0.9 * mean, "ci_high": 1.1 * mean}


def summary_of(sweeps: pl.DataFrame) -> pl.DataFrame:
    """Make the rows that a summary has for the policies of a sweep."""
    return sweeps.with_columns(problem="title", stderr=pl.lit(1.0), cpu_seconds=pl.lit(1.5)).select(
        *(
            "experiment",
            "part",
            "problem",
            "policy",
            "horizon",
            "runs",
            "stderr",
            "mean",
            "ci_low",
            "ci_high",
            "cpu_seconds",
        )
    )


@pytest.fixture
def search() -> pl.DataFrame:
    return make_search()


@pytest.fixture
def grid() -> pl.DataFrame:
    return make_map()


@pytest.fixture
def make_grid() -> Callable[..., pl.DataFrame]:
    return make_map


@pytest.fixture(scope="session")
def swept() -> tuple[Frames, pl.DataFrame]:
    """Frames of a comparison, a search and a heat map, and the rows of the sweeps among them."""
    sweeps, made = pl.concat([make_search(), make_map()]), make_frames()
    return made._replace(summary=pl.concat([made.summary, summary_of(sweeps)], how="diagonal")), sweeps


@pytest.fixture
def make() -> Callable[..., Frames]:
    return make_frames


@pytest.fixture(scope="session")
def frames() -> Frames:
    return make_frames()


@pytest.fixture(scope="session")
def verdicts() -> list[Claim]:
    gap = Finding("beta", "UCB1", "CORe minus UCB1", -333.25, -341.5, -325.0, 0.0, 0.001, 1.0, 0.001, 1.0, 1000)
    return [
        Claim("F1.a", "CORe is below UCB1", 4.0, "holds", "holds", "six of six", (gap,)),
        Claim("F1.a", "CORe is below UCB1", 2.0, "does not hold", "does not hold", "no"),
        Claim("F1.b", "CORe is near TS", 4.0, "undecided", "holds", "1.02"),
        Claim("F1.b", "CORe is near TS", 2.0, "looks as if it holds", "looks as if it holds", "too few runs"),
        Claim("T3", "one-hot LinCORe is CORe", None, "holds", "holds", "equal"),
    ]


@pytest.fixture(scope="session")
def settings() -> dict[str, Any]:
    return {
        "experiments": [
            {
                "name": "figure1",
                "part": "bernoulli",
                "title": "Bernoulli bandit",
                "problem": {"name": "RandomBernoulli", "parameters": {"arms": 10}},
                "policies": {"CORe": {"name": "CORe", "parameters": {"alpha": 0.6, "warm_up": 4.0}}},
                "horizon": 10_000,
                "runs": 11,
                "seed": 77,
                "regret": "expected",
            }
        ],
        "versions": {"corebandit": "0.1.0", "numpy": "2.2.1"},
        "seconds": 193.2,
        "command": "corebandit reproduce --quick",
    }
