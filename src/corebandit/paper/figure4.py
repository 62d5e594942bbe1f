"""Figure 4: learning to rank from clicks (section 5.4 of the paper).

60 queries with 10 documents each, 5 of them shown; n = 50,000 users, 10 runs of each query. Users click by a cascade
model, or by any other. The queries are made up to resemble those of a search engine, or come from a file of click
models. Beyond the paper: TopRank and BatchRank. CORe's warm-up is read in two ways: it lasts until so many feedbacks
were observed, or until so many items were displayed, as in the authors' code.
"""

import numpy as np
import polars as pl

from corebandit.experiment import Experiment, Point
from corebandit.paper.claims import Claim, Finding, below, judged
from corebandit.paper.figure import Figure, Size
from corebandit.policies import PHE, BernoulliTS, CORe
from corebandit.ranking.models import ClickModel
from corebandit.ranking.policies import BatchRank, CascadeKLUCB, Ranked, TopRank
from corebandit.ranking.problems import N_QUERIES, RankingBandit, YandexLike
from corebandit.ranking.stored import read_models
from corebandit.recipe import AnyPolicy
from corebandit.report import Drawing, regret_curves
from corebandit.result import Curve, Result
from corebandit.state import FloatArray
from corebandit.statistics import mean_interval, mean_intervals, ratio_interval, standard_error
from corebandit.validate import unknown

NAME = "figure4"
CORE = {4.0: "CORe", 2.0: "CORe (warm-up 2)"}
DISPLAYED = {4.0: "CORe (displayed)", 2.0: "CORe (displayed, warm-up 2)"}
SMALL = {4.0: "CORe 0.4", 2.0: "CORe 0.4 (warm-up 2)"}
AVERAGE, BY_QUERY = "average", "By query"


def _problems(size: Size) -> list[RankingBandit | YandexLike]:
    """Return a problem for each query: of the file, or made up."""
    if size.click_models is None:
        return [YandexLike(query=query, click_model=size.click_model) for query in range(N_QUERIES)]
    problems: list[RankingBandit | YandexLike] = []
    for query, of_query in read_models(size.click_models).items():
        if size.click_model not in of_query:
            raise unknown(f"click model of query {query} in {size.click_models}", size.click_model, of_query)
        problems.append(RankingBandit(of_query[size.click_model]))
    return problems


def _policies(model: ClickModel, sampler: str) -> dict[str, AnyPolicy]:
    observes = model.observes
    cores = {
        **{CORE[factor]: Ranked(CORe(warm_up=factor, sampler=sampler), observes) for factor in CORE},
        **{
            DISPLAYED[factor]: Ranked(CORe(warm_up=factor, sampler=sampler), observes, warm_up="displayed")
            for factor in CORE
        },
        **{SMALL[factor]: Ranked(CORe(alpha=0.4, z=0.4, warm_up=factor, sampler=sampler), observes) for factor in CORE},
    }
    return {
        **cores,
        "Ber-TS": Ranked(BernoulliTS(), observes),
        "Ber-PHE": Ranked(PHE(a=0.5), observes),
        "CascadeKL-UCB": CascadeKLUCB(),
        "TopRank": TopRank(),
        "BatchRank": BatchRank(),
    }


def experiments(size: Size, searched: Result | None = None) -> list[Experiment]:
    """Return one experiment for each query."""
    found = []
    for index, problem in enumerate(_problems(size), start=1):
        policies = _policies(problem.model, size.sampler)
        found.append(
            size.experiment(
                problem,
                policies,
                name=NAME,
                title=BY_QUERY,
                points={label: Point(label, {"query": index}) for label in policies},
            )
        )
    return found


# What came out ----------------------------------------------------------------------------------------------------


def _by_policy(result: Result) -> dict[str, list[Curve]]:
    """Return the curves of each policy, one for each query."""
    found: dict[str, list[Curve]] = {}
    for curve in result.curves():
        if curve.figure == NAME:
            found.setdefault(curve.policy, []).append(curve)
    return found


def _final_means(curves: list[Curve]) -> FloatArray:
    return np.array([curve.regret[:, -1].mean() for curve in curves])


