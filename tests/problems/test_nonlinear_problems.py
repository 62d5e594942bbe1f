"""Non-linear functions and classification as bandits: how they are drawn, what they pay, and what is refused."""

import sys

import numpy as np
import pytest
from scipy import stats

import corebandit as cb
from corebandit.catalogue import problem_from
from corebandit.games.feature_game import play_features
from corebandit.games.notes import new_notes
from corebandit.policies import LinTS
from corebandit.problems.classification import _bundled, standardised
from corebandit.randomness.stream import stream, streams

ROWS = [[1.0, 0.0], [0.0, 2.0], [3.0, 1.0], [1.0, 1.0], [0.5, 4.0], [2.0, 2.0], [0.0, 1.0]]
LABELS = [0, 1, 2, 0, 1, 2, 0]
OWN = cb.FixedClassification(ROWS, LABELS)


# Functions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "formula"),
    [
        ("square", lambda matrix, x: 10.0 * (matrix[0] @ x) ** 2),
        ("quadratic", lambda matrix, x: x @ matrix.T @ matrix @ x),
        ("cosine", lambda matrix, x: np.cos(3.0 * matrix[0] @ x)),
    ],
)
def test_means_are_those_of_the_function(function, formula):
    arms, rng, features = cb.NonlinearBandit(function).draw(stream(1)), stream(2), np.zeros((4, 20))
    assert (arms.n_arms, arms.n_features) == (4, 20)
    for current_round in range(1, 6):
        arms.offer(current_round, rng, features)
        for arm, x in enumerate(features):
            assert arms.mean(arm, x) == pytest.approx(formula(arms.matrix, x), rel=1e-12)


def test_theta_has_length_1_and_the_matrix_standard_normal_entries():
    for function in ("square", "cosine"):
        thetas = np.array([cb.NonlinearBandit(function).draw(stream(seed)).matrix for seed in range(200)])
        assert thetas.shape == (200, 1, 20)
        np.testing.assert_allclose(np.linalg.norm(thetas, axis=2), 1.0, rtol=1e-14)
        assert np.abs(thetas.mean(axis=0)).max() < 4.5 / np.sqrt(200 * 20)
    entries = np.array([cb.NonlinearBandit("quadratic").draw(stream(seed)).matrix for seed in range(10)])
    assert entries.shape == (10, 20, 20)
    assert stats.kstest(entries.ravel(), stats.norm.cdf).pvalue > 1e-4


def test_features_are_uniform_on_the_sphere_and_new_in_every_round():
    arms, rng, features = cb.NonlinearBandit(n_arms=6, n_features=3).draw(stream(3)), stream(4), np.zeros((6, 3))
    seen = []
    for current_round in range(1, 301):
        assert arms.offer(current_round, rng, features)
        seen.append(features.copy())
    rows = np.concatenate(seen)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-14)
    assert len(np.unique(rows, axis=0)) == 1800
    for j in range(3):
        assert stats.kstest(rows[:, j], stats.uniform(-1, 2).cdf).pvalue > 1e-4  # Archimedes' hat box


def test_noise_is_gaussian_of_the_given_deviation():
    arms, x = cb.NonlinearBandit("cosine", sigma=0.3).draw(stream(5)), np.eye(20)[0]
    rng = stream(6)
    noise = [arms.pull(0, x, rng) - arms.mean(0, x) for _ in range(5000)]
    assert stats.kstest(noise, stats.norm(0, 0.3).cdf).pvalue > 1e-4


# Classification ---------------------------------------------------------------------------------------------------


def test_the_right_class_pays_1_and_the_row_is_in_the_block_of_each_arm():
    problem = cb.FixedClassification(ROWS, LABELS, standardise=False)
    arms, rng, features = problem.draw(None), stream(7), np.full((3, 6), np.nan)
    assert (arms.n_arms, arms.n_features) == (3, 6)
    for current_round in range(1, 30):
        assert arms.offer(current_round, rng, features)
        row = features[0, :2]
        label = LABELS[ROWS.index(row.tolist())]
        for arm in range(3):
            expected = np.zeros(6)
            expected[2 * arm : 2 * arm + 2] = row
            assert np.array_equal(features[arm], expected)
            assert arms.mean(arm, features[arm]) == arms.pull(arm, features[arm], rng) == (arm == label)


