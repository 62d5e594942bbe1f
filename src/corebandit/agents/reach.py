"""How large features may be, by those that were seen."""

import numpy as np

from corebandit.contracts.errors import BadFeatures
from corebandit.contracts.features import check_finite
from corebandit.contracts.state import FloatArray

ENOUGH_SEEN = 100  # decisions, from which on it is known how large features are


def out_of_reach(where: str, value: float, before: str, reach: float) -> BadFeatures:
    """Return the error that says which feature is too large, and what to do."""
    return BadFeatures(
        f"{where} is {value!r}, where nothing beyond {before} was seen, and one row more than {reach:g} times as large "
        "would ruin what was learnt; mend it, take logarithms of what varies so much, or make the agent with another "
        "feature_limit"
    )


def check_within_reach(name: str, rows: FloatArray, largest: FloatArray, reach: float) -> None:
    """Raise BadFeatures that says where, if a number of rows `(n, d)` or of a row `(d,)` is too large."""
    check_finite(name, rows)
    if reach == 0.0 or rows.shape[-1] != largest.size or not largest.any():
        return
    places = np.argwhere(np.abs(rows) > reach * np.where(largest > 0.0, largest, largest.max()))
    if places.size:
        *row, column = places[0].tolist()
        where = f"row {row[0]}, column {column}" if row else f"column {column}"
        before = f"{largest[column]:g}" if largest[column] > 0.0 else f"0, and {largest.max():g} in any column"
        raise out_of_reach(f"{name}: {where}", float(rows[(*row, column)]), before, reach)
