"""Check arguments, and say in one sentence what was wrong and what would be right."""

import difflib
import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from corebandit.contracts.errors import BadInput

LONGEST_VALUE = 100  # characters of a value that an error shows
MOST_NAMES = 30  # that an error lists


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> float:
    """Return `value` as a finite float within the bounds, or raise BadInput that names it."""
    limits = {"above": above, "of at least": at_least, "below": below, "of at most": at_most}
    wanted = " and ".join(f"{word} {limit:g}" for word, limit in limits.items() if limit is not None)
    is_number = isinstance(value, Real) and not isinstance(value, bool) and is_finite(value)
    if not is_number or not (
        (above is None or value > above)
        and (at_least is None or value >= at_least)
        and (below is None or value < below)
        and (at_most is None or value <= at_most)
    ):
        raise BadInput(f"{name} must be a number {wanted}".rstrip() + f", not {shortened(value)}")
    return float(value)


def is_finite(value: Any) -> bool:
    """Tell whether a number is a finite float; a whole number may be too large for one."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def check_count(name: str, value: Any, *, at_least: int = 1) -> int:
    """Return `value` as an int of at least `at_least`, or raise BadInput that names it."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise BadInput(f"{name} must be a whole number of at least {at_least}, not {shortened(value)}")
    return int(value)


def check_flag(name: str, value: Any) -> None:
    """Raise BadInput unless `value` is True or False."""
    if not isinstance(value, bool):
        raise BadInput(f"{name} must be True or False, not {shortened(value)}")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise BadInput unless `value` is one of `choices`."""
    choices = tuple(choices)
    if value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise BadInput(f"{name} must be {listed}, not {shortened(value)}")


def shortened(value: Any, longest: int = LONGEST_VALUE) -> str:
    """Return the value as an error names it: its repr, cut if nobody would read it to the end.

    >>> shortened("a long text", longest=6), shortened([1, 2, 3], longest=5)
    ("'a long...'", '[1, 2...')
    """
    if isinstance(value, str) and len(value) > longest:
        return repr(f"{value[:longest]}...")
    try:
        text = repr(value)
    except Exception:  # an integer of thousands of digits, a list in itself, a class whose repr is broken
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= longest else f"{text[:longest]}..."


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "query"), counted(1200, "query"), counted(3, "row")
    ('1 query', '1,200 queries', '3 rows')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def range_in_words(low: float, high: float) -> str:
    """Return what numbers lie between two bounds, of which one may be infinite.

    >>> range_in_words(0, 1), range_in_words(0, math.inf)
    ('in [0, 1]', 'of at least 0')
    """
    if high == math.inf and low > -math.inf:
        return f"of at least {low:g}"
    if low == -math.inf and high < math.inf:
        return f"of at most {high:g}"
    return f"in [{low:g}, {high:g}]"


def unknown(what: str, value: str, known: Iterable[str]) -> BadInput:
    """Return the error for a name that does not exist, with the nearest one that does."""
    known = sorted(known)
    lowered = {name.lower(): name for name in known}
    near = difflib.get_close_matches(value.lower(), lowered, n=1)
    more = f" and {len(known) - MOST_NAMES:,} more" if len(known) > MOST_NAMES else ""
    hint = f"did you mean {lowered[near[0]]!r}?" if near else f"there is {', '.join(known[:MOST_NAMES])}{more}"
    return BadInput(f"unknown {what} {shortened(value)}: {hint}")


def how_to_install(packages: str) -> str:
    """Return the command that installs packages.

    >>> how_to_install("torch")
    'pip install torch (with uv: uv pip install torch)'
    """
    return f"pip install {packages} (with uv: uv pip install {packages})"
