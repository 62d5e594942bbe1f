"""Where the parameters of a policy come from: what each source says, and what runs."""

from collections.abc import Sequence
from typing import NamedTuple

HEADERS = ("policy", "parameter", "the paper's text", "its authors' code", "here", "why")


class Provenance(NamedTuple):
    """One parameter, or several that belong together, of one policy in one figure."""

    figure: str
    policy: str
    parameter: str
    paper: str
    code: str
    here: str
    why: str


def by_figure(rows: Sequence[Provenance]) -> dict[str, list[Provenance]]:
    """Return the rows of each figure, in their order."""
    found: dict[str, list[Provenance]] = {}
    for row in rows:
        found.setdefault(row.figure, []).append(row)
    return found


def provenance_table(rows: Sequence[Provenance]) -> str:
    """Return rows as a table for a page of the documentation."""
    lines = [HEADERS, ("---",) * len(HEADERS), *(row[1:] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
