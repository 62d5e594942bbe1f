"""Modules that the docs of 0.4 sent authors to and that have moved: importable for one release, with a warning."""

import sys
import warnings
from collections.abc import Mapping
from importlib import import_module


def moved(old: str, new: str, elsewhere: Mapping[str, tuple[str, ...]] | None = None) -> None:
    """Let an import of `old` return the module `new`, with names that went `elsewhere`, and warn whoever imports it."""
    warnings.warn(f"{old} is now {new}; the old place goes with the next release", DeprecationWarning, stacklevel=3)
    sys.modules[old] = module = import_module(new)
    for place, names in (elsewhere or {}).items():
        for name in names:
            setattr(module, name, getattr(import_module(place), name))