def claims(result: Result) -> list[Claim]:
    """Judge what the paper says of this figure, by intervals over queries, for both lengths of the warm-up."""
    finals = {policy: _final_means(curves) for policy, curves in _by_policy(result).items()}
    judgements = []
    for factor, core in CORE.items():
        readings = (core, DISPLAYED[factor])
        judgements += [
            judged(
                "F4.a",
                "CORe (0.6, 0.6) beats Ber-PHE (0.5) and CascadeKL-UCB, averaged over queries, however its warm-up is "
                "read.",
                factor,
                [_less(finals, reading, rival) for reading in readings for rival in ("Ber-PHE", "CascadeKL-UCB")],
            ),
            judged(
                "F4.b",
                "CORe (0.6, 0.6) is comparable to Ber-TS: at most 1.25 times its regret, averaged over queries.",
                factor,
                [_at_most(finals, reading, "Ber-TS", 1.25) for reading in readings],
            ),
            judged(
                "F4.c",
                "CORe (0.4, 0.4) is almost the same as Ber-TS: at most 1.1 times its regret, averaged over queries.",
                factor,
                [_at_most(finals, SMALL[factor], "Ber-TS", 1.1)],
            ),
        ]
    return judgements


def _less(finals: dict[str, FloatArray], policy: str, rival: str) -> Finding:
    gaps = finals[policy] - finals[rival]
    return below(0.0, mean_interval(gaps), gaps.size, problem=AVERAGE, policy=policy, measure=f"{policy} - {rival}")


def _at_most(finals: dict[str, FloatArray], policy: str, rival: str, factor: float) -> Finding:
    interval = ratio_interval(finals[policy], finals[rival])
    measure = f"{policy} / {rival}"
    return below(factor, interval, finals[policy].size, problem=AVERAGE, policy=policy, measure=measure)


def drawings(result: Result) -> list[Drawing]:
    """Return the regret on two queries and on average over all, as in the paper."""
    by_policy = _by_policy(result)
    parts, averages = [], []
    average = f"average over {len(next(iter(by_policy.values())))} queries"
    for policy, curves in by_policy.items():
        for query, curve in enumerate(curves[:2], start=1):
            parts.append(_panel(policy, f"query {query}", curve.rounds, curve.regret))
        means = np.array([curve.regret.mean(axis=0) for curve in curves])
        parts.append(_panel(policy, average, curves[0].rounds, means))
        mean, low, high = mean_interval(means[:, -1])
        averages.append(
            {
                "figure": NAME,
                "problem": average,
                "policy": policy,
                "horizon": int(curves[0].rounds[-1]),
                "runs": sum(len(curve.regret) for curve in curves),
                "mean": mean,
                "stderr": standard_error(means[:, -1]),
                "ci_low": low,
                "ci_high": high,
                "cpu_seconds": sum(curve.cpu_seconds for curve in curves),
            }
        )
    order = {title: index for index, title in enumerate(part["title"][0] for part in parts[:3])}
    frame = pl.concat(sorted(parts, key=lambda part: order[part["title"][0]]))
    caption = (
        "Loss in expected clicks against the best ranking, on two queries and on average; bands are 95 % intervals, "
        "over runs and over queries. The table shows the average at the end, with intervals over queries."
    )
    return [Drawing(NAME, "Learning to rank", caption, regret_curves(frame), pl.DataFrame(averages))]


def _panel(policy: str, title: str, rounds: FloatArray, regret: FloatArray) -> pl.DataFrame:
    mean, low, high = mean_intervals(regret)
    columns = {"round": rounds, "mean": mean, "ci_low": low, "ci_high": high}
    names = {"figure": NAME, "problem": title, "policy": policy, "title": title}
    return pl.DataFrame(columns).select(*(pl.lit(value).alias(name) for name, value in names.items()), *columns)


FIGURE = Figure(
    name=NAME,
    caption="Learning to rank from clicks: two queries, and the average over 60.",
    paper_size=Size(horizon=50_000, runs=10),
    quick_size=Size(horizon=5_000, runs=2),
    experiments=experiments,
    claims=claims,
    drawings=drawings,
)