def test_every_pass_shows_all_rows_in_another_order():
    problem = cb.FixedClassification(ROWS, LABELS, standardise=False)
    arms, rng, features = problem.draw(None), stream(8), np.zeros((3, 6))
    passes = []
    for first in range(1, 10 * 7, 7):
        shown = []
        for current_round in range(first, first + 7):
            arms.offer(current_round, rng, features)
            shown.append(int(arms.shown[0]))
        assert sorted(shown) == list(range(7))
        passes.append(tuple(shown))
    assert len(set(passes)) == 10


def test_each_row_comes_first_equally_often():
    arms, features = OWN.draw(None), np.zeros((3, 6))
    firsts = []
    for seed in range(2000):
        arms.offer(1, stream(seed, "first"), features)
        firsts.append(int(arms.shown[0]))
    assert stats.chisquare(np.bincount(firsts, minlength=7)).pvalue > 1e-4


def test_standardised_columns_have_mean_0_and_equal_variance_before_rows_get_length_1():
    rng = np.random.default_rng(9)
    rows = rng.normal(size=(50, 4)) * [1.0, 100.0, 0.01, 0.0] + [5.0, 0.0, 1.0, 7.0]
    scaled = standardised(rows)
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), 1.0)
    columns = (rows - rows.mean(0))[:, :3] / rows.std(0)[:3]
    np.testing.assert_allclose(scaled[:, :3], columns / np.linalg.norm(columns, axis=1, keepdims=True), atol=1e-9)
    assert np.all(scaled[:, 3] == 0.0)


# Both -------------------------------------------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize(
    "problem", [*map(cb.NonlinearBandit, ("square", "quadratic", "cosine")), OWN], ids=lambda problem: problem.label
)
def test_problems_keep_the_contract_and_play_the_same_compiled(problem):
    cb.check_problem(problem, n_pulls=1000)
    regrets = []
    for is_compiled in (True, False):
        instance = problem.draw(stream(10))
        state = LinTS().start(instance.n_arms, instance.n_features, 40, 40)
        regret, rounds = np.zeros(40), np.arange(1, 41)
        play = play_features.prepared(compiled=is_compiled)
        rewards, features = streams(instance.n_arms, 11), np.zeros((instance.n_arms, instance.n_features))
        play(
            state,
            instance,
            stream(12),
            stream(13),
            rewards,
            features,
            rounds,
            -1,
            False,
            regret,
            new_notes(40, instance.n_arms),
        )
        regrets.append(regret)
    np.testing.assert_allclose(*regrets, atol=1e-9)
    assert regrets[0][-1] > 0.0


def test_problems_can_be_named():
    assert problem_from("nonlinear(function=cosine, n_arms=3)") == cb.NonlinearBandit("cosine", n_arms=3)
    assert problem_from("classification(data=wine)") == cb.ClassificationBandit("wine")
    assert problem_from("fixed_classification(rows=[[1, 2], [2, 1]], labels=[0, 1])").draw(None).n_arms == 2


def test_other_data_make_another_problem():
    other = cb.FixedClassification([*ROWS[:-1], [0.0, 1.5]], LABELS)
    assert other.describe() != OWN.describe() != OWN.changed(standardise=False).describe()
    assert len({OWN.label, other.label, OWN.changed(standardise=False).label}) == 3


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: cb.NonlinearBandit("cube"), "function must be 'square' or 'quadratic' or 'cosine', not 'cube'"),
        (lambda: cb.NonlinearBandit(sigma=-1), "sigma must be a number of at least 0, not -1"),
        (lambda: cb.NonlinearBandit(n_features=0), "n_features must be a whole number of at least 1, not 0"),
        (lambda: cb.ClassificationBandit("iris"), "data must be 'digits' or 'breast_cancer' or 'wine', not 'iris'"),
        (lambda: cb.FixedClassification(ROWS, LABELS[1:]), "labels must be 7, one for each row, not of the shape"),
        (lambda: cb.FixedClassification(ROWS, [0, 2] * 3 + [0]), r"whole numbers from 0, each of them there, not \[0"),
        (lambda: cb.FixedClassification(ROWS, [0.5] * 7), r"labels must be whole numbers from 0"),
        (lambda: cb.FixedClassification([[np.nan]] * 7, LABELS), "rows must be finite .* row 0, column 0 is nan"),
        (lambda: cb.FixedClassification(ROWS, LABELS, standardise=1), "standardise must be True or False, not 1"),
    ],
)
def test_bad_parameters_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_without_scikit_learn_one_sentence_says_what_to_install(monkeypatch):
    _bundled.cache_clear()
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ValueError, match="needs scikit-learn, which brings the data: pip install scikit-learn"):
        cb.Experiment(cb.ClassificationBandit("breast_cancer"), [LinTS()])
