"""Figure 4: learning to rank from clicks (section 5.4 of the paper).

60 queries with 10 documents each, 5 of them shown; n = 50,000 users, 10 runs of each query. Users click by a cascade
model, or by any other. The queries are made up to resemble those of a search engine, or come from a file of click
models, where fewer than 5 documents are shown if a model knows of no more. Beyond the paper: TopRank and BatchRank.

CORe's warm-up is read in two ways: it lasts until so many feedbacks were observed, which is drawn, or until so many
items were displayed. Where users look at all positions the two differ by one round at most, and only the first is run;
CascadeKL-UCB, which takes users for having left after the last click, is then replaced by KL-UCB, which learns from all
positions.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl

from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import AnyPolicy
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.experiments.curve import Curve
from corebandit.experiments.description import Point
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.arms.bernoulli_ts import BernoulliTS
from corebandit.policies.arms.core import CORe
from corebandit.policies.arms.klucb import KLUCB
from corebandit.policies.arms.phe import PHE
from corebandit.ranking.policies.adapter import Ranked
from corebandit.ranking.policies.batchrank import BatchRank
from corebandit.ranking.policies.cascade_klucb import CascadeKLUCB
from corebandit.ranking.policies.toprank import TopRank
from corebandit.ranking.ranking_problems import N_QUERIES, ShowsRankings, StoredQuery, YandexLike, stored_models
from corebandit.report.claim import Claim, Finding
from corebandit.report.figures import regret_curves
from corebandit.report.report import Drawing
from corebandit.reproduction.claims import Subject, Unseen, below, judged, ratio_below
from corebandit.reproduction.figure import Figure, Size
from corebandit.reproduction.readings import AS_DRAWN, Reading
from corebandit.statistics.estimates import log_ratio, mean_estimate, mean_interval, mean_intervals, standard_error
from corebandit.statistics.failures import usual_cost

NAME = "figure4"
N_SHOWN = 5
CORE = {4.0: "CORe", 2.0: "CORe (warm-up 2)"}  # by warm-up factor: the paper's, and its released code's
SMALL = {4.0: "CORe 0.4", 2.0: "CORe 0.4 (warm-up 2)"}
DISPLAYED = {
    "CORe": "CORe (displayed)",
    "CORe (warm-up 2)": "CORe (displayed, warm-up 2)",
    "CORe 0.4": "CORe 0.4 (displayed)",
    "CORe 0.4 (warm-up 2)": "CORe 0.4 (displayed, warm-up 2)",
}
COUNTS_DISPLAYS = Reading("CORe's warm-up counts displays", DISPLAYED)
UNDRAWN = (CORE[2.0], SMALL[2.0], *DISPLAYED.values())
CASCADE_KLUCB, KL_UCB = "CascadeKL-UCB", "KL-UCB"
AVERAGE = "average"


def _problems(size: Size) -> dict[str, ShowsRankings]:
    """Return a problem for each query, by its name: of the file, or made up."""
    if size.click_models is None:
        return {str(query): YandexLike(query=query, click_model=size.click_model) for query in range(N_QUERIES)}
    problems: dict[str, ShowsRankings] = {}
    for query, of_query in stored_models(size.click_models).items():
        model = of_query.get(size.click_model)  # a query without it is named by the problem
        n_shown = N_SHOWN if model is None else min(N_SHOWN, model.max_positions)
        problems[query] = StoredQuery(size.click_models, query, size.click_model, n_shown)
    if not problems:
        raise BadInput(f"{size.click_models} holds no queries")
    return problems


def _policies(observes: str, sampler: str) -> dict[str, AnyPolicy]:
    policies: dict[str, AnyPolicy] = {}
    for value, labels in ((0.6, CORE), (0.4, SMALL)):
        cores = {label: CORe(alpha=value, z=value, warm_up=factor, sampler=sampler) for factor, label in labels.items()}
        policies |= {label: Ranked(core, observes) for label, core in cores.items()}
        if observes != "all":
            policies |= {DISPLAYED[label]: Ranked(core, observes, "displayed") for label, core in cores.items()}
    policies |= {"Ber-TS": Ranked(BernoulliTS(), observes), "Ber-PHE": Ranked(PHE(a=0.5), observes)}
    if observes == "all":
        policies[KL_UCB] = Ranked(KLUCB(), observes)
    else:
        policies[CASCADE_KLUCB] = CascadeKLUCB()
    return policies | {"TopRank": TopRank(), "BatchRank": BatchRank()}


def experiments(size: Size, searched: Result | None = None) -> list[Experiment]:
    """Return one experiment for each query."""
    found = []
    for index, (query, problem) in enumerate(_problems(size).items()):
        policies = _policies(problem.observes, size.sampler)
        found.append(
            size.experiment(
                problem,
                policies,
                name=NAME,
                title=f"By query, {size.click_model}",
                points={label: Point(label, {"query": index}, name=query) for label in policies},
            )
        )
    return found


# What came out ----------------------------------------------------------------------------------------------------


def _by_policy(result: Result) -> dict[str, list[Curve]]:
    """Return the curves of each policy, one for each query."""
    found: dict[str, list[Curve]] = {}
    for curve in result.curves(NAME):
        found.setdefault(curve.policy, []).append(curve)
    return found


def _final_means(curves: list[Curve]) -> FloatArray:
    return np.array([curve.regret[:, -1].mean() for curve in curves])


def claims(result: Result) -> list[Claim]:
    """Judge what the paper says of this figure, by intervals over queries, for every warm-up.

    These are all the queries there are, each an average over runs: nothing is added for failures that do not show.
    """
    by_policy = _by_policy(result)
    finals = {policy: _final_means(curves) for policy, curves in by_policy.items()}
    bounds = CASCADE_KLUCB if CASCADE_KLUCB in finals else KL_UCB
    judgements = [
        judged(
            "F4.e",
            f"TopRank is worse than {bounds}, for which the paper leaves it out, averaged over queries.",
            None,
            [_less(finals, bounds, "TopRank")],
        )
    ]
    for reading in (AS_DRAWN, COUNTS_DISPLAYS):
        for factor in CORE:
            core, small = (reading.instead_of.get(labels[factor], labels[factor]) for labels in (CORE, SMALL))
            if core not in finals:
                continue
            judgements += [
                judged(
                    "F4.a",
                    f"CORe (0.6, 0.6) beats Ber-PHE (0.5) and {bounds}, averaged over queries.",
                    factor,
                    [_less(finals, core, rival) for rival in ("Ber-PHE", bounds)],
                    reading.name,
                ),
                judged(
                    "F4.b",
                    "CORe (0.6, 0.6) is comparable to Ber-TS: at most 1.25 times its regret, averaged over queries.",
                    factor,
                    [_at_most(finals, core, "Ber-TS", 1.25)],
                    reading.name,
                ),
                judged(
                    "F4.c",
                    "CORe (0.4, 0.4) is almost the same as Ber-TS: at most 1.1 times its regret, averaged over "
                    "queries.",
                    factor,
                    [_at_most(finals, small, "Ber-TS", 1.1)],
                    reading.name,
                ),
                judged(
                    "F4.d",
                    f"CORe (0.6, 0.6) beats Ber-PHE (0.5) and {bounds} across queries, on each of them.",
                    factor,
                    [each for rival in ("Ber-PHE", bounds) for each in _less_on_each(by_policy, core, rival)],
                    reading.name,
                ),
            ]
    return sorted(judgements, key=lambda claim: claim.id)


def _less(finals: dict[str, FloatArray], policy: str, rival: str) -> Finding:
    gaps = finals[policy] - finals[rival]
    subject = Subject(AVERAGE, policy, f"{policy} - {rival}")
    return below(0.0, mean_estimate(gaps), gaps.size, subject)


def _less_on_each(by_policy: dict[str, list[Curve]], policy: str, rival: str) -> Iterator[Finding]:
    """Judge query by query, from the few runs of each."""
    everyone = zip(*by_policy.values(), strict=True)
    for own, other, curves in zip(by_policy[policy], by_policy[rival], everyone, strict=True):
        unseen = Unseen.in_difference(usual_cost(curve.finals for curve in curves), own.finals.size)
        subject = Subject(own.problem, policy, f"{policy} - {rival}")
        yield below(0.0, mean_estimate(own.finals - other.finals), own.finals.size, subject, unseen)


def _at_most(finals: dict[str, FloatArray], policy: str, rival: str, factor: float) -> Finding:
    ratio = log_ratio(finals[policy], finals[rival])
    subject = Subject(AVERAGE, policy, f"{policy} / {rival}")
    return ratio_below(factor, ratio, finals[policy].size, subject)


def drawings(result: Result) -> list[Drawing]:
    """Return the regret on two queries and on average over all, as in the paper."""
    by_policy = _by_policy(result)
    described = [experiment for experiment in result.experiments if experiment["name"] == NAME]
    names = {each["label"]: next(iter(each["points"].values())).get("name", "") for each in described}
    problems = [each["problem"] for each in described]
    parts, averages = [], []
    average = f"average over {len(problems)} queries"
    for policy, curves in by_policy.items():
        means = np.array([curve.regret.mean(axis=0) for curve in curves])
        if policy not in UNDRAWN:
            for curve in curves[:2]:
                parts.append(_panel(policy, f"query {names[curve.problem]}", curve.rounds, curve.regret))
            parts.append(_panel(policy, average, curves[0].rounds, means))
        mean, low, high = mean_interval(means[:, -1])
        averages.append(
            {
                "experiment": NAME,
                "part": "",
                **dict.fromkeys(("problem", "title"), f"{average}, {_click_model(problems[0])}"),
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
    panels = list(dict.fromkeys(part["title"][0] for part in parts))
    frame = pl.concat(sorted(parts, key=lambda part: panels.index(part["title"][0])))
    caption = _caption(problems, set(by_policy))
    return [Drawing(NAME, "Learning to rank", caption, regret_curves(frame), pl.DataFrame(averages))]


def _click_model(problem: dict[str, Any]) -> str:
    return str(problem["model"] if problem["name"] == StoredQuery.name else problem["click_model"])


def _caption(problems: list[dict[str, Any]], policies: set[str]) -> str:
    """Say what is seen, by which model which users click, and what names of policies mean."""
    is_stored = problems[0]["name"] == StoredQuery.name
    queries = f"{len(problems)} queries of {problems[0]['file']}" if is_stored else f"{len(problems)} made-up queries"
    shown = _range(problem["n_positions"] for problem in problems)
    documents = _range(problem.get("n_documents", YandexLike.n_documents) for problem in problems)
    sentences = [
        "Loss in expected clicks against the best ranking, on two queries and on average; bands are 95 % intervals, "
        "over runs and over queries.",
        f"Users of {queries} click by the model {_click_model(problems[0])}, {shown} of {documents} documents shown.",
        "The table shows the average at the end, with intervals over queries; CORe's other warm-ups are there only.",
    ]
    if policies & set(DISPLAYED.values()):
        sentences.append(
            "CORe's warm-up ends once enough feedback was observed; called displayed, once enough items were shown, "
            "looked at or not."
        )
    if KL_UCB in policies:
        sentences.append(
            "These users look at all positions, so KL-UCB, which learns from all, takes the place of CascadeKL-UCB, "
            "and the two ways to count CORe's warm-up, by observations or by displays, are one."
        )
    if is_stored:
        sentences.append("The claims are the paper's, about other queries; here they are judged on these models.")
    return " ".join(sentences)


def _range(values: Iterable[int]) -> str:
    """Return the one number that values repeat, or the smallest and the largest."""
    found = sorted(set(values))
    return str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"


def _panel(policy: str, title: str, rounds: IntArray, regret: FloatArray) -> pl.DataFrame:
    mean, low, high = mean_intervals(regret)
    columns = {"round": rounds, "mean": mean, "ci_low": low, "ci_high": high}
    names = {"experiment": NAME, "part": "", "problem": title, "policy": policy, "title": title}
    return pl.DataFrame(columns).select(*(pl.lit(value).alias(name) for name, value in names.items()), *columns)


FIGURE = Figure(
    name=NAME,
    caption="Learning to rank from clicks: two queries, and the average over 60.",
    paper_size=Size(horizon=50_000, runs=10),
    quick_size=Size(horizon=5_000, runs=2),
    experiments=experiments,
    claims=claims,
    drawings=drawings,
    undrawn=UNDRAWN,
)
