import dataclasses

import numpy as np
import pytest

from corebandit.experiments.result import Result
from corebandit.policies import LinCORe, LinPHE, LinTS, LinUCB
from corebandit.report.claim import FAILS, HOLDS, UNDECIDED
from corebandit.reproduction.paper import FIGURES
from corebandit.reproduction.paper.figure2 import READINGS, SEARCH, SEARCH_SEED
from made_up import made_up, verdicts_of

FIGURE = FIGURES["figure2"]
SIZE = dataclasses.replace(FIGURE.quick_size, horizon=2000)


def searched(best):
    """Return a search in which the parameter nearest to `best` had the lowest regret."""
    return made_up(
        FIGURE.search(SIZE),
        lambda experiment, label: 100 + 50 * abs(next(iter(experiment.points[label].at.values())) - best),
        spread=0.1,
    )


def test_the_experiments_are_the_papers():
    experiments = FIGURE.experiments(FIGURE.paper_size, None)
    assert [(experiment.horizon, experiment.runs) for experiment in experiments] == [(10_000, 100)] * 3
    for experiment in experiments:
        assert (experiment.problem.n_arms, experiment.problem.n_features) == (50, 10)
        assert experiment.policies["LinCORe"] == LinCORe(alpha=0.6, z=0.6, warm_up=4.0)
        assert experiment.policies["LinCORe (warm-up 2)"] == LinCORe(warm_up=2.0)
        assert experiment.policies["LinUCB"] == LinUCB(scaling="authors")
        assert experiment.policies["LinUCB (textbook)"] == LinUCB()
        assert experiment.policies["LinTS (sigma = 0.5)"] == LinTS(sigma=0.5)
        pseudo = experiment.policies["LinPHE (tuned)"].pseudo
        assert experiment.policies["LinPHE (a = 0.5)"] == LinPHE(a=0.5, pseudo=pseudo)


def test_rivals_get_the_parameter_that_was_best_in_the_search():
    bernoulli, beta, gaussian = FIGURE.experiments(SIZE, searched(best=0.7))
    for experiment in (bernoulli, beta, gaussian):
        assert experiment.policies["LinTS (tuned)"] == LinTS(sigma=0.7)
    assert bernoulli.policies["LinPHE (tuned)"] == beta.policies["LinPHE (tuned)"] == LinPHE(a=0.7)
    assert gaussian.policies["LinPHE (tuned)"] == LinPHE(a=0.7, pseudo="gaussian")


def test_the_parameter_is_that_of_the_lowest_mean_not_of_the_widest_interval():
    found = searched(best=0.7)
    noise = 300.0 * np.random.default_rng(1).normal(size=(30, 1))
    noise -= noise.mean()
    curves = [
        dataclasses.replace(curve, regret=curve.regret + noise) if "=0.3" in curve.policy else curve
        for curve in found.curves()
    ]
    for experiment in FIGURE.experiments(SIZE, Result(found.experiments, curves)):
        assert experiment.policies["LinTS (tuned)"] == LinTS(sigma=0.7)


def test_the_search_covers_the_papers_range_on_problems_of_its_own():
    searches = FIGURE.search(FIGURE.paper_size)
    assert len(searches) == 6
    for experiment in searches:
        values = [next(iter(point.at.values())) for point in experiment.points.values()]
        assert (min(values), max(values), len(values)) == (0.1, 2.0, 20)
        assert experiment.seed == FIGURE.paper_size.seed + SEARCH_SEED
        assert experiment.part == SEARCH


def test_lincore_and_its_sampler_are_not_tuned():
    size = dataclasses.replace(SIZE, sampler="exact")
    assert FIGURE.experiments(size, searched(best=0.3))[0].policies["LinCORe"] == LinCORe(sampler="exact")


AS_THE_PAPER_SAYS = {
    "LinCORe": 110,
    "LinCORe (warm-up 2)": 100,
    "LinTS (tuned)": 110,
    "LinPHE (tuned)": 112,
    "LinUCB": 590,
    "LinTS (sigma = 0.5)": 115,
    "LinPHE (a = 0.5)": 118,
    "LinUCB (textbook)": 1100,
}


def verdicts(regrets):
    result = made_up(FIGURE.experiments(SIZE, None), lambda experiment, label: regrets[label])
    return verdicts_of(FIGURE.claims(result))


def test_all_claims_hold_when_it_is_as_the_paper_says():
    assert set(verdicts(AS_THE_PAPER_SAYS).values()) == {HOLDS}


@pytest.mark.parametrize(
    ("change", "claim", "verdict"),
    [
        ({"LinUCB": 105}, ("F2.a", 4.0), FAILS),
        ({"LinUCB": 105}, ("F2.a", 2.0), HOLDS),
        ({"LinTS (tuned)": 95}, ("F2.b", 4.0), FAILS),
        ({"LinPHE (tuned)": 95}, ("F2.b", 4.0), FAILS),
        ({"LinTS (tuned)": 95}, ("F2.b", 2.0), HOLDS),
        ({"LinTS (tuned)": 100}, ("F2.b", 4.0), UNDECIDED),
    ],
)
def test_claims_fail_when_it_is_otherwise(change, claim, verdict):
    assert verdicts({**AS_THE_PAPER_SAYS, **change})[claim] == verdict


@pytest.mark.parametrize(
    ("change", "claim"),
    [({"LinUCB (textbook)": 105}, "F2.a"), ({"LinTS (sigma = 0.5)": 90}, "F2.b"), ({"LinPHE (a = 0.5)": 90}, "F2.b")],
)
def test_a_reading_changes_its_own_verdicts_only(change, claim):
    found = verdicts({**AS_THE_PAPER_SAYS, **change})
    reading = {"F2.a": READINGS[0], "F2.b": READINGS[1]}[claim].name
    assert {(key[0], key[2:]) for key, verdict in found.items() if verdict != HOLDS} == {(claim, (reading,))}
    assert found[claim, 4.0, reading] == FAILS
