"""Lines of fields between commas, tabs or semicolons, a part at a time; a field that holds one of them is in quotes."""

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import IO, NamedTuple

import polars as pl

SEPARATORS = ",\t;"
UNIT = "\x1f"  # the character for separators in names of which nobody makes use
CHARACTERS = 200_000_000  # of lines taken apart at once
FEW = 100  # lines read between looks at how long they are
QUOTED_LINES = 50_000  # taken apart at once where there are quotes, which takes memory


class Header(NamedTuple):
    """The first line of a table."""

    names: list[str]
    separator: str
    line: int  # its number


def read_header(file: IO[str]) -> Header | None:
    """Return the first line that is not blank, or None if there is none."""
    for line, text in enumerate(file, start=1):
        if text.strip():
            separator = max(SEPARATORS, key=text.count)
            return Header([name.strip() for name in _fields(text, separator)], separator, line)
    return None


def read_parts(file: IO[str], header: Header, columns: Sequence[str], n_lines: int) -> Iterator[pl.DataFrame]:
    """Yield some columns of the lines below the header as text, `n_lines` at once.

    Column `line` is the number of the line, `fault` what is wrong with it, if anything. Blank lines are left out.
    """
    first_line, width = header.line + 1, len(header.names)
    places = {name: header.names.index(name) for name in columns}
    while lines := _some_lines(file, n_lines):
        rows = pl.Series(lines, dtype=pl.String)
        if rows.str.contains('"', literal=True).any():
            starts = range(0, len(lines), QUOTED_LINES)
            rows = pl.concat([_quoted(lines[start : start + QUOTED_LINES], header.separator) for start in starts])
        else:
            rows = rows.str.split(header.separator)
        part = pl.DataFrame({name: rows.list.get(place, null_on_oob=True) for name, place in places.items()})
        part = part.with_columns(pl.col(columns).str.strip_chars().replace("", None))
        if (rows.list.len() > width).any():
            surplus = rows.list.slice(width).list.join("").str.strip_chars()
            fault = pl.when(surplus != "").then(pl.lit("it has more fields than the header"))
            part = part.with_columns(fault=fault)
        yield part.with_row_index("line", first_line).filter(~pl.all_horizontal(pl.col(columns).is_null()))
        first_line += len(lines)


def _some_lines(file: IO[str], n_lines: int) -> list[str]:
    """Return the next lines: `n_lines`, or fewer if they are so long that together they would fill memory."""
    lines: list[str] = []
    n_characters = 0
    while len(lines) < n_lines and n_characters < CHARACTERS:
        few = list(islice(file, min(FEW, n_lines - len(lines))))
        if not few:
            break
        n_characters += sum(map(len, few))
        lines += few
    return lines


def _quoted(lines: list[str], separator: str) -> pl.Series:
    """Return the fields of each line; a quote that stays open must not swallow the lines after it."""
    try:
        rows = list(csv.reader(lines, delimiter=separator))
    except csv.Error:
        rows = []
    if len(rows) != len(lines):
        rows = [_fields(line, separator) for line in lines]
    if any(UNIT in line for line in lines):
        return pl.Series(rows, dtype=pl.List(pl.String))
    return pl.Series(map(UNIT.join, rows), dtype=pl.String).str.split(UNIT)  # the same, many times faster


def _fields(line: str, separator: str) -> list[str]:
    """Return the fields of one line, or all of it as one field if that is too long."""
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return [line]
