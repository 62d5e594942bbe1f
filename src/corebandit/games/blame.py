"""Errors of code that is not ours, as a sentence with file and line."""

import inspect
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from corebandit.compiled.sources import PACKAGE
from corebandit.contracts.errors import BadInput
from corebandit.contracts.public_names import is_ours
from corebandit.contracts.recipe import FeaturePolicy, Policy, Problem, RankingPolicy, Recipe
from corebandit.randomness.stream import Stream


def is_foreign(value: Any) -> bool:
    """Tell whether the class of a recipe, of one within it, of an instance or of a state is not ours."""
    return not is_ours(type(value).__module__) or (isinstance(value, Recipe) and any(map(is_foreign, _within(value))))


def _within(recipe: Recipe) -> Iterator[Recipe]:
    for value in (getattr(recipe, parameter.name) for parameter in fields(recipe)):
        yield from (each for each in (value if isinstance(value, tuple) else [value]) if isinstance(each, Recipe))


@contextmanager
def blaming(recipe: Recipe) -> Iterator[None]:
    """Let errors of a foreign recipe's code be sentences that say where they are; ours are bugs, and look like them."""
    try:
        yield
    except BadInput:
        raise
    except Exception as error:
        if sentence := blamed(recipe, error):
            raise BadInput(sentence) from error
        raise


def blamed(recipe: Recipe, error: Exception) -> str:
    """Return what is to be said of an error of a foreign recipe's code; nothing where it is ours."""
    place = _foreign_place(error)
    if place is None and not is_foreign(recipe):
        return ""
    return f"{recipe.name} fails{place or ''}: {_said(error)}{'' if place else _contract(recipe, error)}"


def _foreign_place(error: BaseException) -> str | None:
    """Return where in a foreign file an error comes from."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if PACKAGE not in path.parents and "site-packages" not in path.parts and path.suffix == ".py":
            return f" in {path}, line {frame.lineno}, {frame.name}"
    return None


def _contract(recipe: Recipe, error: Exception) -> str:
    """Say how the one method is called that every recipe has, where it is that which was called."""
    kinds = ((Policy, "start"), (FeaturePolicy, "start"), (RankingPolicy, "start"), (Problem, "draw"))
    for kind, method in kinds:
        if isinstance(recipe, kind) and f"{method}()" in str(error):
            names = list(inspect.signature(getattr(kind, method)).parameters)[1:]
            return f"; it is called as {method}({', '.join(names)})"
    return ""


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}{_cure(error)}"


def _cure(error: BaseException) -> str:
    """Say what to do instead of what is often tried: other laws of the stream, and fields that are given new values."""
    if not isinstance(error, AttributeError):
        return ""
    if isinstance(error.obj, Stream):
        laws = [name for name, law in vars(Stream).items() if inspect.isfunction(law) and not name.startswith("_")]
        return f"; rng has {', '.join(laws)}"
    if "can't set attribute" in str(error) or isinstance(error.obj, tuple):
        return "; fields of a state stay what they are: keep what changes in an array, as in self.count[0] += 1"
    return ""
