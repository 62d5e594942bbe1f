"""Estimators as people bring them: checked, copied, named, described, found by path."""

import json
import subprocess
import sys
from functools import lru_cache, partial, wraps
from pathlib import Path
from types import MethodType

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import corebandit as cb
from corebandit.catalogue import policy_from
from corebandit.policies.models.estimators import (
    RidgeRegression,
    checked_estimator,
    definitions,
    description,
    free_random_states,
    spelled,
    versions,
)


class Mine:
    """A user's estimator, of no library."""

    def __init__(self, k=3, scale=np.log1p):
        self.k, self.scale = k, scale

    def fit(self, X, y):
        self.mean = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean)


def test_ridge_regression_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    X, y, weights = rng.normal(size=(30, 4)), rng.normal(size=30), rng.integers(1, 5, 30).astype(float)
    for options in ({}, {"sample_weight": weights}):
        ours, theirs = (model.fit(X, y, **options) for model in (RidgeRegression(lam=2.0), Ridge(alpha=2.0)))
        assert np.allclose(ours.predict(X), theirs.predict(X), atol=1e-10)


@pytest.mark.parametrize(
    ("estimator", "label"),
    [
        (Ridge(), "Ridge"),
        (Ridge(alpha=2), "Ridge(alpha=2)"),
        (Ridge(alpha=np.float64(2.0)), "Ridge(alpha=2.0)"),
        (make_pipeline(StandardScaler(), Ridge(alpha=2)), "Pipeline(steps=[StandardScaler, Ridge(alpha=2)])"),
        (FunctionTransformer(np.log1p), "FunctionTransformer(func=log1p)"),
        (Mine(), "Mine"),
        (Mine(k=5), "Mine(k=5)"),
        (RidgeRegression(lam=2.0), "RidgeRegression(lam=2.0)"),
    ],
)
def test_an_estimator_is_named_by_what_is_not_at_its_default(estimator, label):
    assert spelled(estimator) == label


def everything_different():
    """Return estimators that all do something else."""
    return [
        Ridge(),
        Ridge(alpha=2),
        Ridge(alpha=np.inf),
        make_pipeline(StandardScaler(), Ridge()),
        make_pipeline(StandardScaler(), Ridge(alpha=2)),
        make_pipeline(StandardScaler(with_mean=False), Ridge()),
        make_pipeline(SimpleImputer(missing_values=np.nan), Ridge()),
        make_pipeline(FunctionTransformer(np.log1p), Ridge()),
        make_pipeline(FunctionTransformer(np.exp), Ridge()),
        make_pipeline(FunctionTransformer(np.cumsum), Ridge()),
        make_pipeline(FunctionTransformer(partial(np.clip, a_min=0, a_max=1)), Ridge()),
        make_pipeline(FunctionTransformer(partial(np.clip, a_min=0, a_max=2)), Ridge()),
        RandomForestRegressor(random_state=np.random.RandomState(1)),
        RandomForestRegressor(random_state=np.random.RandomState(2)),
        Mine(),
        Mine(k=5),
        Mine(scale=np.exp),
        Mine(scale=[1, 2]),
        Mine(scale={1.0, 2.0}),
        Mine(scale={"a": (1, 2)}),
        RidgeRegression(),
    ]


def test_a_description_is_json_and_tells_estimators_apart():
    described = [json.dumps(description(estimator)) for estimator in everything_different()]
    assert len(set(described)) == len(described)
    assert described == [json.dumps(description(estimator)) for estimator in everything_different()]
    for text, estimator in zip(described, everything_different(), strict=True):
        assert json.loads(text) == description(estimator)


def times(k):
    """Return one of many functions of the same name."""

    def scaled(X):
        return k * X

    return scaled


def described_wrapper(function):
    @wraps(function)
    def wrapper(X):
        return function(X)

    return wrapper


def model_of(k):
    """Return one of many classes of the same name."""

    class Model(Mine):
        def predict(self, X):
            return k * super().predict(X)

        @property
        def doubled(self):
            return 2 * k

    return Model()


def recursive(last):
    def falling(n):
        return last if n == 0 else falling(n - 1)

    return falling


def with_an_empty_cell():
    def reader(X):
        return never_set

    if reader is None:
        never_set = 0
    return reader


def with_attribute(scale):
    def function(X):
        return X

    function.scale = scale
    return function


