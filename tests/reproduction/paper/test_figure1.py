import dataclasses
from functools import cache

import pytest

import corebandit as cb
from corebandit.report.claim import FAILS, HOLDS, UNDECIDED
from corebandit.reproduction.paper import FIGURES
from corebandit.reproduction.paper.figure1 import (
    ALL_WINDOWS,
    ANYTIME,
    CORE,
    FEW_PSEUDO,
    OPTIMISTIC,
    RIVALS,
    SCALED_TS,
)
from made_up import made_up, verdicts_of

FIGURE = FIGURES["figure1"]


def test_the_experiments_are_the_papers():
    experiments = FIGURE.experiments(FIGURE.paper_size)
    assert [experiment.title for experiment in experiments] == ["Bernoulli bandit", "Beta bandit", "Gaussian bandit"]
    for experiment in experiments:
        assert (experiment.horizon, experiment.runs) == (10_000, 100)
        assert list(experiment.policies)[:8] == [*CORE.values(), *RIVALS, *OPTIMISTIC]
        assert experiment.policies["CORe"] == cb.CORe(alpha=0.6, z=0.6, warm_up=4.0)
        assert experiment.policies["CORe (warm-up 2)"] == cb.CORe(warm_up=2.0)
    gaussian = experiments[2].policies
    assert gaussian["TS"] == cb.GaussianTS(sigma=0.5, prior_mean=0.5)
    assert gaussian["PHE"] == cb.PHE(a=0.5, pseudo="gaussian")
    assert experiments[0].policies["PHE"] == cb.PHE(a=1.1)


def test_other_readings_run_where_sources_differ():
    bernoulli, beta, gaussian = ({**each.policies} for each in FIGURE.experiments(FIGURE.paper_size))
    for policies in (bernoulli, beta, gaussian):
        any_reward = policies is gaussian
        assert policies[ALL_WINDOWS] == cb.SSMC(window="min") != policies["SSMC"]
        assert policies[ANYTIME] == cb.UCBV(exploration="anytime", any_reward=any_reward) != policies["UCB-V"]
    assert bernoulli[SCALED_TS] == beta[SCALED_TS] == cb.BernoulliTS(scale=0.5)
    assert beta[FEW_PSEUDO] == cb.PHE(a=0.5)
    assert FEW_PSEUDO not in bernoulli
    assert not {SCALED_TS, FEW_PSEUDO} & set(gaussian)


@pytest.mark.thorough
def test_other_readings_leave_the_rest_as_it_was():
    size = dataclasses.replace(FIGURE.quick_size, horizon=400, runs=2)
    for experiment in FIGURE.experiments(size):
        alone = experiment.with_policies({label: experiment.policies[label] for label in ("CORe", "SSMC", "UCB-V")})
        together, apart = cb.run(experiment, jobs=1), cb.run(alone, jobs=1)
        for label in alone.policies:
            assert (together.regret(label) == apart.regret(label)).all(), label


def test_the_sampler_reaches_core():
    size = dataclasses.replace(FIGURE.quick_size, sampler="exact")
    assert FIGURE.experiments(size)[0].policies["CORe"].sampler == "exact"


AS_THE_PAPER_SAYS = {
    "CORe": 100,
    "CORe (warm-up 2)": 80,
    "TS": 110,
    "PHE": 120,
    "NP-TS": 115,
    "SSMC": 118,
    "UCB1": 450,
    "UCB-V": 780,
    SCALED_TS: 105,
    FEW_PSEUDO: 102,
    ALL_WINDOWS: 119,
    ANYTIME: 500,
}


@cache
def verdicts_on(regrets):
    means = dict(regrets)
    result = made_up(FIGURE.experiments(FIGURE.quick_size), lambda experiment, label: means[label])
    return verdicts_of(FIGURE.claims(result))


def verdicts(regrets):
    return verdicts_on(tuple(regrets.items()))


def test_all_claims_hold_when_it_is_as_the_paper_says():
    assert set(verdicts(AS_THE_PAPER_SAYS).values()) == {HOLDS}


@pytest.mark.parametrize(
    ("change", "claim", "verdict"),
    [
        ({"UCB1": 90}, ("F1.a", 4.0), FAILS),
        ({"UCB1": 90}, ("F1.a", 2.0), HOLDS),
        ({"SSMC": 60}, ("F1.b", 4.0), FAILS),
        ({"SSMC": 80}, ("F1.b", 4.0), UNDECIDED),
        ({"PHE": 900}, ("F1.c", 4.0), FAILS),
        ({"CORe": 900}, ("F1.c", 4.0), FAILS),
        ({"CORe": 900}, ("F1.c", 2.0), HOLDS),
    ],
)
def test_claims_fail_when_it_is_otherwise(change, claim, verdict):
    assert verdicts({**AS_THE_PAPER_SAYS, **change})[claim] == verdict


def test_claims_are_judged_under_every_reading_of_their_rivals():
    found = verdicts(AS_THE_PAPER_SAYS)
    readings = {claim: {key[2] for key in found if key[0] == claim and len(key) == 3} for claim, *_ in found}
    assert readings == {
        "F1.a": {ANYTIME},
        "F1.b": {SCALED_TS, FEW_PSEUDO, ALL_WINDOWS},
        "F1.c": {ANYTIME, SCALED_TS, FEW_PSEUDO},
    }


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("change", "claims"),
    [
        ({ANYTIME: 95}, {"F1.a", "F1.c"}),
        ({SCALED_TS: 60}, {"F1.b"}),
        ({FEW_PSEUDO: 60}, {"F1.b"}),
        ({ALL_WINDOWS: 60}, {"F1.b"}),
        ({SCALED_TS: 900}, {"F1.c"}),
    ],
)
def test_a_reading_changes_its_own_verdicts_only(change, claims):
    (reading,) = change
    found = verdicts({**AS_THE_PAPER_SAYS, **change})
    failing = {(claim, 4.0, reading) for claim in claims}
    assert {key for key, verdict in found.items() if verdict == FAILS and key[1] == 4.0} == failing


def test_evidence_names_who_took_part():
    result = made_up(FIGURE.experiments(FIGURE.quick_size), lambda experiment, label: AS_THE_PAPER_SAYS[label])
    (claim,) = (
        each for each in FIGURE.claims(result) if (each.id, each.warm_up, each.reading) == ("F1.a", 4.0, ANYTIME)
    )
    assert [finding.measure for finding in claim.details] == ["CORe - UCB1", f"CORe - {ANYTIME}"] * 3
