"""Features as people give them, checked: finite numbers, as the contiguous floats that compiled code takes."""

import reprlib
from numbers import Real
from typing import Any

import numpy as np

from corebandit.contracts.errors import BadFeatures
from corebandit.contracts.state import FloatArray

LARGEST_FEATURE = 1e100  # squares of larger ones leave the range of floats


def as_rows(features: Any, name: str = "features") -> FloatArray:
    """Return features `(rows, d)` as floats, or say what is wrong; `check_finite` looks at the values.

    >>> as_rows([[1, 0], [0, 1], [1, 1]]).shape
    (3, 2)
    """
    rows = _as_floats(name, "(rows, d)", features)
    if rows.ndim != 2 or rows.size == 0:
        raise BadFeatures(f"{name} must have the shape (rows, d), at least one of each, not {rows.shape}")
    return rows


def as_row(x: Any) -> FloatArray:
    """Return the features `(d,)` of one option as finite floats, or say what is wrong.

    >>> as_row([1, 0]).tolist()
    [1.0, 0.0]
    """
    row = _as_floats("x", "(d,)", x)
    if row.ndim != 1 or row.size == 0:
        raise BadFeatures(f"x must have the shape (d,), at least one feature, not {row.shape}")
    check_finite("x", row)
    return row


def check_finite(name: str, numbers: FloatArray) -> None:
    """Raise BadFeatures that says where, unless all numbers, `(rows, d)` or `(d,)`, are finite and not huge."""
    places = np.argwhere(~(np.abs(numbers) <= LARGEST_FEATURE))
    if places.size:
        place = tuple(places[0].tolist())
        where = f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"column {place[0]}"
        raise BadFeatures(
            f"{name} must be finite and at most {LARGEST_FEATURE:g} in size, but {where} is {float(numbers[place])!r}"
        )


def _as_floats(name: str, shape: str, values: Any) -> FloatArray:
    wanted = f"{name} must be numbers of the shape {shape}"
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(float), np.nan)  # what is missing is refused, not made up
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise BadFeatures(f"{wanted}, not {reprlib.repr(values)}") from None
    if array.dtype.kind not in "fiub":
        array = np.asarray(values, dtype=object)  # what was given, before strings took the numbers in
        odd = [value for value in array.flat if not isinstance(value, Real | np.bool_)]
        if odd:
            raise BadFeatures(f"{wanted}, not {reprlib.repr(odd[0])}")
    if array.ndim == 0:  # the next line would make it a row
        return array
    try:
        floats = np.ascontiguousarray(array, dtype=np.float64)
    except OverflowError:
        raise BadFeatures(f"{name} must be at most {LARGEST_FEATURE:g} in size, not {reprlib.repr(values)}") from None
    return floats if floats.flags.carray else floats.copy()  # read-only arrays would be compiled for once more
