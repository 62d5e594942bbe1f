"""Experiments as data: from what is written in JSON to the arguments of an `Experiment`."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from corebandit.catalogue import in_todays_words, known_policies, known_problems, policy_from, problem_from
from corebandit.contracts.errors import BadInput
from corebandit.contracts.own_files import LONGEST_PATH, file_of, give_text, is_own_file, text_of
from corebandit.contracts.recipe import AnyPolicy, Problem, Recipe, undeclared
from corebandit.contracts.validate import check_number, shortened, unknown

MOST_COORDINATES = 2
NEEDED = ("problem", "policies")
OPTIONAL = (
    *("horizon", "horizon_known", "runs", "seed", "regret", "name", "part", "title"),
    *("also_at", "points", "actions", "shown"),
)
FOR_READERS = ("label",)  # of the problem
PLAIN = (bool, int, float, str, type(None))
FILE, FILES = "from file", "files"  # where a recipe of one's own is, path and class; texts of such files by their paths


@dataclass(frozen=True)
class Point:
    """Where a policy stands in a study of parameters: one of a series, at these values.

    `name` is what tables call the place, if not by its value.
    """

    series: str
    at: Mapping[str, float]
    name: str = ""

    def __post_init__(self) -> None:
        """Validate, and make the values plain numbers."""
        if not isinstance(self.series, str) or not isinstance(self.name, str):
            raise BadInput(f"a point must have texts for series and name, not {shortened((self.series, self.name))}")
        if not 1 <= len(self.at) <= MOST_COORDINATES:
            raise BadInput(f"a point must be at one or two parameters, not {shortened(dict(self.at))}")
        plain = {str(name): value.item() if isinstance(value, np.generic) else value for name, value in self.at.items()}
        for name, value in plain.items():
            check_number(name, value)
        object.__setattr__(self, "at", plain)

    def describe(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return {"series": self.series, "at": dict(self.at), **({"name": self.name} if self.name else {})}


def with_files(recipe: Recipe) -> dict[str, Any]:
    """Return the description of a recipe; it, and recipes in it, that come from users' files say from which."""
    table = recipe.describe()
    for field in fields(recipe):
        value = getattr(recipe, field.name)
        if isinstance(value, Recipe) and field.name in table:
            table[field.name] = with_files(value)
    cls = type(recipe)
    if (path := file_of(cls)) and (is_own_file(cls.__module__) or _says_all(recipe)) and _is_made_again(recipe):
        table[FILE] = f"{path}:{cls.__name__}"
    return table