def functions_that_differ():
    """Return functions that all do something else, many of them of the same name."""
    return [
        lambda X: X,
        lambda X: 0 * X,
        lambda X: 0.0 * X,
        lambda X: -0.0 * X,
        lambda X: 1j * X,
        lambda X: 2j * X,
        lambda X: X == b"a",
        lambda X: X == b"b",
        lambda X: X.real,
        lambda X: X.imag,
        lambda X: [x for x in X if x > 1],
        lambda X: [x for x in X if x > 2],
        lambda X: X in {1, 2},
        lambda X: X in {1, 3},
        lambda X, k=1: k * X,
        lambda X, k=2: k * X,
        lambda X, *, k=1: k * X,
        lambda X, *, k=2: k * X,
        times(1),
        times(2),
        times(np.arange(2)),
        times(np),
        times(sys),
        times(times(1)),
        times(times(2)),
        partial(times(1)),
        partial(times(2)),
        lru_cache(times(1)),
        lru_cache(times(2)),
        described_wrapper(times(1)),
        described_wrapper(times(2)),
        np.vectorize(times(1)),
        np.vectorize(times(2)),
        MethodType(lambda self, X: X, 1),
        MethodType(lambda self, X: 2 * X, 1),
        Mine(k=1).predict,
        Mine(k=2).predict,
        Mine(k=2).fit,
        model_of(1),
        model_of(2),
        model_of(2).predict,
        recursive(1),
        recursive(2),
        with_an_empty_cell(),
        with_attribute(1),
        with_attribute(2),
        np.add,
        np.cumsum,
        len,
        str.upper,
    ]


def test_functions_are_told_apart_by_their_contents():
    described = [json.dumps(description(function)) for function in functions_that_differ()]
    assert len(set(described)) == len(described)
    assert described == [json.dumps(description(function)) for function in functions_that_differ()]
    assert not any(" at 0x" in text for text in described)


@pytest.mark.heavy
def test_a_description_of_functions_is_the_same_in_another_process():
    code = f"import json, {__name__} as t; print(json.dumps([t.description(f) for f in t.functions_that_differ()]))"
    finished = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=Path(__file__).parents[3]
    )
    assert json.loads(finished.stdout) == [description(function) for function in functions_that_differ()]


def test_a_library_s_function_is_known_by_its_name():
    assert description(rbf_kernel) == "sklearn.metrics.pairwise.rbf_kernel"


def with_function(function):
    """Return a policy around a pipeline that begins with a function."""
    return cb.EstimatorCORe(make_pipeline(FunctionTransformer(function), Ridge(alpha=1e-3)), warm_up=0.3)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("one", "other"), [(lambda X: X, lambda X: 0 * X), (times(1.0), times(0.0))], ids=["lambdas", "closures"]
)
def test_two_functions_of_one_file_keep_their_own_results(one, other, tmp_path):
    policies = {"one": with_function(one), "other": with_function(other)}
    assert policies["one"] != policies["other"]
    assert policies["one"] == with_function(one)
    problem = cb.LinearBandit(n_arms=8, n_features=3)
    experiment = cb.Experiment(problem, policies, horizon=80, runs=1, seed=1)
    played = cb.run(experiment)
    for _ in range(2):  # played and stored, then found
        stored = cb.run(experiment, folder=tmp_path)
        for label in policies:
            assert np.array_equal(stored.regret(label), played.regret(label))
    assert not np.array_equal(played.regret("one"), played.regret("other"))
    assert len(list(tmp_path.glob("*.chunk"))) == 2


def test_an_agent_is_not_loaded_with_another_function(tmp_path):
    agent = cb.Agent(with_function(lambda X: X), arms=["a", "b"], seed=1)
    for arm in ("a", "b"):
        agent.observe(arm, reward=1.0, x=[1.0, 2.0])
    agent.save(tmp_path / "agent.json")
    cb.Agent.load(tmp_path / "agent.json", with_function(lambda X: X))
    with pytest.raises(ValueError, match=r"the one that was saved, but estimator\..*\.func was .*<locals>"):
        cb.Agent.load(tmp_path / "agent.json", with_function(lambda X: 0 * X))


def test_a_description_names_class_and_parameters():
    found = description(make_pipeline(StandardScaler(), Ridge(alpha=2)))
    assert found["class"] == "sklearn.pipeline.Pipeline"
    name, ridge = found["parameters"]["steps"][1]
    assert (name, ridge["class"]) == ("ridge", "sklearn.linear_model._ridge.Ridge")
    assert ridge["parameters"]["alpha"] == 2
    assert versions(Ridge()) == {"sklearn": sys.modules["sklearn"].__version__}
    assert description(Mine(k=4))["parameters"]["k"] == 4


def test_an_object_that_holds_itself_can_be_described():
    mine = Mine()
    mine.k = [mine]
    assert description(mine)["parameters"]["k"] == ["itself"]


def test_classes_and_functions_inside_are_found():
    def double(X):
        return 2 * X

    assert {double, Ridge, StandardScaler} <= definitions(
        make_pipeline(StandardScaler(), FunctionTransformer(double), Ridge())
    )
    assert Mine in definitions(Mine())


