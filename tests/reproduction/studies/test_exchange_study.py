import pytest

from corebandit.policies import PHE, CORe, LinCORe, LinPHE, LinRewardExchange, RewardExchange
from corebandit.report.claim import FAILS, HOLDS, UNDECIDED
from corebandit.reproduction.studies import STUDIES
from corebandit.reproduction.studies.exchange_study import FORMS, FRESH, FRESH_DECAYING, KEPT, KEPT_DECAYING
from made_up import made_up, verdicts_of
from often import often

FIGURE = STUDIES["exchange"]


def test_the_experiments_are_arms_of_three_laws_and_a_linear_bandit():
    *arms, linear = FIGURE.experiments(FIGURE.paper_size, None)
    assert [experiment.problem.label for experiment in arms] == ["bernoulli", "beta", "gaussian"]
    assert (linear.problem.rewards, linear.problem.sigma, linear.problem.n_arms) == ("gaussian", 0.5, 50)
    for experiment in (*arms, linear):
        assert (experiment.horizon, experiment.runs) == (10_000, 100)
        assert set(FORMS) < set(experiment.policies)
    assert arms[0].policies["CORe (warm-up 2)"] == CORe(warm_up=2.0)
    assert arms[0].policies["PHE"] == PHE(a=1.1)
    assert arms[2].policies["PHE"] == PHE(a=0.5, pseudo="gaussian")
    assert arms[1].policies[KEPT_DECAYING] == RewardExchange(probability=5.0, decay=1.0)
    assert arms[1].policies[FRESH] == RewardExchange(probability=0.15, kept=False)
    assert linear.policies["LinCORe"] == LinCORe()
    assert linear.policies["LinPHE"] == LinPHE(pseudo="gaussian")
    assert linear.policies[KEPT] == LinRewardExchange(probability=0.05)


GOOD = {label: {5000: 80.0, 10_000: 100.0} for label in FORMS} | {
    KEPT: {5000: 60.0, 10_000: 98.0},
    FRESH: {5000: 60.0, 10_000: 110.0},
}
CORES = {"CORe": 100.0, "LinCORe": 100.0, "CORe (warm-up 2)": 96.0, "LinCORe (warm-up 2)": 96.0}


def verdicts(change, problem=None):
    """Return the verdicts when regrets are `GOOD` except for a change, on one problem or on all."""

    def regret(experiment, label):
        changed = change if problem in (None, experiment.problem.label) else {}
        curve = {**GOOD, **changed}.get(label, CORES.get(label, 120.0))
        return curve if isinstance(curve, dict) else {5000: 0.9 * curve, 10_000: curve}

    claims = FIGURE.claims(made_up(FIGURE.experiments(FIGURE.quick_size, None), regret))
    return verdicts_of(claims)


def test_all_claims_can_hold():
    assert set(verdicts({}).values()) == {HOLDS}
    assert len(verdicts({})) == 8


@pytest.mark.parametrize(
    ("change", "claim", "verdict"),
    [
        ({KEPT: {5000: 60.0, 10_000: 140.0}}, ("X1.a", 4.0), FAILS),
        ({KEPT: {5000: 60.0, 10_000: 122.5}}, ("X1.a", 4.0), HOLDS),
        ({KEPT: {5000: 60.0, 10_000: 122.5}}, ("X1.a", 2.0), FAILS),
        ({KEPT: {5000: 60.0, 10_000: 125.0}}, ("X1.a", 4.0), UNDECIDED),
        ({KEPT_DECAYING: {5000: 130.0, 10_000: 140.0}}, ("X1.b", 4.0), FAILS),
        ({FRESH: {5000: 60.0, 10_000: 140.0}}, ("X1.c", 2.0), FAILS),
        ({KEPT_DECAYING: {5000: 50.0, 10_000: 100.0}}, ("X2", None), FAILS),
        ({FRESH_DECAYING: {5000: 50.0, 10_000: 100.0}}, ("X2", None), FAILS),
        ({FRESH: {5000: 50.0, 10_000: 90.0}}, ("X3", None), FAILS),
    ],
)
@pytest.mark.parametrize("problem", often([None], [None, "beta", "linear(rewards='gaussian')"], pytest.mark.heavy))
def test_claims_fail_when_it_is_otherwise_on_one_problem_or_on_all(change, claim, verdict, problem):
    assert verdicts(change, problem)[claim] == verdict
