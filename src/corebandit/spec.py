"""Recipes by name: `CORe`, `Ranked(CORe(alpha=0.4))`, `gaussian(sigma=0.2)`, `mine.py:Mine(c=2)`, or a table of a file.

A spec is parsed, not executed: names, numbers, strings, lists and calls of known recipes, nothing else. A file that it
names is imported, as Python would.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar, cast

from corebandit.own_files import imported
from corebandit.policies import all_policies, arm_policies
from corebandit.problems import LAWS, all_problems
from corebandit.ranking.models import CLICK_MODELS
from corebandit.ranking.policies import ranking_policies
from corebandit.ranking.problems import ranking_problems
from corebandit.recipe import AnyPolicy, Problem, Recipe
from corebandit.validate import unknown

R = TypeVar("R", bound=Recipe)


def policy_from(spec: str | Mapping[str, Any]) -> AnyPolicy:
    """Return the policy that a spec names.

    >>> policy_from("CORe(alpha=0.4)")
    CORe(alpha=0.4, z=0.6, warm_up=4.0, sampler='fast', pool_size=None, pool='mirrored')
    """
    return _recipe("policy", spec, known_policies(), AnyPolicy)


def problem_from(spec: str | Mapping[str, Any]) -> Problem:
    """Return the problem that a spec names.

    >>> problem_from("gaussian(sigma=0.2)").label
    'gaussian(sigma=0.2)'
    """
    return _recipe("problem", spec, known_problems(), Problem)


def known_policies() -> dict[str, type[AnyPolicy]]:
    """Return every policy by its name: for arms, by features, and for rankings."""
    return {**all_policies(), **ranking_policies()}


def known_problems() -> dict[str, type[Problem]]:
    """Return every problem that can be named."""
    return {**all_problems(), **ranking_problems()}


def signature(recipe: type[Recipe]) -> str:
    """Return the parameters of a recipe with their defaults.

    >>> signature(known_policies()["RankedBandits"])
    'policy=UCB1'
    """
    return ", ".join(
        field.name if field.default is MISSING else f"{field.name}={_spelled_default(field.default)}"
        for field in sorted(fields(recipe), key=lambda field: bool(field.kw_only))
    )


def _spelled_default(value: Any) -> str:
    return value.label if isinstance(value, Recipe) else repr(value)


def split_specs(text: str) -> list[str]:
    """Split a list of specs at the commas that are not inside parentheses.

    >>> split_specs("CORe(alpha=0.4, z=0.5),UCB1")
    ['CORe(alpha=0.4, z=0.5)', 'UCB1']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _recipe(what: str, spec: str | Mapping[str, Any], known: Mapping[str, type[Any]], kind: type[R]) -> R:
    if isinstance(spec, Mapping):
        if "name" not in spec:
            raise ValueError(f"a {what} needs a name, such as name = {next(iter(known))!r}, but has {dict(spec)!r}")
        parameters = {key: _value(what, value) for key, value in spec.items() if key != "name"}
        return cast(R, _built(_class(what, str(spec["name"]), known, kind), (), parameters))
    match = re.fullmatch(r"\s*(?:([^()'\"]+\.py):)?\s*([A-Za-z_]\w*)\s*(\(.*\))?\s*", spec, re.DOTALL)
    if match is None:
        raise ValueError(f"a {what} is written as a name with parameters, such as CORe(alpha=0.4), not {spec!r}")
    file, name, arguments = match.groups()
    cls = _class(what, f"{file}:{name}" if file else name, known, kind)
    positional, named = _arguments(what, spec, arguments or "()")
    return cast(R, _built(cls, positional, named))


def _class(what: str, name: str, known: Mapping[str, type[Any]], kind: type[Recipe]) -> type[Any]:
    file, _, bare = name.rpartition(":")
    if file:
        cls = getattr(imported(what, Path(file)), bare, None)
        if not (isinstance(cls, type) and issubclass(cls, kind)):
            bases = "Policy, FeaturePolicy or RankingPolicy" if kind is AnyPolicy else kind.__name__
            raise ValueError(f"{file} has no {what} {bare!r}: it must be a class that derives from {bases}")
        return cls
    exact = {known_name.lower(): known_name for known_name in known}
    if bare.lower() not in exact:
        raise unknown(what, bare, known)
    return known[exact[bare.lower()]]


def _arguments(what: str, spec: str, text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    try:
        call = ast.parse(f"recipe{text}", mode="eval").body
    except SyntaxError:
        call = None
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Name)
        or len({keyword.arg for keyword in call.keywords} - {None}) < len(call.keywords)
    ):
        raise ValueError(f"a {what} is written as a name with parameters, such as CORe(alpha=0.4), not {spec!r}")
    positional = tuple(_parsed(what, spec, node) for node in call.args)
    return positional, {str(keyword.arg): _parsed(what, spec, keyword.value) for keyword in call.keywords}


def _inner(what: str) -> tuple[str, Mapping[str, type[Any]]]:
    """Return what a policy or a problem may be made of, and its classes by name."""
    if what == "policy":
        return "policy for arms", arm_policies()
    return "law or click model", {**LAWS, **CLICK_MODELS}


def _parsed(what: str, spec: str, node: ast.expr) -> Any:
    """Return the value of a parameter, where a call is a recipe: gaussian(0.5, sigma=2), or CORe(alpha=0.4)."""
    if isinstance(node, ast.List | ast.Tuple):
        items = (ast.Call(item, [], []) if isinstance(item, ast.Name) else item for item in node.elts)
        return [_parsed(what, spec, item) for item in items]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        named = {str(keyword.arg): _parsed(what, spec, keyword.value) for keyword in node.keywords}
        positional = tuple(_parsed(what, spec, argument) for argument in node.args)
        return _built(_class(_inner(what)[0], node.func.id, _inner(what)[1], Recipe), positional, named)
    try:
        return ast.literal_eval(node)
    except ValueError:
        if isinstance(node, ast.Name):  # a string without quotes, as a shell leaves it: sampler=exact
            return {"true": True, "false": False}.get(node.id, node.id)
        raise ValueError(f"cannot read the parameter {ast.unparse(node)!r} in {spec!r}") from None


def _value(what: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        inner, known = _inner(what)
        return _recipe(inner, value, known, Recipe)
    if isinstance(value, list):
        return [_value(what, item) for item in value]
    return value


def _built(cls: type[Any], positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
    names = [field.name for field in sorted(fields(cls), key=lambda field: bool(field.kw_only))]
    for name in named:
        if name not in names:
            raise unknown(f"parameter of {cls.name}", name, names)
    try:
        return cls(*positional, **named)
    except TypeError as error:
        raise ValueError(f"{cls.name} takes ({', '.join(names)}): {error}") from error
