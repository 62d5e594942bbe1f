import numpy as np
import pytest

from corebandit.experiments.run import run
from corebandit.policies import LinCORe
from corebandit.report.claim import FAILS, HOLDS, LOOKS
from corebandit.reproduction.paper import FIGURES, lemmas, theory_figure as theory
from corebandit.reproduction.paper.growth import (
    AGAINST_D,
    AGAINST_K,
    AGAINST_N,
    ARM_COUNTS,
    DIMENSIONS,
    Growth,
    growths,
)
from corebandit.reproduction.theory import LemmaFailures
from made_up import made_up, verdicts_of

FIGURE = FIGURES["theory"]
EXPERIMENTS = [each for each in FIGURE.experiments(FIGURE.quick_size, None) if each.shown]


def result(n_exponent=0.3, log_k_exponent=0.2, d_exponent=1.0, plain=100.0):
    """Return regrets of 50 in the warm-up and of these exponents beyond it."""

    def mean_regret(experiment, label):
        if experiment.part == theory.POOL:
            return plain if label.startswith("plain") else 100.0
        problem = experiment.problem
        rounds_after = experiment.horizon - experiment.also_at[0]
        beyond = 200.0 * (rounds_after / 1e4) ** n_exponent * (problem.n_features / 10) ** d_exponent
        beyond *= (problem.n_arms / 50) ** (log_k_exponent / 4)
        return {experiment.also_at[0]: 50.0, experiment.horizon: 50.0 + beyond}

    return made_up(EXPERIMENTS, mean_regret, spread=0.5)


@pytest.fixture
def few_checks(monkeypatch):
    monkeypatch.setattr(lemmas, "HORIZONS", (300,))
    monkeypatch.setattr(lemmas, "OWN_HORIZONS", {})  # which test_lemmas.py tries
    monkeypatch.setattr(theory, "ONE_HOT_RUNS", 10)
    monkeypatch.setattr(theory, "ONE_HOT_ROUNDS", 800)


def verdicts(**made):
    found = result(**made).joined_with(run(theory.checks(FIGURE.quick_size)))
    return verdicts_of(FIGURE.claims(found))


def test_all_claims_hold_when_it_is_as_the_paper_says(few_checks):
    found = verdicts()
    both = {(name, factor) for name in ("T1", "T4", "T5", "T8") for factor in (2.0, 4.0)}
    assert set(found) == both | {(name, None) for name in ("T2", "T3", "T6", "T7")}
    assert {verdict for (name, _), verdict in found.items() if name not in ("T6", "T7", "T8")} == {HOLDS}


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"n_exponent": 0.7}, "T4"),
        ({"log_k_exponent": 1.0}, "T4"),
        ({"d_exponent": 1.7}, "T4"),
        ({"plain": 106.0}, "T5"),
        ({"plain": 94.0}, "T5"),
    ],
)
def test_claims_fail_when_it_is_otherwise(few_checks, change, claim):
    found = verdicts(**change)
    assert found[claim, 4.0] == found[claim, 2.0] == FAILS


@pytest.mark.heavy
def test_lemmas_that_fail_are_seen(few_checks, monkeypatch):
    sound = lemmas.lemma_trials
    monkeypatch.setattr(lemmas, "lemma_trials", lambda *sizes, **more: sound(*sizes, **more, tightening=4.0))
    found = verdicts()
    assert found["T1", 4.0] == found["T2", None] == FAILS


@pytest.mark.parametrize(("broken", "claim"), [("variance", ("T1", 4.0)), ("ceiling", ("T2", None))])
def test_each_lemma_is_judged_by_its_own_failures(few_checks, monkeypatch, broken, claim):
    monkeypatch.setattr(lemmas, "failures_of", lambda curve: LemmaFailures(0, 0, 2000)._replace(**{broken: 900}))
    tried = made_up(list(lemmas.checks(FIGURE.quick_size)), lambda experiment, label: 1.0)
    judged = {(each.id, each.warm_up): each for each in lemmas.claims(tried)}
    verdicts = {key: each.verdict for key, each in judged.items() if key in (("T1", 4.0), ("T2", None))}
    assert verdicts == {("T1", 4.0): HOLDS, ("T2", None): HOLDS, claim: FAILS}
    assert [each.bound for each in judged["T1", 4.0].details] == [1 / 300]
    assert [each.bound for each in judged["T2", None].details] == [2 / 300]


