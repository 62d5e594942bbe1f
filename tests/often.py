"""Which of many cases run every time, and which only when they are asked for."""

from collections.abc import Collection, Iterable

import pytest


def often(
    some: Collection[object], everything: Iterable[object], otherwise: pytest.MarkDecorator = pytest.mark.endurance
) -> list[object]:
    """Return everything to parametrize a test with; what is not among some has a mark that leaves it out."""
    return [case if case in some else pytest.param(case, marks=otherwise) for case in everything]
