"""Modules that the docs of 0.4 sent authors to and that have moved: importable for one release, with a warning."""

import sys
import warnings
from importlib import import_module


def moved(old: str, new: str) -> None:
    """Let an import of `old` return the module `new`, and warn whoever imports it."""
    warnings.warn(f"{old} is now {new}; the old place goes with the next release", DeprecationWarning, stacklevel=3)
    sys.modules[old] = import_module(new)
