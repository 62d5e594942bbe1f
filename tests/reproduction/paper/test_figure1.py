import dataclasses

import pytest

import corebandit as cb
from corebandit.report.claim import FAILS, HOLDS, UNDECIDED
from corebandit.reproduction.paper import FIGURES
from corebandit.reproduction.paper.figure1 import CORE, OPTIMISTIC, RIVALS
from made_up import made_up, verdicts_of

FIGURE = FIGURES["figure1"]


def test_the_experiments_are_the_papers():
    experiments = FIGURE.experiments(FIGURE.paper_size)
    assert [experiment.title for experiment in experiments] == ["Bernoulli bandit", "Beta bandit", "Gaussian bandit"]
    for experiment in experiments:
        assert (experiment.horizon, experiment.runs) == (10_000, 100)
        assert set(experiment.policies) == {*CORE.values(), *RIVALS, *OPTIMISTIC}
        assert experiment.policies["CORe"] == cb.CORe(alpha=0.6, z=0.6, warm_up=4.0)
        assert experiment.policies["CORe (warm-up 2)"] == cb.CORe(warm_up=2.0)
    gaussian = experiments[2].policies
    assert gaussian["TS"] == cb.GaussianTS(sigma=0.5, prior_mean=0.5)
    assert gaussian["PHE"] == cb.PHE(a=0.5, pseudo="gaussian")
    assert experiments[0].policies["PHE"] == cb.PHE(a=1.1)


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
}


def verdicts(regrets):
    result = made_up(FIGURE.experiments(FIGURE.quick_size), lambda experiment, label: regrets[label])
    return verdicts_of(FIGURE.claims(result))


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
        ({"CORe": 900}, ("F1.c", 2.0), HOLDS),
    ],
)
def test_claims_fail_when_it_is_otherwise(change, claim, verdict):
    assert verdicts({**AS_THE_PAPER_SAYS, **change})[claim] == verdict
