"""Ranking policies, and the problems they are studied on."""

import warnings
from typing import Any

from corebandit import clicks


def __getattr__(name: str) -> Any:
    """Return what was here in 0.4: click models, logs and fitting."""
    value = getattr(clicks, name)
    warnings.warn(
        f"corebandit.ranking.{name} is now corebandit.clicks.{name}; the old place goes with the next release",
        DeprecationWarning,
        stacklevel=2,
    )
    return value
