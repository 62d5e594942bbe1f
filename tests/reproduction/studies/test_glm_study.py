import dataclasses

import numpy as np
import pytest

from corebandit import Experiment, LogisticBandit, run
from corebandit.catalogue import feature_policies
from corebandit.policies import GLMCORe, LinCORe, RecommendedLinCORe
from corebandit.report.claim import FAILS, HOLDS, LOOKS, UNDECIDED
from corebandit.reproduction.studies import STUDIES
from made_up import made_up, verdicts_of

STUDY = STUDIES["glm"]
SIZE = dataclasses.replace(STUDY.quick_size, horizon=2000)


def test_the_experiment_has_the_size_it_should_and_every_glm_policy():
    (experiment,) = STUDY.experiments(STUDY.paper_size, None)
    assert (experiment.horizon, experiment.runs) == (10_000, 100)
    assert experiment.problem == LogisticBandit(n_arms=50, n_features=10)
    assert experiment.policies["GLMCORe"] == GLMCORe(alpha=0.6, z=0.6, warm_up=4.0)
    assert experiment.policies["GLMCORe (warm-up 2)"] == GLMCORe(warm_up=2.0)
    assert experiment.policies["LinCORe"] == LinCORe()
    assert experiment.policies["LinCORe (warm-up 2)"] == LinCORe(warm_up=2.0)
    assert experiment.policies["GLMCORe (warm-up 0.5)"] == GLMCORe(warm_up=0.5)
    assert experiment.policies["LinCORe (warm-up 0.5)"] == LinCORe(warm_up=0.5)
    new = RecommendedLinCORe()
    assert experiment.policies["LinCORe (no warm-up)"] == new
    assert experiment.policies["GLMCORe (no warm-up)"] == GLMCORe(alpha=new.alpha, warm_up=0.0, extra=new.extra)
    named = {recipe for name, recipe in feature_policies().items() if "GLM" in name or name.startswith("Log")}
    assert named <= {type(policy) for policy in experiment.policies.values()}


def test_the_sampler_is_passed_on():
    (experiment,) = STUDY.experiments(dataclasses.replace(SIZE, sampler="exact"), None)
    assert experiment.policies["GLMCORe"] == GLMCORe(sampler="exact")
    assert experiment.policies["LinCORe"] == LinCORe(sampler="exact")
    assert experiment.policies["LinCORe (no warm-up)"] == RecommendedLinCORe(sampler="exact")


AS_HOPED = {
    "GLMCORe": 110,
    "GLMCORe (warm-up 2)": 90,
    "LinCORe": 120,
    "LinCORe (warm-up 2)": 100,
    "GLMCORe (warm-up 0.5)": 80,
    "LinCORe (warm-up 0.5)": 90,
    "GLMCORe (no warm-up)": 80,
    "LinCORe (no warm-up)": 90,
    "GLM-UCB": 2000,
    "UCB-GLM": 400,
    "GLM-RandUCB": 90,
    "GLM-TSL": 140,
    "GLM-FPL": 350,
    "LogPHE": 90,
    "Log eps-greedy": 150,
}


def verdicts(regrets):
    result = made_up(STUDY.experiments(SIZE, None), lambda experiment, label: regrets[label])
    return verdicts_of(STUDY.claims(result))


def test_all_claims_hold_when_it_is_as_hoped():
    found = verdicts(AS_HOPED)
    assert set(found) == {(claim, factor) for claim in ("G1", "G2", "G3", "G4") for factor in (2.0, 4.0)}
    assert set(found.values()) == {HOLDS}


@pytest.mark.parametrize(
    ("change", "claim", "verdict"),
    [
        ({"GLM-UCB": 100}, ("G1", 4.0), FAILS),
        ({"GLM-UCB": 100}, ("G1", 2.0), HOLDS),
        ({"UCB-GLM": 80}, ("G1", 2.0), FAILS),
        ({"GLM-TSL": 80}, ("G2", 4.0), FAILS),
        ({"GLM-FPL": 80}, ("G2", 4.0), FAILS),
        ({"GLM-TSL": 80}, ("G2", 2.0), HOLDS),
        ({"GLM-TSL": 88}, ("G2", 4.0), UNDECIDED),
        ({"LinCORe": 105}, ("G3", 4.0), FAILS),
        ({"LinCORe (warm-up 2)": 90}, ("G3", 2.0), UNDECIDED),
        ({"LinCORe": 105}, ("G3", 2.0), HOLDS),
        ({"LogPHE": 80}, ("G4", 4.0), FAILS),
        ({"LogPHE": 80}, ("G4", 2.0), HOLDS),
        ({"GLM-RandUCB": 60}, ("G4", 2.0), FAILS),
        ({"GLM-RandUCB": 60}, ("G2", 2.0), HOLDS),
        ({"Log eps-greedy": 88}, ("G4", 4.0), UNDECIDED),
        ({"GLM-UCB": 80}, ("G4", 4.0), FAILS),
        ({"UCB-GLM": 80}, ("G4", 4.0), FAILS),
        ({"GLM-TSL": 80}, ("G4", 4.0), FAILS),
        ({"GLM-FPL": 80}, ("G4", 4.0), FAILS),
        ({"LinCORe": 80}, ("G4", 4.0), HOLDS),
    ],
)
def test_claims_fail_when_it_is_otherwise(change, claim, verdict):
    assert verdicts({**AS_HOPED, **change})[claim] == verdict


def test_some_of_it_runs_at_toy_size():
    (experiment,) = STUDY.experiments(SIZE, None)
    some = {label: experiment.policies[label] for label in ("LinCORe", "Log eps-greedy")}
    result = run(Experiment(experiment.problem, some, horizon=100, runs=2), jobs=1)
    for label in some:
        assert np.isfinite(result.regret(label)).all()


@pytest.mark.endurance
def test_all_of_it_runs_at_toy_size():
    (experiment,) = STUDY.experiments(dataclasses.replace(STUDY.quick_size, horizon=100, runs=2), None)
    result = run(experiment, jobs=1)
    for label in experiment.policies:
        assert np.isfinite(result.regret(label)).all()
    assert {claim.verdict for claim in STUDY.claims(result)} <= set(LOOKS.values())
