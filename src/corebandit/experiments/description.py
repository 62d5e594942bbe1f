"""Experiments as data: from what is written in JSON to the arguments of an `Experiment`."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corebandit.catalogue import known_policies, known_problems, policy_from, problem_from
from corebandit.contracts.errors import BadInput
from corebandit.contracts.own_files import is_own_file
from corebandit.contracts.recipe import AnyPolicy, Problem, Recipe
from corebandit.contracts.validate import shortened, unknown

NEEDED = ("problem", "policies")
OPTIONAL = ("horizon", "runs", "seed", "regret", "name", "title", "also_at", "points")
FOR_READERS = ("label", "files")  # the problem's label, and where recipes of one's own are


@dataclass(frozen=True)
class Point:
    """Where a policy stands in a study of parameters: one of a series, at these values.

    `name` is what tables call the place, if not by its value.
    """

    series: str
    at: Mapping[str, float]
    name: str = ""

    def describe(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return {"series": self.series, "at": dict(self.at), **({"name": self.name} if self.name else {})}


def own_files(recipes: Sequence[Recipe]) -> dict[str, str]:
    """Return where the recipes are that were imported from users' files: by name, file and class."""
    modules = {recipe.name: type(recipe) for recipe in recipes if is_own_file(type(recipe).__module__)}
    return {name: f"{sys.modules[cls.__module__].__file__}:{cls.__name__}" for name, cls in modules.items()}


def described_arguments(description: Any, own: Sequence[Recipe] = ()) -> dict[str, Any]:
    """Return the arguments of the experiment that was described, or say what is wrong."""
    if not isinstance(description, Mapping):
        raise BadInput(f"an experiment is a table such as Experiment.to_dict() returns, not {shortened(description)}")
    for key in description:
        if key not in (*NEEDED, *OPTIONAL, *FOR_READERS):
            raise unknown("key of an experiment", key, (*NEEDED, *OPTIONAL))
    for key in NEEDED:
        if key not in description:
            raise BadInput(f"the experiment has no {key}: it needs {' and '.join(NEEDED)}")
    files = _table("files", description.get("files", {}))
    policies = _table("policies", description["policies"])
    points = _table("points", description.get("points", {}))
    plain = {key: description[key] for key in OPTIONAL if key in description and key != "points"}
    for key in ("name", "title"):
        if not isinstance(plain.get(key, ""), str):
            raise BadInput(f"{key} must be a text, not {shortened(plain[key])}")
    if not isinstance(plain.get("also_at", []), Sequence):
        raise BadInput(f"also_at must be a list of rounds, not {shortened(plain['also_at'])}")
    return {
        **plain,
        "problem": _recipe("problem", description["problem"], files, own),
        "policies": {label: _recipe("policy", policy, files, own) for label, policy in policies.items()},
        "points": {label: _point(label, point) for label, point in points.items()},
    }


def _table(what: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise BadInput(f"{what} must be a table by name, not {shortened(value)}")
    return dict(value)


def _recipe(what: str, description: Any, files: Mapping[str, str], own: Sequence[Recipe]) -> Any:
    """Return the policy or the problem that was described."""
    table = _table(f"a {what}", description)
    kind = AnyPolicy if what == "policy" else Problem
    for recipe in own:
        if isinstance(recipe, kind) and recipe.is_described_by(table):
            return recipe
    known: Mapping[str, type[Recipe]] = known_policies() if what == "policy" else known_problems()
    name = str(table.get("name"))
    if name in files:
        table["name"] = files[name]
    elif name not in known or not known[name].can_be_rebuilt:
        raise BadInput(
            f"the {what} {shortened(name)} cannot be made from its description, as it is not one of this package, or "
            f"made around an object: give it as it was, Experiment.from_dict(…, own=[{name}(…)])"
        )
    return policy_from(table) if what == "policy" else problem_from(table)


def _point(label: str, point: Any) -> Point:
    try:
        at = {str(name): float(value) for name, value in point["at"].items()}
        return Point(**{**point, "at": at})
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        wanted = 'such as {"series": "CORe", "at": {"alpha": 0.4}}'
        raise BadInput(f"the point of {shortened(label)} must be a table {wanted}, not {shortened(point)}") from error