def files_of(tables: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the texts of the files that descriptions of recipes name: on another machine they are not there."""
    texts = {path: text_of(path) for table in tables for path in _paths_in(table)}
    return {path: text for path, text in texts.items() if text}


def _paths_in(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _paths_in(value)
        elif key == FILE:
            yield str(value).rpartition(":")[0]


def _says_all(recipe: Recipe) -> bool:
    """Tell whether a recipe can be made again from its description alone, without arrays and recipes in it."""
    values = (getattr(recipe, field.name) for field in fields(recipe))
    return recipe.can_be_rebuilt and all(isinstance(value, PLAIN) for value in values)


def _is_made_again(recipe: Recipe) -> bool:
    """Tell whether the parameters that a description has make the same recipe."""
    described = recipe.describe()
    try:
        again = type(recipe)(**{name: getattr(recipe, name) for name in described if name != "name"})
    except Exception:  # of others' code, which may raise anything
        return False
    return not undeclared(type(recipe)) and bool(again.describe() == described)


def described_arguments(description: Any, own: Sequence[Recipe] = ()) -> dict[str, Any]:
    """Return the arguments of the experiment that was described, or say what is wrong."""
    if not isinstance(description, Mapping):
        raise BadInput(f"an experiment is a table such as Experiment.to_dict() returns, not {shortened(description)}")
    for key in description:
        if key not in (*NEEDED, *OPTIONAL, *FOR_READERS, FILES):
            raise unknown("key of an experiment", key, (*NEEDED, *OPTIONAL))
    for key in NEEDED:
        if key not in description:
            raise BadInput(f"the experiment has no {key}: it needs {' and '.join(NEEDED)}")
    policies = _table("policies", description["policies"])
    points = _table("points", description.get("points", {}))
    plain = {key: description[key] for key in OPTIONAL if key in description and key != "points"}
    for key in ("name", "part", "title"):
        if not isinstance(plain.get(key, ""), str):
            raise BadInput(f"{key} must be a text, not {shortened(plain[key])}")
    if not isinstance(plain.get("also_at", []), Sequence):
        raise BadInput(f"also_at must be a list of rounds, not {shortened(plain['also_at'])}")
    for path, text in _table(FILES, description.get(FILES, {})).items():
        _take_file(path, text)
    return {
        **plain,
        "problem": _recipe("problem", description["problem"], own),
        "policies": {label: _recipe("policy", policy, own) for label, policy in policies.items()},
        "points": {label: _point(label, point) for label, point in points.items()},
    }


def _table(what: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise BadInput(f"{what} must be a table by name, not {shortened(value)}")
    return dict(value)


def _take_file(path: str, text: Any) -> None:
    """Take the text of a file that came with a description, unless the file is there, which may have changed since."""
    if not isinstance(text, str):
        raise BadInput(f"{FILES} must be texts by their paths, not {shortened(text)}")
    if not Path(path).is_file():
        give_text(path, text)
    elif text_of(path) != text:
        where = shortened(path, LONGEST_PATH)
        warnings.warn(f"{where} has changed since the experiment was described: what is there is used", stacklevel=4)


def _recipe(what: str, description: Any, own: Sequence[Recipe], whole: str = "") -> Any:
    """Return the policy or the problem that was described; or a recipe in it, of which `whole` is the name."""
    table = _table(f"a {what}", description)
    kind = AnyPolicy if what == "policy" else Problem
    for recipe in own:
        if isinstance(recipe, kind) and recipe.is_described_by(in_todays_words(without_files(table), recipe)):
            return recipe
    name = str(table.get("name"))
    for key, value in table.items():
        if isinstance(value, Mapping) and FILE in value:
            table[key] = _recipe(what, value, own, whole or name)
    known: Mapping[str, type[Recipe]] = known_policies() if what == "policy" else known_problems()
    if FILE in table:
        table["name"] = spec = str(table.pop(FILE))
        if not Path(path := spec.rpartition(":")[0]).is_file() and not text_of(path):
            raise BadInput(
                f"there is no file {shortened(path, LONGEST_PATH)} any more to make {shortened(name)} from: put it "
                f"there, or give the {what} as it was, Experiment.from_dict(…, own=[{whole or name}(…)])"
            )
    elif name not in known or not known[name].can_be_rebuilt or _is_digest(known[name], table):
        raise BadInput(
            f"the {what} {shortened(name)} cannot be made from its description, as it is not one of this package, or "
            f"made around an object or data: give it as it was, Experiment.from_dict(…, own=[{whole or name}(…)])"
        )
    return policy_from(in_todays_words(table)) if what == "policy" else problem_from(table)


def _is_digest(recipe: type[Recipe], table: Mapping[str, Any]) -> bool:
    """Tell whether a description has none of the parameters that a recipe needs: of large data it is a digest."""
    return any(field.default is MISSING and field.name not in table for field in fields(recipe))


def without_files(table: Any) -> Any:
    """Return a description that does not say where recipes come from."""
    if not isinstance(table, Mapping):
        return table
    return {key: without_files(value) for key, value in table.items() if key != FILE}


def _point(label: str, point: Any) -> Point:
    try:
        return Point(**point)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        wanted = 'such as {"series": "CORe", "at": {"alpha": 0.4}}'
        raise BadInput(f"the point of {shortened(label)} must be a table {wanted}, not {shortened(point)}") from error
