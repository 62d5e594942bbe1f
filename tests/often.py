"""Which of many cases run every time, and which in `-m endurance` only."""

from collections.abc import Collection, Iterable

import pytest


def often(some: Collection[object], everything: Iterable[object]) -> list[object]:
    """Return everything to parametrize a test with, of which only some runs by default."""
    return [case if case in some else pytest.param(case, marks=pytest.mark.endurance) for case in everything]