@pytest.mark.heavy
def test_other_choices_on_one_hot_features_are_seen(few_checks, monkeypatch):
    monkeypatch.setattr(theory, "LinCORe", lambda **given: LinCORe(**{**given, "alpha": 0.61}))
    assert verdicts()["T3", None] == FAILS


def test_regret_is_measured_beyond_the_warm_up():
    growth = growths(result())[0]
    warm_ups = [LinCORe().warm_up_rounds(10, n) for n in (1000, 3162, 10_000, 31_623, 100_000)]
    assert growth.sizes == [
        n - warm_up for n, warm_up in zip((1000, 3162, 10_000, 31_623, 100_000), warm_ups, strict=True)
    ]
    assert growth.regret[2].mean() == pytest.approx(200.0, rel=0.02)
    assert growth.exponent().value == pytest.approx(0.3, abs=0.01)


def test_growth_is_measured_in_all_three_sizes():
    found = {(growth.title, growth.series): growth.sizes for growth in growths(result())}
    assert found["Regret against d", "warm-up 4"] == list(DIMENSIONS)
    assert found["Regret against K", "warm-up 2"] == list(ARM_COUNTS)


def test_other_horizons_are_the_same_problems_and_other_d_and_k_are_not():
    runs = np.random.default_rng(6).gamma(1.0, size=30)
    for title, is_paired in ((AGAINST_N, True), (AGAINST_D, False), (AGAINST_K, False)):
        growth = Growth(title, "", [100.0, 200.0], [runs, 2.0 * runs], [])
        assert (growth.exponent().error == 0.0) == is_paired, title


@pytest.mark.heavy
def test_growth_with_sizes_left_out_gets_a_first_look():
    runs = np.random.default_rng(7).gamma(9.0, size=1_000)
    whole = Growth(AGAINST_D, "warm-up 4", [5.0, 10.0], [runs, 2.0 * runs], [])
    for growth, verdict in ((whole, HOLDS), (whole._replace(left_out=[40.0]), LOOKS[HOLDS])):
        (finding,) = theory._growth_findings([growth], "warm-up 4")
        assert finding.verdict == verdict


def test_one_picture_shows_three_panels():
    (drawing,) = FIGURE.drawings(result())
    titles = [axes.get_title(loc="left") for axes in drawing.figure.axes]
    assert [title for title in titles if title] == ["Regret against n", "Regret against d", "Regret against K"]


def test_each_fitted_exponent_stands_beside_the_theorems():
    (drawing,) = FIGURE.drawings(result())
    shapes = ("sqrt(n), exponent 0.5", "d, exponent 1", "sqrt(log K), exponent 0.5")
    for axes, shape in zip(drawing.figure.axes, shapes, strict=True):
        longer, shorter, bound = (text.get_text() for text in axes.get_legend().get_texts())
        assert longer.startswith("warm-up 4: exponent ")
        assert shorter.startswith("warm-up 2: exponent ")
        assert bound == f"shape of the bound: {shape}"
    assert drawing.figure.axes[0].get_ylabel() == "regret beyond the warm-up"
    assert [axes.get_xlabel() for axes in drawing.figure.axes] == ["rounds after the warm-up", "d", "log K"]


@pytest.mark.heavy
def test_growth_is_called_growth_as_measured(few_checks):
    found = result().joined_with(run(theory.checks(FIGURE.quick_size)))
    (claim, _) = (claim for claim in FIGURE.claims(found) if claim.id == "T4")
    assert "as measured" in claim.claim
    assert [finding.measure for finding in claim.details] == [
        "exponent of regret in rounds after the warm-up as measured (the theorem's: 0.5)",
        "exponent of regret in d as measured (the theorem's: 1)",
        "exponent of regret in log K as measured (the theorem's: 0.5)",
    ]
