"""Modules that the docs of 0.4 named: still importable, with a warning that names the new place."""

import importlib
import sys

import pytest

MOVED = {
    "corebandit.pool": "corebandit.parts.pool",
    "corebandit.linear": "corebandit.parts.ridge",
    "corebandit.history": "corebandit.parts.history",
    "corebandit.stream": "corebandit.randomness.stream",
    "corebandit.theory": "corebandit.reproduction.theory",
}


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_a_module_that_moved_is_found_with_a_warning(old, new):
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}; the old place goes with the next release"):
        found = importlib.import_module(old)
    assert found is importlib.import_module(new)


def test_click_models_are_found_where_they_were():
    from corebandit import clicks, ranking

    with pytest.warns(DeprecationWarning, match=r"corebandit.ranking.fit is now corebandit.clicks.fit"):
        assert ranking.fit is clicks.fit
    assert not hasattr(ranking, "nothing")


def test_what_was_in_a_module_that_became_two_is_found_there():
    from corebandit.parts.span import Span

    sys.modules.pop("corebandit.linear", None)
    with pytest.warns(DeprecationWarning, match="corebandit.linear is now"):
        assert importlib.import_module("corebandit.linear").Span is Span
