"""Experiments from a TOML file that a user writes, or from the `experiments.json` that a report left.

    horizon = 5000
    runs = 50
    problems = ["bernoulli", "gaussian(sigma=0.2)"]
    policies = ["CORe", "BernoulliTS", { name = "CORe", alpha = 0.4, label = "CORe, small" }]

Every policy meets every problem. A key that does not exist is an error, with the nearest one that does.

A JSON file holds what `Experiment.to_dict` returned: one experiment, a list of them, or a table with such a list.
"""

import json
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corebandit.catalogue import policy_from, problem_from
from corebandit.contracts.errors import BadInput, DamagedFile
from corebandit.contracts.recipe import AnyPolicy
from corebandit.contracts.validate import shortened, unknown
from corebandit.experiments.experiment import Experiment

LONGEST_NAME = 200  # bytes: file systems take 255


NEEDED = {"problems": '["bernoulli"]', "policies": '["CORe"]'}  # lists of specs, with an example
OPTIONAL = ("horizon", "horizon_known", "runs", "seed", "regret", "actions")  # as arguments of Experiment


def read_experiments(path: str | os.PathLike[str], **changes: int | None) -> list[Experiment]:
    """Return the experiments a file describes; `changes` (horizon, runs, seed) win over the file."""
    path = Path(path)
    given = {key: value for key, value in changes.items() if value is not None}
    is_json = path.suffix.lower() == ".json"
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if is_json else tomllib.loads(text)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:  # not in that language, no text, or a number of thousands of digits
        raise DamagedFile(f"{path} is not a {'JSON' if is_json else 'TOML'} file: {error}") from error
    except RecursionError:
        raise DamagedFile(f"{path} is nested too deep for an experiment") from None
    try:
        return _described(content, given) if is_json else _written(content, path.stem, given)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
    except RecursionError:
        raise DamagedFile(f"{path} is nested too deep for an experiment") from None


def name_of(experiments: Sequence[Experiment], path: Path) -> str:
    """Return what experiments of a file are called together, a plain name: theirs if it is one, or the file's."""
    names = {experiment.name for experiment in experiments}
    return names.pop() if len(names) == 1 and all(map(_is_plain, names)) else path.stem


def _written(content: dict[str, Any], stem: str, given: dict[str, int]) -> list[Experiment]:
    """Return the experiments that a user wrote, one a problem."""
    for key in content:
        if key not in (*NEEDED, *OPTIONAL, "name"):
            raise unknown("key", key, (*NEEDED, *OPTIONAL, "name"))
    for key, example in NEEDED.items():
        if key not in content:
            raise BadInput(f"{key} is missing, for instance {key} = {example}")
        specs = content[key]
        if not isinstance(specs, list) or not all(isinstance(spec, str | dict) for spec in specs):
            raise BadInput(f"{key} must be a list of texts and tables, such as {example}, not {shortened(specs)}")
    if not content["problems"]:
        raise BadInput('problems must name at least one problem, such as "bernoulli"')
    name = content.get("name", stem)
    if not isinstance(name, str) or not _is_plain(name):
        raise BadInput(f"name must be a plain name, as results go to a folder of that name, not {shortened(name)}")
    policies = _labelled(content["policies"])
    more = {key: content[key] for key in OPTIONAL if key in content}
    return [
        Experiment(problem_from(problem), policies, name=name, **{**more, **given}) for problem in content["problems"]
    ]


def _described(content: Any, given: dict[str, int]) -> list[Experiment]:
    """Return the experiments that were described."""
    if isinstance(content, dict) and "experiments" in content:
        content = content["experiments"]
    listed = content if isinstance(content, list) else [content]
    if not listed:
        raise BadInput("there is no experiment in it")
    experiments = []
    for one in listed:
        try:
            experiments.append(Experiment.from_dict({**one, **given} if isinstance(one, dict) else one))
        except BadInput:  # what no table shows may be of policies that have no name, such as those that watch lemmas
            if not isinstance(one, dict) or one.get("shown", True):
                raise
    return experiments


def _is_plain(name: str) -> bool:
    """Tell whether a name is that of a folder inside another: no path, not the folder itself, nor the one above."""
    is_short = 0 < len(name.encode(errors="replace")) <= LONGEST_NAME
    return is_short and name.isprintable() and not set(name) & set("/\\") and name.strip(". ") != ""


def _labelled(specs: list[str | dict[str, Any]]) -> dict[str, AnyPolicy]:
    policies: dict[str, AnyPolicy] = {}
    for spec in specs:
        label = spec.get("label") if isinstance(spec, dict) else None
        plain = {key: value for key, value in spec.items() if key != "label"} if isinstance(spec, dict) else spec
        policy = policy_from(plain)
        label = str(label or policy.label)
        if label in policies:
            raise BadInput(f"policies has two entries labelled {shortened(label)}: give one of them another label")
        policies[label] = policy
    return policies
