"""What neural policies do where PyTorch is not installed: everything but play."""

import sys
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import corebandit as cb
from corebandit.catalogue import neural_policies, policy_from
from corebandit.cli import app
from playing import keys_of

every_neural_policy = pytest.mark.parametrize("recipe", neural_policies().values(), ids=lambda recipe: recipe.name)


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)


@every_neural_policy
def test_one_sentence_says_what_to_install(recipe, no_torch):
    install = r"pip install torch \(with uv: uv pip install torch\); for a CPU-only build"
    with pytest.raises(ValueError, match=rf"^{recipe.name} needs PyTorch: {install}"):
        cb.Experiment(cb.NonlinearBandit(), [recipe()])
    with pytest.raises(ValueError, match=f"^{recipe.name} needs PyTorch"):
        cb.Agent(recipe(), ["a", "b"])


@every_neural_policy
def test_recipes_can_be_named_and_described(recipe, no_torch):
    assert policy_from(f"{recipe.name}(hidden=7)") == recipe(hidden=7)
    assert recipe(**{key: value for key, value in recipe(lr=0.1).describe().items() if key != "name"}) == recipe(lr=0.1)


@every_neural_policy
def test_results_are_kept_under_the_version_of_pytorch_and_agents_are_not(recipe, monkeypatch):
    keys, descriptions = set(), []
    for version in ("2.0.0", "2.0.0", "2.1.0"):
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__=version))
        experiment = cb.Experiment(cb.NonlinearBandit(), {"it": recipe(hidden=3)}, horizon=50, runs=1)
        keys |= keys_of(experiment)
        descriptions.append(recipe(hidden=3).describe())
    assert len(keys) == 2
    assert recipe(hidden=3).is_described_by(descriptions[0])
    assert descriptions[0] == descriptions[2]


def test_the_study_says_in_one_sentence_what_it_needs(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for module in ("torch", "sklearn"):
        monkeypatch.setitem(sys.modules, module, None)
    result = CliRunner().invoke(app, ["reproduce", "neural", "--quick"])
    assert result.exit_code == 2
    sentence = "Error: the study 'neural' needs PyTorch and scikit-learn: pip install torch scikit-learn (with uv: "
    assert result.output.replace("\n", " ").strip() == f"{sentence}uv pip install torch scikit-learn)"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: cb.NeuralCORe(alpha=-1), "alpha must be a number of at least 0, not -1"),
        (lambda: cb.NeuralCORe(z=1), "z must be a number above 0 and below 1, not 1"),
        (lambda: cb.NeuralCORe(hidden=0), "hidden must be a whole number of at least 1, not 0"),
        (lambda: cb.NeuralCORe(optimiser="lbfgs"), "optimiser must be 'adam' or 'sgd', not 'lbfgs'"),
        (lambda: cb.NeuralCORe(device="tpu"), "device must be 'cpu' or 'auto', not 'tpu'"),
        (lambda: cb.NeuralCORe(standardise=1), "standardise must be True or False, not 1"),
        (lambda: cb.NeuralEnsemble(members=0), "members must be a whole number of at least 1, not 0"),
        (lambda: cb.NeuralUCB(lr=0), "lr must be a number above 0, not 0"),
        (lambda: cb.NeuralUCB(lam=0), "lam must be a number above 0, not 0"),
        (lambda: cb.NeuralTS(nu=-1), "nu must be a number of at least 0, not -1"),
        (lambda: cb.NeuralTS(train_every=0), "train_every must be a whole number of at least 1, not 0"),
    ],
)
def test_bad_parameters_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
