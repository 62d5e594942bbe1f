"""What clicks tell: which of the items shown a user has looked at, and what counting clicks by item needs."""

from corebandit.compiled.bridge import inlined
from corebandit.contracts.state import FloatArray, IntArray

OBSERVES = ("last_click", "all")


@inlined
def n_examined(clicks: IntArray) -> int:
    """Return how many positions were looked at: all down to the last click, or all if there was none."""
    for position in range(clicks.size - 1, -1, -1):
        if clicks[position] != 0:
            return position + 1
    return int(clicks.size)


@inlined
def count_examined(ranking: IntArray, clicks: IntArray, counts: FloatArray, sums: FloatArray) -> None:
    """Add to each item's observations, `counts` `(n_items,)`, and clicks, `sums` `(n_items,)`."""
    for position in range(n_examined(clicks)):
        counts[ranking[position]] += 1.0
        sums[ranking[position]] += clicks[position]
