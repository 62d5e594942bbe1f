"""How a check fails: with a sentence."""

import json
from typing import Any

from corebandit.contracts.recipe import Recipe

SEED = 11


class CheckFailed(AssertionError):
    """A policy or problem breaks the contract; the message says how."""


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
