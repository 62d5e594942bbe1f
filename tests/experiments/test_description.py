"""Experiments as data, there and back."""

import importlib
import json
import os
import sys

import numpy as np
import pytest

import corebandit as cb
from corebandit.catalogue import is_listed, policy_from
from corebandit.experiments.experiment_file import read_experiments
from corebandit.randomness.stream import stream
from fresh_interpreter import run_python

MINE = """
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np
import corebandit as cb
class MineState(NamedTuple):
    counts: np.ndarray
    def score(self, rng, scores):
        scores[:] = -self.counts
    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
@dataclass(frozen=True)
class Mine(cb.Policy):
    c: float = 1.0
    def start(self, n_arms, horizon, capacity):
        return MineState(np.zeros(n_arms))
"""


def travelled(experiment, **more):
    return cb.Experiment.from_dict(json.loads(json.dumps(experiment.to_dict())), **more)


@pytest.mark.parametrize(
    "made",  # when it runs: who draws a problem compiles it
    [
        lambda: cb.Experiment(cb.BernoulliBandit(), [cb.CORe(), cb.CORe(alpha=0.4)], also_at=[7, 9], regret="realised"),
        lambda: cb.Experiment(
            cb.LinearBandit(rewards="beta"), {"my": cb.LinTS(sigma=1)}, 50, 3, 2, name="a", title="b"
        ),
        lambda: cb.Experiment(cb.YandexLike(query=2), [cb.Ranked(cb.CORe(warm_up=2.0)), cb.TopRank()], horizon=40),
        lambda: cb.Experiment(cb.FixedArms([cb.Bernoulli(0.2), cb.Gaussian(0.4, sigma=0.1)]), [cb.UCB1()]),
        lambda: cb.sweep(cb.BernoulliBandit(), cb.CORe(), {"alpha": [0.2, 0.4], "z": [0.5, 0.6]}, runs=2),
    ],
)
def test_an_experiment_comes_back_as_it_was(made):
    experiment = made()
    again = travelled(experiment)
    assert again == experiment
    assert again.id == experiment.id


def test_a_policy_of_a_users_file_is_found_by_the_file(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    experiment = cb.Experiment(cb.BernoulliBandit(), [policy_from(f"{tmp_path / 'mine.py'}:Mine(c=2)"), cb.UCB1()])
    assert travelled(experiment) == experiment
    assert "from file" not in str(cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()]).to_dict())


def imported_as_any_module(folder, monkeypatch, name="own_module_of_a_test", source=MINE):
    """Import a module as users do, from a folder on their path."""
    path = folder / f"{name.replace('.', '/')}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    monkeypatch.syspath_prepend(folder)
    for part in (name.partition(".")[0], name):
        monkeypatch.delitem(sys.modules, part, raising=False)
    return importlib.import_module(name)


def test_a_policy_that_was_imported_as_any_module_is_found_by_its_file(tmp_path, monkeypatch):
    mine = imported_as_any_module(tmp_path, monkeypatch)
    experiment = cb.Experiment(cb.BernoulliBandit(), [mine.Mine(c=2.0)])
    assert travelled(experiment) == experiment
    description = experiment.to_dict()
    monkeypatch.delitem(sys.modules, mine.__name__)  # elsewhere, nobody has imported it
    (again,) = cb.Experiment.from_dict(description).policies.values()
    assert again.describe() == mine.Mine(c=2.0).describe()


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("package_of_a_test.module", "c: float = 1.0"),  # which may need its neighbours
        ("own_module_of_a_test", "c: cb.Policy = cb.UCB1()"),
        ("own_module_of_a_test", "c: object = len"),
    ],
)
def test_a_policy_that_its_file_may_not_make_again_is_given(tmp_path, monkeypatch, name, field):
    mine = imported_as_any_module(tmp_path, monkeypatch, name, MINE.replace("c: float = 1.0", field)).Mine()
    experiment = cb.Experiment(cb.BernoulliBandit(), {"mine": mine})
    with pytest.raises(cb.BadInput, match=r"cannot be made from its description.*from_dict\(…, own="):
        cb.Experiment.from_dict(experiment.to_dict())
    assert cb.Experiment.from_dict(experiment.to_dict(), own=[mine]) == experiment


