"""After which percents of all rounds regrets are kept: for the machine that plays, and for the one that reads them."""

from collections.abc import Sequence
from typing import Any


def may_be_kept(percents: Sequence[Any]) -> bool:
    """Tell whether these are whole percents that rise and end with all rounds."""
    is_whole = all(isinstance(percent, int) and percent >= 1 for percent in percents)
    return is_whole and list(percents) == sorted(set(percents)) and percents[-1:] == [100]


def rounds_after(percents: Sequence[int], horizon: int) -> list[int]:
    """Return the first rounds at which so many percent are over: experiments record regret at every whole percent."""
    return [-(-percent * horizon // 100) for percent in percents]
