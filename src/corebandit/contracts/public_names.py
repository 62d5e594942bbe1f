"""Public names of a package, listed once, in its stub, and imported when first used.

The stub `__init__.pyi` is what type checkers and editors read. Each of its lines says where a name lives, as an import
of the name under itself.
"""

import re
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

BEGAN = time.time()  # our sources are read from here on: this module is the first of them
OURS = __name__.partition(".")[0]
LINE = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)


def is_ours(module: str) -> bool:
    """Tell whether a module is of this package."""
    return module.partition(".")[0] == OURS


def names_in(stub: Path) -> dict[str, str]:
    """Return the module of each name that a stub lists, in its order."""
    return {name: module for module, name in LINE.findall(stub.read_text(encoding="utf-8"))}


HOMES = names_in(Path(__file__).parents[1] / "__init__.pyi")  # of the names of corebandit itself


def importing(package: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that imports names from their homes."""

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return find