def test_what_was_fitted_is_not_copied():
    ridge = Ridge().fit([[1.0], [2.0]], [1.0, 2.0])
    assert not hasattr(checked_estimator(ridge), "coef_")
    assert hasattr(ridge, "coef_")


def test_random_states_that_nobody_set_are_found_however_deep():
    free = make_pipeline(StandardScaler(), RandomForestRegressor())
    assert free_random_states(free) == ["randomforestregressor__random_state"]
    assert free_random_states(RandomForestRegressor(random_state=0)) == []
    assert free_random_states(Mine()) == []


@pytest.mark.parametrize(
    ("path", "estimator"),
    [
        ("sklearn.linear_model:Ridge", Ridge()),
        (" sklearn.linear_model : Ridge(2.0, fit_intercept=False) ", Ridge(2.0, fit_intercept=False)),
        (
            "sklearn.ensemble:GradientBoostingRegressor(n_estimators=50)",
            GradientBoostingRegressor(n_estimators=50),
        ),
        ("corebandit.policies.models.estimators:RidgeRegression(lam=2.0)", RidgeRegression(lam=2.0)),
    ],
)
def test_a_path_names_an_estimator(path, estimator):
    assert description(checked_estimator(path)) == description(estimator)


OWN_FILE = """
from sklearn.linear_model import Ridge

made = Ridge(alpha=3.0)
neither = 7

class Nearest:
    def __init__(self, k=10):
        self.k = k

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]

def ridge(alpha):
    return Ridge(alpha=alpha)

class Callable(Nearest):
    def __call__(self):
        raise AssertionError("an estimator is not called")

called = Callable(k=3)
"""


def test_a_path_names_an_estimator_in_a_file_of_the_users(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(OWN_FILE)
    assert checked_estimator(f"{tmp_path / 'mine.py'}:Nearest(k=5)").k == 5
    monkeypatch.chdir(tmp_path)
    assert spelled(checked_estimator("mine.py:made")) == "Ridge(alpha=3.0)"
    assert checked_estimator("mine.py:called").k == 3
    assert spelled(checked_estimator("mine.py:ridge(alpha=4.0)")) == "Ridge(alpha=4.0)"
    assert policy_from("EstimatorCORe('mine.py:Nearest(k=5)', refit=3)").label == "EstimatorCORe(Nearest(k=5), refit=3)"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("mine.py:nothing", "mine.py has nothing 'nothing' with fit and predict"),
        ("mine.py:neither", "mine.py has nothing 'neither' with fit and predict"),
        ("mine.py:made(alpha=2.0)", "made is one already, and takes no parameters"),
        ("absent.py:Nearest", "there is no file 'absent.py' to read the estimator from"),
        ("mine:Nearest", "a file of yours is written as 'mine.py:...'"),
    ],
)
def test_what_is_no_estimator_in_a_file_is_refused_in_one_sentence(path, sentence, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(OWN_FILE)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="estimator") as refusal:
        checked_estimator(path)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (Ridge, "must be an object such as Ridge(...), not the class itself"),
        (StandardScaler(), "but StandardScaler has no predict"),
        (3, "but int has no fit"),
        (RidgeClassifier(alpha=2), "a classifier that has predict_proba, which RidgeClassifier(alpha=2) has not"),
        (make_pipeline(StandardScaler(), RidgeClassifier()), "which Pipeline"),
        (Mine(k=(i for i in [])), "one that can be copied, but Mine(k=<genexpr>) cannot"),
        ("Ridge", "must be written as 'sklearn.linear_model:Ridge(alpha=2.0)' or 'mine.py:Mine()', not 'Ridge'"),
        ("sklearn.linear_model:Ridge(alpha=open('x'))", "numbers, strings and lists of them as parameters"),
        ("sklearn.linear_model:Ridge(1)(2)", "numbers, strings and lists of them as parameters"),
        ("sklearn.linear_model:Ridge(beta=1)", "cannot be made: "),
        ("sklearn.linear_model:Rigde", "sklearn.linear_model has no class 'Rigde' with fit and predict"),
        ("os:system('true')", "os has no class 'system' with fit and predict"),
        ("sklearn.nothing:Ridge", "the module 'sklearn.nothing' cannot be imported"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_estimator_is_refused_in_one_sentence(estimator, sentence):
    with pytest.raises(ValueError, match="estimator") as refusal:
        checked_estimator(estimator)
    assert sentence in str(refusal.value)


def test_without_scikit_learn_a_path_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ValueError, match="scikit-learn is not installed: pip install scikit-learn"):
        checked_estimator("sklearn.linear_model:Ridge")
