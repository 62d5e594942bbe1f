"""States for more features than there were: what is learnt is copied, and put in order where that is not enough."""

from typing import Any

from corebandit.contracts.state import carry_over


def widen_over(old: Any, new: Any) -> None:
    """Copy what `old` has learnt into `new`, a fresh state of the same policy for more features, 0 so far.

    A part whose arrays want something else than what is new after what is there has a method `make_way(old)`, which
    puts in order what was copied.
    """
    carry_over(old, new)
    _make_way(old, new)


def _make_way(old: Any, new: Any) -> None:
    for before, after in zip(old, new, strict=True):
        if isinstance(after, tuple):
            _make_way(before, after)
    if hasattr(new, "make_way"):
        new.make_way(old)
