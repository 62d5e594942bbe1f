"""What recipes say of themselves: it seeds streams and names stored results and saved agents, so it must not move."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corebandit as cb
from corebandit.agents.codec import Source, policy_from_json
from corebandit.catalogue import in_todays_words, known_policies, known_problems, policy_from, problem_from, signature
from corebandit.clicks import CM, write_models
from corebandit.contracts.recipe import Recipe, added_after_0_4

PROMISED = json.loads(Path(__file__).with_name("recipes_0_4.json").read_text())
WHAT_TO_DO = (
    "{} describes itself otherwise than in version 0.4. That gives problems other random numbers and orphans stored "
    "results and saved agents: declare a parameter that is new with added_after_0_4(default), of contracts/recipe.py"
)


@dataclass(frozen=True)
class Kettle(Recipe):
    """A recipe that got parameters after 0.4."""

    litres: float = 1.0
    whistle: float = added_after_0_4(2.0)
    lids: tuple[int, ...] = added_after_0_4((1, 2))


@dataclass(frozen=True)
class Samovar(Kettle):
    """A recipe around another; it got one, too, and whoever made it from positions still can."""

    inner: Kettle = Kettle()
    pot: Kettle = added_after_0_4(Kettle())


@dataclass(frozen=True)
class Later(cb.CORe):
    """A policy of today's that got a parameter."""

    patience: int = added_after_0_4(3)


def test_a_later_parameter_goes_unsaid_while_it_has_its_default():
    for kettle in (Kettle(), Kettle(whistle=2), Kettle(lids=[1, 2])):
        assert kettle.describe() == {"name": "Kettle", "litres": 1.0}
    assert Kettle(whistle=3).describe() == {"name": "Kettle", "litres": 1.0, "whistle": 3.0}
    assert (Kettle().label, Kettle(whistle=3).label) == ("Kettle", "Kettle(whistle=3.0)")
    assert Kettle().changed(whistle=3) == Kettle(whistle=3)


def test_a_later_parameter_goes_unsaid_in_recipes_within_recipes():
    inner = {"name": "Kettle", "litres": 1.0}
    assert Samovar().describe() == {"name": "Samovar", "litres": 1.0, "inner": inner}
    assert Samovar(pot=Kettle(whistle=2)).describe() == Samovar().describe()
    assert Samovar(pot=Kettle(whistle=3)).describe()["pot"] == {**inner, "whistle": 3.0}
    assert Samovar(inner=Kettle(whistle=3)).describe()["inner"] == {**inner, "whistle": 3.0}


def test_a_later_parameter_moves_no_position():
    assert Samovar(2.0, Kettle(3.0)).inner == Kettle(3.0)
    assert signature(Samovar).startswith("litres=1.0, inner=Kettle, whistle=2.0")


def test_descriptions_from_before_a_parameter_came_are_still_of_the_policy(tmp_path):
    before, source = {**cb.CORe().describe(), "name": "Later"}, Source("data", "from_dict", "data", {})
    assert Later().describe() == before
    assert Later().is_described_by(before)
    assert not Later(patience=4).is_described_by(before)
    assert policy_from_json(before, Later(), source) == Later()
    with pytest.raises(ValueError, match="patience was None, is 4"):
        policy_from_json(before, Later(patience=4), source)
    for policy in (Later(), Later(patience=4)):
        agent = cb.Agent(policy, arms=["left", "right"])
        agent.save(tmp_path / "agent.json")
        assert cb.Agent.load(tmp_path / "agent.json", policy=policy).policy == policy
        assert Later(**{key: value for key, value in policy.describe().items() if key != "name"}) == policy


def test_the_promise_is_of_all_recipes_there_were():
    assert {spec.split("(")[0] for spec in PROMISED["policies"]} <= set(known_policies())
    assert {spec.split("(")[0] for spec in PROMISED["problems"]} <= set(known_problems())


@pytest.mark.parametrize("spec", PROMISED["policies"])
def test_a_policy_describes_itself_as_in_0_4(spec):
    policy = policy_from(spec)
    promised = PROMISED["policies"][spec]
    today = in_todays_words(promised)
    assert policy.is_described_by(today), WHAT_TO_DO.format(policy.name)  # versions of libraries may move on
    assert [key for key in policy.describe() if key in promised] == list(promised), WHAT_TO_DO.format(policy.name)


@pytest.mark.parametrize("spec", PROMISED["problems"])
def test_a_problem_describes_itself_as_in_0_4(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_models("models.json", {"tea": {"CM": CM([0.4, 0.2, 0.1])}})
    problem = problem_from(spec)
    assert json.dumps(problem.describe()) == json.dumps(PROMISED["problems"][spec]), WHAT_TO_DO.format(problem.name)


@dataclass(frozen=True)
class Weighted(cb.Policy):
    weights: Any = None


def test_a_parameter_may_be_an_array():
    weighted = Weighted(np.array([1.0, 2.0]))
    assert weighted.label == "Weighted(weights=[1.0, 2.0])"
    assert weighted.describe() == {"name": "Weighted", "weights": [1.0, 2.0]}