def test_policies_of_one_name_come_back_from_their_own_files(tmp_path):
    for name, c in (("a", 1.0), ("b", 2.0)):
        (tmp_path / f"{name}.py").write_text(MINE.replace("c: float = 1.0", f"c: float = {c}"))
    (tmp_path / "c.py").write_text(MINE.replace("class Mine(", "class CORe("))
    own = {name: policy_from(f"{tmp_path / name}.py:Mine") for name in ("a", "b")}
    policies = {**own, "own CORe": policy_from(f"{tmp_path / 'c.py'}:CORe"), "CORe": cb.CORe(alpha=0.4)}
    assert travelled(cb.Experiment(cb.BernoulliBandit(), policies)).policies == policies
    ranked = {"ranked": cb.Ranked(own["a"])}
    assert travelled(cb.Experiment(cb.YandexLike(query=1), ranked, horizon=50)).policies == ranked


UNDECLARED = """
class Shadowing(Mine):
    c: float = 2.0

class Initialised(Mine):
    def __init__(self, d=1.0):
        object.__setattr__(self, "d", d)

class Fixed(Mine):
    def __init__(self):
        super().__init__(c=3.0)

class Constant(Mine):
    SCALE: float = 1.0

class Growing(cb.CORe):
    def __init__(self, growth=1.0, **others):
        super().__init__(growth=growth, **others)
"""


@pytest.mark.parametrize("name", ["Shadowing", "Initialised", "Fixed", "Growing", "Constant"])
def test_only_what_its_description_makes_again_is_taken_from_its_file(name, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE + UNDECLARED)
    policy = policy_from(f"{path}:{name}{'(growth=0.0)' if name == 'Growing' else ''}")
    described = cb.Experiment(cb.BernoulliBandit(), {"mine": policy}).to_dict()["policies"]["mine"]
    assert ("from file" in described) == (name == "Constant")


