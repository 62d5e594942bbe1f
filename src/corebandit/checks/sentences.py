"""How a check fails: with a sentence."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from corebandit.compiled.bridge import CannotBeCompiled
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import Recipe, undeclared
from corebandit.games.blame import blamed

SEED = 11


class CheckFailed(AssertionError):
    """A policy or problem breaks the contract; the message says how."""


@contextmanager
def as_failed(recipe: Recipe) -> Iterator[None]:
    """Let what cannot be compiled, and errors of a recipe's code be sentences of the checks."""
    try:
        yield
    except CheckFailed:
        raise
    except CannotBeCompiled as error:
        raise CheckFailed(f"{recipe.name}: it {error}") from error
    except Exception as error:
        if isinstance(error, BadInput) or not (sentence := blamed(recipe, error)):
            raise
        raise CheckFailed(sentence) from error


def require_declared(recipe: Any) -> None:
    """Raise `CheckFailed` unless a recipe's description has its parameters, and all of them."""
    wrong = undeclared(type(recipe))
    advice = "a parameter has a type and stands in a dataclass, such as c: float = 1.0 below @dataclass(frozen=True)"
    require(not wrong, recipe.name, f"{wrong}, so that files and stored results would mix it up: {advice}")


def require(condition: Any, name: str, sentence: str) -> None:
    """Raise `CheckFailed` with the sentence unless the condition holds."""
    if not condition:
        raise CheckFailed(f"{name}: {sentence}")


def require_json(recipe: Recipe, name: str, what: str) -> dict[str, Any]:
    """Return the recipe's description as it comes back from JSON."""
    try:
        again: dict[str, Any] = json.loads(json.dumps(recipe.describe()))
    except TypeError as error:
        raise CheckFailed(f"{name}: its {what} must be ready for JSON: {error}") from error
    return again
