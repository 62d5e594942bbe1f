"""Loops of tests, compiled once and kept on disk as those of the package are."""

from collections.abc import Callable
from typing import Any

from corebandit.compiled.bridge import EntryPoint


def compiled_once(function: Callable[..., Any]) -> Any:
    """Compile a function that calls parts of the package; numba alone would compile it in every process."""
    return EntryPoint(function).compiled