def test_a_recipe_within_another_whose_file_is_gone_is_given_with_the_whole(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    policy = cb.Ranked(policy_from(f"{path}:Mine"))
    experiment = cb.Experiment(cb.YandexLike(query=1), {"ranked": policy}, horizon=50)
    path.unlink()
    with pytest.raises(cb.BadInput, match=r"no file .*mine.py' any more to make 'Mine' from: .*own=\[Ranked\("):
        travelled(experiment)
    assert travelled(experiment, own=[policy]).policies == {"ranked": policy}


def in_a_file(tmp_path, c="c: float = 1.0"):
    path = tmp_path / "mine.py"
    path.write_text(MINE.replace("c: float = 1.0", c))
    policies = {"mine": policy_from(f"{path}:Mine(c=2)"), "CORe": cb.CORe()}
    return path, cb.Experiment(cb.BernoulliBandit(), policies, horizon=50, runs=2)


def test_a_file_of_the_user_travels_with_the_experiment(tmp_path):
    path, experiment = in_a_file(tmp_path)
    (tmp_path / "study.json").write_text(json.dumps(experiment.to_dict()))
    mine, wanted = experiment.policies["mine"], cb.run(experiment)
    path.unlink()
    again = cb.Experiment.from_dict(json.loads((tmp_path / "study.json").read_text()))
    assert type(again.policies["mine"]) is not type(mine)
    assert again.id == experiment.id
    result = cb.run(again, folder=tmp_path / "chunks")
    assert result.frame.equals(wanted.frame)
    assert result.experiments == wanted.experiments, "it travels on"
    travels_on = cb.Experiment.from_dict(result.experiments[0])
    assert travels_on == again, "one file makes one class"


@pytest.mark.heavy
def test_runs_of_a_file_that_travelled_are_found_again_by_other_processes(tmp_path):
    path, experiment = in_a_file(tmp_path)
    file = tmp_path / "study.json"
    file.write_text(json.dumps(experiment.to_dict()))
    path.unlink()
    script = f"""
import corebandit as cb
from corebandit.experiments.experiment_file import read_experiments
cb.run(read_experiments({str(file)!r}), folder={str(tmp_path / "chunks")!r})
"""
    for _ in range(2):
        run_python(script, tmp_path, NUMBA_CACHE_DIR=os.environ.get("NUMBA_CACHE_DIR", ""))
    assert len(list((tmp_path / "chunks").iterdir())) == 2


def test_a_file_that_has_changed_since_is_used_and_said(tmp_path):
    path, experiment = in_a_file(tmp_path)
    description = experiment.to_dict()
    path.write_text(MINE + "# edited")
    with pytest.warns(UserWarning, match="mine.py' has changed since the experiment was described: what is there is"):
        cb.Experiment.from_dict(description)


def test_a_file_that_travelled_and_cannot_be_imported_is_a_sentence(tmp_path):
    path, experiment = in_a_file(tmp_path)
    description = experiment.to_dict()
    path.unlink()
    for text, sentence in (("import nowhere", "No module named 'nowhere'"), ("a b", "invalid syntax"), (5, "texts by")):
        with pytest.raises(cb.BadInput, match=sentence):
            cb.Experiment.from_dict({**description, "files": {str(path): text}})


def test_what_no_description_can_make_is_given():
    class Estimator:
        def fit(self, x, y):
            return self

        def predict(self, x):
            return x[:, 0]

    policy = cb.EstimatorCORe(Estimator())
    problem = cb.LinearBandit().draw(stream(1))
    experiment = cb.Experiment(problem, [policy], horizon=50, runs=2)
    for own in ([], [experiment.problem], [policy]):
        with pytest.raises(cb.BadInput, match=r"cannot be made from its description.*from_dict\(…, own="):
            travelled(experiment, own=own)
    again = travelled(experiment, own=[policy, experiment.problem])
    assert again.problem is experiment.problem
    assert again.describe() == experiment.describe()


def test_an_instance_is_given_as_it_was():
    instance = cb.BernoulliBandit().draw(stream(1))
    experiment = cb.Experiment(instance, [cb.UCB1()], horizon=50, runs=2)
    assert travelled(experiment, own=[instance]).describe() == experiment.describe()
    for own in (instance, cb.UCB1(), 5):
        with pytest.raises(cb.BadInput, match="own must be a list of policies and problems, not"):
            travelled(experiment, own=own)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"horizont": 5}, "unknown key of an experiment 'horizont': did you mean 'horizon'"),
        ({"policies": ["CORe"]}, "policies must be a table by name"),
        ({"policies": {"CORe": {"name": "Core2"}}}, "the policy 'Core2' cannot be made from its description"),
        ({"policies": {"CORe": {"name": "CORe", "alpha": -1}}}, "alpha must be"),
        ({"policies": {"CORe": {"name": "CORe", "beta": 1}}}, "unknown parameter of CORe 'beta'"),
        ({"policies": {"CORe": {"name": []}}}, "cannot be made"),
        ({"policies": {}}, "at least one policy"),
        ({"problem": 3}, "a problem must be a table by name, not 3"),
        ({"horizon": "long"}, "horizon must be a whole number"),
        ({"runs": 0}, "runs must be a whole number of at least 1"),
        ({"also_at": 5}, "also_at must be a list of rounds, not 5"),
        ({"also_at": ["x"]}, "also_at must be"),
        ({"points": {"CORe": 5}}, "the point of 'CORe' must be a table such as"),
        ({"points": {"CORe": {"series": "a", "at": {"x": "y"}}}}, "the point of 'CORe' must be a table such as"),
        ({"name": 5}, "name must be a text, not 5"),
        ({"policies": {"CORe": {"name": "CORe", "from file": "nowhere.py:CORe"}}}, "there is no file"),
        ({"points": {"CORe": {"series": "a", "at": {}}}}, "the point of 'CORe' must be a table such as"),
        ({"points": {"Core": {"series": "a", "at": {"x": 1}}}}, "points must be of policies that are compared"),
    ],
)
def test_a_mistake_is_named(change, sentence):
    description = cb.Experiment(cb.BernoulliBandit(), [cb.CORe()], horizon=50, runs=2).to_dict()
    with pytest.raises(cb.BadInput, match=sentence):
        cb.Experiment.from_dict({**description, **change})


