"""Recipes by name: `CORe`, `Ranked(CORe(alpha=0.4))`, `gaussian(sigma=0.2)`, `mine.py:Mine(c=2)`, or a table of a file.

The one resolver of recipes, for the command line, experiment files, saved agents and adapters. What there is, the list
of public names says; only what is asked for is imported.

A spec is parsed, not executed: names, numbers, strings, lists and calls of known recipes, nothing else. A file that it
names is imported, as Python would.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from corebandit.contracts.errors import BadInput
from corebandit.contracts.own_files import imported
from corebandit.contracts.public_names import HOMES
from corebandit.contracts.recipe import (
    AnyPolicy,
    FeaturePolicy,
    Policy,
    Problem,
    RankingPolicy,
    Recipe,
    is_added_later,
)
from corebandit.contracts.validate import shortened, unknown

POLICIES = ("corebandit.policies.", "corebandit.ranking.policies.")
PROBLEMS = ("corebandit.problems.", "corebandit.ranking.ranking_problems")
NEURAL = "corebandit.policies.neural."

R = TypeVar("R", bound=Recipe)
EXAMPLES = {"problem": "bernoulli(n_arms=5) or mine.py:Mine(c=2)"}
EXAMPLE = "CORe(alpha=0.4) or mine.py:Mine(c=2)"


def policy_from(spec: str | Mapping[str, Any]) -> AnyPolicy:
    """Return the policy that a spec names.

    >>> policy_from("CORe(alpha=0.4)")
    CORe(alpha=0.4, z=0.6, warm_up=4.0, extra=0, sampler='fast', pool_size=None, pool='mirrored', growth=0.0)
    """
    return _recipe("policy", spec, known_policies(), AnyPolicy)


def problem_from(spec: str | Mapping[str, Any]) -> Problem:
    """Return the problem that a spec names.

    >>> problem_from("gaussian(sigma=0.2)").label
    'gaussian(sigma=0.2)'
    """
    return _recipe("problem", spec, known_problems(), Problem)


def known_policies() -> dict[str, type[AnyPolicy]]:
    """Return every policy by its name: for arms, by features, and for rankings.

    >>> list(known_policies())[:3]
    ['CORe', 'UCB1', 'UCBV']
    """
    return _recipes(POLICIES, AnyPolicy)


def known_problems() -> dict[str, type[Problem]]:
    """Return every problem that can be named."""
    return {name: problem for name, problem in _recipes(PROBLEMS, Problem).items() if problem.can_be_rebuilt}


def arm_policies() -> dict[str, type[Policy]]:
    """Return the policies that choose among arms."""
    return {name: policy for name, policy in known_policies().items() if issubclass(policy, Policy)}


def feature_policies() -> dict[str, type[FeaturePolicy]]:
    """Return the policies that choose by features.

    >>> list(feature_policies())[:2]
    ['LinCORe', 'LinUCB']
    """
    return {name: policy for name, policy in known_policies().items() if issubclass(policy, FeaturePolicy)}


def ranking_policies() -> dict[str, type[RankingPolicy]]:
    """Return the policies that rank.

    >>> list(ranking_policies())[:3]
    ['Ranked', 'CascadeKLUCB', 'CascadeUCB1']
    """
    return {name: policy for name, policy in known_policies().items() if issubclass(policy, RankingPolicy)}


def neural_policies() -> dict[str, type[AnyPolicy]]:
    """Return the policies that need PyTorch.

    >>> list(neural_policies())[0]
    'NeuralCORe'
    """
    return {name: policy for name, policy in known_policies().items() if policy.__module__.startswith(NEURAL)}


def policy_named(name: Any) -> type[AnyPolicy] | None:
    """Return the policy of exactly this name, with nothing imported but its module, or None.

    >>> policy_named("CORe").__name__
    'CORe'
    """
    if not isinstance(name, str) or not HOMES.get(name, "").startswith(POLICIES):
        return None
    found = getattr(import_module(HOMES[name]), name)
    return found if isinstance(found, type) and issubclass(found, AnyPolicy) else None


def in_todays_words(description: Any, given: Any = None) -> Any:
    """Return a policy's description with what went without saying when it was written, and does not today.

    A parameter that came after 0.4 is left out where it does what was done before; a policy such as `RecommendedCORe`
    that has given it another default since says it always. `given` may be a policy of the user's own that is described.
    What says less than `describe` does was written by hand, for today.
    """
    if not isinstance(description, Mapping):
        return description
    name = description.get("name")
    cls = type(given) if isinstance(given, AnyPolicy) and given.name == name else policy_named(name)
    said = {key: in_todays_words(value) for key, value in description.items()}
    if cls is None:
        return said
    unsaid = dict(_unsaid(cls))
    needed = {parameter.name for parameter in fields(cls) if not is_added_later(parameter)}
    return {**unsaid, **said} if needed - set(unsaid) <= set(said) else said


def _unsaid(cls: type[AnyPolicy]) -> Iterator[tuple[str, Any]]:
    """Yield the parameters that came late and have another default in this class, with what was done before."""
    told = {parameter.name for parameter in fields(cls) if not is_added_later(parameter)}
    for base in filter(is_dataclass, cls.__mro__):
        for parameter in fields(base):
            if is_added_later(parameter) and parameter.name in told:
                yield parameter.name, parameter.default


def is_listed(recipe: Recipe) -> bool:
    """Tell whether another process can make a recipe from its description alone: its class is one of ours."""
    is_ours = recipe.can_be_rebuilt and HOMES.get(type(recipe).__name__) == type(recipe).__module__
    # Of large data a description may hold but a digest.
    is_whole = set(recipe.describe()) - {"name"} <= {field.name for field in fields(recipe)}
    return is_ours and is_whole and all(map(is_listed, recipes_in(recipe)))


def recipes_in(recipe: Recipe) -> list[Recipe]:
    """Return the recipes that are parameters of a recipe, alone or in lists."""
    values = (getattr(recipe, field.name) for field in fields(recipe))
    flat = (item for value in values for item in (value if isinstance(value, list | tuple) else [value]))
    return [item for item in flat if isinstance(item, Recipe)]


def arm_policy_from(policy: Any) -> Policy:
    """Return a policy for arms, given itself, its name or its description: what adapters are made around."""
    description = {"name": policy} if isinstance(policy, str) else policy
    if isinstance(description, Mapping) and "name" in description:
        cls = policy_named(description["name"])
        if cls is None or not issubclass(cls, Policy):
            raise unknown("policy", str(description["name"]), arm_policies())
        policy = cls(**{key: value for key, value in description.items() if key != "name"})
    if not isinstance(policy, Policy):
        raise BadInput(f"policy must be a policy for arms such as CORe(), not {shortened(policy)}")
    return policy


def _recipes(homes: tuple[str, ...], kind: type[R]) -> dict[str, type[R]]:
    """Return the recipes of a kind that live in these modules, by name, in the order of the list."""
    found = (getattr(import_module(home), name) for name, home in HOMES.items() if home.startswith(homes))
    return {cls.name: cls for cls in found if isinstance(cls, type) and issubclass(cls, kind)}


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
            raise BadInput(
                f"a {what} needs a name, such as name = {next(iter(known))!r}, but has {shortened(dict(spec))}"
            )
        parameters = {key: _value(what, value) for key, value in spec.items() if key != "name"}
        return cast(R, _built(_class(what, str(spec["name"]), known, kind), (), parameters))
    match = re.fullmatch(r"\s*(?:([^()'\"]+\.py):)?\s*([A-Za-z_]\w*)\s*(\(.*\))?\s*", spec, re.DOTALL)
    if match is None:
        raise _misspelt(what, spec)
    file, name, arguments = match.groups()
    cls = _class(what, f"{file}:{name}" if file else name, known, kind)
    positional, named = _arguments(what, spec, arguments or "()")
    return cast(R, _built(cls, positional, named))


def _misspelt(what: str, spec: str) -> BadInput:
    example = EXAMPLES.get(what, EXAMPLE)
    return BadInput(f"a {what} is written as a name with parameters, such as {example}, not {shortened(spec)}")


def _class(what: str, name: str, known: Mapping[str, type[Any]], kind: type[Recipe]) -> type[Any]:
    file, _, bare = name.rpartition(":")
    if file:
        cls = getattr(imported(what, Path(file)), bare, None)
        if not (isinstance(cls, type) and issubclass(cls, kind)):
            bases = "Policy, FeaturePolicy or RankingPolicy" if kind is AnyPolicy else kind.__name__
            raise BadInput(f"{file} has no {what} {shortened(bare)}: it must be a class that derives from {bases}")
        return cls
    exact = {known_name.lower(): known_name for known_name in known}
    if bare.lower() not in exact:
        raise unknown(what, bare, known)
    return known[exact[bare.lower()]]


def _arguments(what: str, spec: str, text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    try:
        call = ast.parse(f"recipe{text}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the latter where it is nested too deep
        call = None
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Name)
        or len({keyword.arg for keyword in call.keywords} - {None}) < len(call.keywords)
    ):
        raise _misspelt(what, spec)
    try:
        positional = tuple(_parsed(what, spec, node) for node in call.args)
        return positional, {str(keyword.arg): _parsed(what, spec, keyword.value) for keyword in call.keywords}
    except (RecursionError, MemoryError):
        raise BadInput(f"the {what} {shortened(spec)} is nested too deep") from None


def _inner(what: str) -> tuple[str, Mapping[str, type[Any]]]:
    """Return what a policy or a problem may be made of, and its classes by name."""
    if what == "policy":
        return "policy for arms", arm_policies()
    laws: dict[str, type[Any]] = import_module("corebandit.problems.arms").LAWS
    return "law or click model", {**laws, **import_module("corebandit.clicks.models").CLICK_MODELS}


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
        raise BadInput(f"cannot read the parameter {shortened(ast.unparse(node))} in {shortened(spec)}") from None


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
    except BadInput:
        raise
    except (TypeError, ValueError) as error:  # a user's own recipe may refuse parameters in its own way
        raise BadInput(f"{cls.name} takes ({', '.join(names)}): {error}") from error
