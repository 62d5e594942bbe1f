"""The study of neural policies: its experiments, its claims, and the data sets that scikit-learn brings."""

import numpy as np
import pytest

import corebandit as cb
from corebandit.report.claim import FAILS, HOLDS
from corebandit.reproduction.studies import STUDIES
from corebandit.reproduction.studies.neural_study import CORE
from made_up import made_up

pytest.importorskip("torch", reason="PyTorch is not installed: docs/neural.md says how to get it")
pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install scikit-learn")

STUDY = STUDIES["neural"]
REGRETS = {"LinCORe": 200, "LinUCB": 210, "NeuralUCB": 100, "NeuralTS": 90}


@pytest.mark.parametrize(("data", "shape"), [("digits", (10, 640)), ("breast_cancer", (2, 60)), ("wine", (3, 39))])
def test_data_sets_become_bandits(data, shape):
    problem = cb.ClassificationBandit(data)
    cb.check_problem(problem, n_pulls=10)
    arms = problem.draw(None)
    assert (arms.n_arms, arms.n_features) == shape
    assert np.array_equal(np.unique(arms.labels), np.arange(arms.n_arms))
    assert np.linalg.norm(arms.rows, axis=1) == pytest.approx(1.0)


def test_the_study_compares_on_functions_and_data():
    experiments = STUDY.experiments(STUDY.quick_size, None)
    assert [experiment.problem.name for experiment in experiments] == ["nonlinear"] * 3 + ["classification"] * 3
    for experiment in experiments:
        assert {*CORE.values(), *REGRETS} <= set(experiment.policies)
        assert experiment.policies["NeuralCORe"] == cb.NeuralCORe()


@pytest.mark.parametrize(
    ("core", "failing"), [(80, set()), (110, {"N3"}), (150, {"N2", "N3"}), (250, {"N1", "N2", "N3"})]
)
def test_claims_follow_the_regrets(core, failing):
    regrets = {**dict.fromkeys(CORE.values(), core), **REGRETS}
    result = made_up(STUDY.experiments(STUDY.quick_size, None), lambda experiment, label: regrets.get(label, 95))
    for claim in STUDY.claims(result):
        assert claim.verdict == (FAILS if claim.id in failing else HOLDS)