def test_what_is_missing_is_named():
    with pytest.raises(cb.BadInput, match="the experiment has no policies"):
        cb.Experiment.from_dict({"problem": {"name": "bernoulli"}})
    with pytest.raises(cb.BadInput, match=r"an experiment is a table such as Experiment\.to_dict\(\) returns, not 5"):
        cb.Experiment.from_dict(5)


def test_a_saved_result_is_run_again_to_the_same_numbers(tmp_path):
    arms = cb.Experiment(cb.BernoulliBandit(), [cb.CORe(), cb.UCB1()], horizon=100, runs=3, name="arms")
    swept = cb.sweep(cb.GaussianBandit(), cb.UCB1(), {"sigma": [0.2, 0.5]}, horizon=100, runs=3)
    result = cb.run([arms, swept])
    result.save(tmp_path)
    again = cb.run(read_experiments(tmp_path / "experiments.json"))
    assert again.frame.equals(result.frame)
    assert again.experiments == result.experiments
    longer = read_experiments(tmp_path / "experiments.json", runs=5, seed=1)
    assert [(each.runs, each.seed, each.horizon) for each in longer] == [(5, 1, 100)] * 2
    (tmp_path / "one.json").write_text(json.dumps(arms.to_dict()))
    assert read_experiments(tmp_path / "one.json") == [arms]


@pytest.mark.parametrize("content", ["[]", "5", "{", '{"experiments": 5}', "[[]]", "[" * 100_000, "null"])
def test_a_file_that_describes_no_experiment_is_a_sentence(content, tmp_path):
    (tmp_path / "experiments.json").write_text(content)
    with pytest.raises(cb.BadInput, match=r"experiments\.json"):
        read_experiments(tmp_path / "experiments.json")


def test_measures_of_a_policy_are_kept_saved_and_loaded(tmp_path):
    class Counting(cb.UCB1):
        def measures(self, state):
            return {"pulls of the first arm": state.counts[0]}

    experiment = cb.Experiment(cb.BernoulliBandit(), {"it": Counting(), "other": cb.UCB1()}, horizon=100, runs=12)
    result = cb.run(experiment)
    frame = result.measures()
    assert frame.columns == ["experiment", "part", "problem", "policy", "run", "measure", "value"]
    assert frame["policy"].unique().to_list() == ["it"]
    assert frame["run"].to_list() == list(range(12))
    assert (frame["value"].to_numpy() >= 1).all()
    assert np.unique(frame["value"]).size > 3
    result.save(tmp_path)
    assert cb.Result.load(tmp_path).measures().equals(frame)


def test_numbers_of_numpy_are_numbers(tmp_path):
    experiment = cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], 50, 2, also_at=np.arange(3, 6))
    swept = cb.sweep(cb.GaussianBandit(), cb.CORe(), {"warm_up": np.arange(1, 3)}, horizon=50, runs=2)
    cb.run([experiment, swept]).save(tmp_path)
    assert travelled(experiment) == experiment
    assert read_experiments(tmp_path / "experiments.json") == [experiment, swept]


@pytest.mark.parametrize("change", [{"policies": {1: cb.UCB1()}}, {"name": 5}, {"title": 5}])
def test_names_are_texts(change):
    with pytest.raises(cb.BadInput, match="text"):
        cb.Experiment(**{"problem": cb.BernoulliBandit(), "policies": [cb.UCB1()], **change})


def test_data_that_are_described_by_a_digest_are_given_and_do_not_travel():
    problem = cb.FixedClassification([[1.0, 2.0], [2.0, 1.0], [0.0, 3.0]], labels=[0, 1, 0])
    experiment = cb.Experiment(problem, [cb.LinCORe()], horizon=50)
    assert not is_listed(problem)
    with pytest.raises(cb.BadInput, match="cannot be made from its description"):
        travelled(experiment)
    assert travelled(experiment, own=[problem]) == experiment


@pytest.mark.parametrize("measured", [{"a": "b"}, {5: 1.0}, {"a\0b": 1.0}, None, {"a": np.zeros(3)}])
def test_measures_that_are_no_numbers_by_name_are_refused(measured):
    class Odd(cb.UCB1):
        def measures(self, state):
            return measured

    with pytest.raises(cb.BadInput, match="measure"):
        cb.run(cb.Experiment(cb.BernoulliBandit(), {"it": Odd()}, horizon=50, runs=2))
