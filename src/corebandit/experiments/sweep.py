"""Studies of parameters: one policy at every point of a grid, an experiment like any other."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import product
from typing import Any

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.contracts.validate import check_number, shortened, unknown
from corebandit.experiments.description import Point
from corebandit.experiments.experiment import Experiment

MOST_PARAMETERS = 2


def sweep(
    problem: Problem | Any,
    policy: AnyPolicy,
    parameters: Mapping[str, Sequence[float]],
    *,
    series: str = "",
    **experiment: Any,
) -> Experiment:
    """Return an experiment that compares a policy with itself over one or two of its parameters.

    Parameters
    ----------
    problem, policy
        As for `Experiment`; the policy's other parameters stay as they are.
    parameters
        Values to try by name, for instance `{"alpha": [0.4, 0.6], "z": [0.5, 0.6, 0.7]}`: every combination is run.
    series
        What to call the policy; by default its label.
    experiment
        Further arguments of `Experiment`: horizon, runs, seed, name, title.

    >>> from corebandit import CORe, BernoulliBandit
    >>> list(sweep(BernoulliBandit(), CORe(), {"alpha": [0.4, 0.6]}).policies)
    ['CORe(alpha=0.4)', 'CORe']
    """
    if not isinstance(policy, AnyPolicy):
        raise BadInput(f"policy must be a recipe such as CORe(), not {shortened(policy)}")
    if not 1 <= len(parameters) <= MOST_PARAMETERS:
        raise BadInput(f"parameters must name one or two parameters, not {len(parameters)}")
    known = {field.name: field.type for field in fields(policy)}
    for name, values in parameters.items():
        if name not in known:
            raise unknown(f"parameter of {policy.name}", name, known)
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
            raise BadInput(f"parameters must list values of {name}, such as [0.2, 0.4], not {shortened(values)}")
        if not len(values):
            raise BadInput(f"parameters must name at least one value of {name}, not none")
        for value in values:
            check_number(name, value)
        if len(set(values)) < len(values):
            raise BadInput(f"parameters must name different values of {name}, not {shortened(list(values))}")
    policies, points = {}, {}
    for combination in product(*parameters.values()):
        at = dict(zip(parameters, combination, strict=True))
        try:
            changed = policy.changed(**{name: _fitting(known[name], value) for name, value in at.items()})
        except BadInput:
            raise
        except (ValueError, TypeError) as error:  # of a policy that is not ours
            raise BadInput(f"{policy.name} cannot be made with {shortened(at)}: {error}") from error
        policies[changed.label] = changed
        points[changed.label] = Point(series or policy.label, at)
    return Experiment(problem, policies, points=points, **{"name": "sweep", **experiment})


def _fitting(kind: Any, value: float) -> float:
    """Return a whole number as an int where the parameter is one."""
    return int(value) if kind in (int, int | None) and float(value).is_integer() else value


def grid_from(text: str) -> tuple[str, list[float]]:
    """Return the name and the values that a text such as `alpha=0.2:1.4:0.2` or `alpha=0.4,0.6` spells.

    >>> grid_from("alpha=0.2:0.6:0.2")
    ('alpha', [0.2, 0.4, 0.6])
    """
    name, is_there, values = (part.strip() for part in text.partition("="))
    try:
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or not is_there:
            raise ValueError
        if ":" in values:
            low, high, step = (float(part) for part in values.split(":"))
            if not (step > 0 and high >= low and (high - low) / step < 1000):
                raise ValueError
            return name, np.round(low + step * np.arange(int((high - low) / step + 1e-9) + 1), 12).tolist()
        return name, [float(part) for part in values.split(",")]
    except ValueError:
        raise BadInput(
            f"a parameter is written as alpha=0.2:1.4:0.2 (from, to, step) or alpha=0.4,0.6,0.8, not {shortened(text)}"
        ) from None
