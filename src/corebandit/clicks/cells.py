"""EM for models in which a click is attraction times examination: PBM and UBM.

Sessions matter only through how often a pair was shown, and clicked, under each examination parameter. So the log is
read once into a table of such *cells*, and an iteration of EM takes as long whether a cell was seen once or a million
times. For a document shown and not clicked,

    P(attractive | no click) = (1 - e) a / (1 - e a),   P(examined | no click) = (1 - a) e / (1 - e a)
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corebandit.clicks.click_log import ClickLog, Sessions
from corebandit.clicks.em import Estimate, Stopping, climb
from corebandit.compiled.bridge import kernel
from corebandit.contracts.state import FloatArray


class Cells(NamedTuple):
    """How often each pair was shown under each examination parameter, with a click and without."""

    keys: NDArray[np.int64]  # (n_cells,) pair * n_examinations + index of the examination parameter, increasing
    clicks: NDArray[np.int32]  # (n_cells,)
    skips: NDArray[np.int32]  # (n_cells,)


@kernel
def expect_cells(
    attraction: FloatArray,
    examination: FloatArray,
    cells: Cells,
    attracted: FloatArray,
    shown: FloatArray,
    examined: FloatArray,
    could_be: FloatArray,
) -> float:
    """Add the expected counts of all cells (numerator, denominator of either parameter); return the log-likelihood."""
    total = 0.0
    for cell in range(cells.keys.size):
        pair = cells.keys[cell] // examination.size
        where = cells.keys[cell] - pair * examination.size
        a, e, clicks, skips = attraction[pair], examination[where], cells.clicks[cell], cells.skips[cell]
        no_click = 1.0 - a * e
        attracted[pair] += clicks + skips * (1.0 - e) * a / no_click
        examined[where] += clicks + skips * (1.0 - a) * e / no_click
        shown[pair] += clicks + skips
        could_be[where] += clicks + skips
        if clicks > 0:
            total += clicks * math.log(a * e)
        if skips > 0:
            total += skips * math.log(no_click)
    return total


def climb_cells(
    blank: Any, log: ClickLog, stopping: Stopping, fill_examinations: Callable[[Any, Any], None]
) -> Estimate:
    """Estimate by EM on the table of cells.

    `blank` has the fields attraction and, of any shape, the examination parameters; `fill_examinations(clicks, where)`
    fills the flat index of the parameter in force at each position of each session, `(n, n_positions)`.
    """
    cells = gather(log, blank[1].size, fill_examinations)

    def expect(user: Any, numerators: Any, denominators: Any) -> float:
        attraction, examination = (values.reshape(-1) for values in user)
        attracted, examined = (values.reshape(-1) for values in numerators)
        shown, could_be = (values.reshape(-1) for values in denominators)
        return expect_cells(attraction, examination, cells, attracted, shown, examined, could_be)

    return climb(blank, expect, stopping)


def gather(log: ClickLog, n_examinations: int, fill_examinations: Callable[[Any, Any], None]) -> Cells:
    """Count the cells of a log, a batch at a time."""
    parts: list[Cells] = []
    for batch in log.batches():
        parts.append(_cells(batch, n_examinations, fill_examinations))
        # Merging parts of similar size only, the total work is n log n.
        while len(parts) > 1 and parts[-2].keys.size < 2 * parts[-1].keys.size:
            parts.append(_merged(parts.pop(), parts.pop()))
    while len(parts) > 1:
        parts.append(_merged(parts.pop(), parts.pop()))
    return parts[0]


def _cells(batch: Sessions, n_examinations: int, fill_examinations: Callable[[Any, Any], None]) -> Cells:
    """Count the cells of one batch."""
    keys = np.empty(batch.pairs.shape, dtype=np.int64)
    fill_examinations(batch.clicks, keys)
    keys += batch.pairs.astype(np.int64) * n_examinations
    shown = np.sort(((keys << 1) | batch.clicks).reshape(-1))  # the lowest bit is the click
    cells = _room_for(shown.size)
    return _cut(cells, count_equal(shown, cells))


def _merged(one: Cells, other: Cells) -> Cells:
    """Add up the counts of equal cells."""
    cells = _room_for(one.keys.size + other.keys.size)
    return _cut(cells, merge(one, other, cells))


def _room_for(n: int) -> Cells:
    return Cells(np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int32))


def _cut(cells: Cells, n: int) -> Cells:
    return Cells(cells.keys[:n].copy(), cells.clicks[:n].copy(), cells.skips[:n].copy())


@kernel
def count_equal(shown: NDArray[np.int64], cells: Cells) -> int:
    """Fill `cells` from sorted keys with the click as lowest bit; return how many there are."""
    n = 0
    for i in range(shown.size):
        key = shown[i] >> 1
        if n == 0 or cells.keys[n - 1] != key:
            cells.keys[n], cells.clicks[n], cells.skips[n] = key, 0, 0
            n += 1
        if shown[i] & 1:
            cells.clicks[n - 1] += 1
        else:
            cells.skips[n - 1] += 1
    return n


@kernel
def merge(one: Cells, other: Cells, cells: Cells) -> int:
    """Fill `cells` with those of `one` and `other`, in order; return how many there are."""
    i = j = n = 0
    while i < one.keys.size or j < other.keys.size:
        takes_one = j == other.keys.size or (i < one.keys.size and one.keys[i] <= other.keys[j])
        takes_other = i == one.keys.size or (j < other.keys.size and other.keys[j] <= one.keys[i])
        cells.clicks[n], cells.skips[n] = 0, 0
        if takes_one:
            cells.keys[n] = one.keys[i]
            cells.clicks[n] += one.clicks[i]
            cells.skips[n] += one.skips[i]
            i += 1
        if takes_other:
            cells.keys[n] = other.keys[j]
            cells.clicks[n] += other.clicks[j]
            cells.skips[n] += other.skips[j]
            j += 1
        n += 1
    return n
