"""Fill the numbers of README and docs in from stored results, so that none is typed by hand.

    uv run python scripts/fill_docs.py                         write the pages anew from docs/results/*.json
    uv run python scripts/fill_docs.py --check                 say which pages differ, and fail if any does
    uv run python scripts/fill_docs.py --store results/paper   take the numbers of a run into docs/results first

A page has marks in it, between which this script writes:

    <!-- numbers: table figure1 -->   the mean regrets of a figure, with their standard errors
    <!-- numbers: claims figure1 -->  the verdicts on its claims, and what decided
    <!-- numbers: about figure1 -->   how large the run was, when and by which version
    <!-- end -->

and within a line `<!-- number: figure1 bernoulli "CORe" -->...<!-- end -->`, a mean with its error.
"""

import argparse
import json
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from corebandit.report import tables

ROOT = Path(__file__).parent.parent
STORE = ROOT / "docs" / "results"
PAGES = ("README.md", "docs/results.md", "docs/which_policy.md")
FIGURES = {"F1": "figure1", "F2": "figure2", "F3": "figure3", "F4": "figure4", "T": "theory"}
STUDIES = {"G": "glm", "X": "exchange", "W": "warmup", "N": "neural"}
BLOCK = re.compile(r"(<!-- numbers: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
INLINE = re.compile(r"(<!-- number: (.+?) -->)[^\n]*?(<!-- end -->)")

Stored = Mapping[str, Any]


# Storing ----------------------------------------------------------------------------------------------------------


def store(folder: Path, into: Path = STORE) -> list[Path]:
    """Write what a run has left in a folder to one file a figure, and return these."""
    rows, claims, about = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in ("summary", "claims", "about")
    )
    written = []
    for prefix, figure in {**FIGURES, **STUDIES}.items():
        of_figure = [row for row in rows["rows"] if row["figure"].partition("-")[0] == figure]
        if not of_figure:
            continue
        titles = {f"{one['figure']} {one['problem']}": one["title"] for one in about["titles"]}
        content = {
            "about": {key: about[key] for key in ("command", "made", "version", "sources")},
            "titles": {key: titles[key] for key in dict.fromkeys(f"{r['figure']} {r['problem']}" for r in of_figure)},
            "rows": [{key: value for key, value in row.items() if key != "cpu_seconds"} for row in of_figure],
            "claims": [claim for claim in claims["claims"] if claim["id"].startswith(prefix)],
        }
        into.mkdir(exist_ok=True)
        path = into / f"{figure}.json"
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        written.append(path)
    return written


# Showing ----------------------------------------------------------------------------------------------------------


def table(stored: Stored, figure: str) -> str:
    """Return mean regrets with standard errors, a row a policy and a column a problem."""
    cells: dict[str, dict[str, str]] = {}
    columns: dict[str, str] = {}
    for row in stored["rows"]:
        if row["figure"] == figure:
            columns[row["problem"]] = stored["titles"][f"{figure} {row['problem']}"]
            cells.setdefault(row["policy"], {})[row["problem"]] = tables.with_error(row["mean"], row["stderr"])
    lines = [("policy", *columns.values()), ("---",) * (1 + len(columns))]
    lines += [(policy, *(found.get(problem, "") for problem in columns)) for policy, found in cells.items()]
    return _lines(lines)


def claims(stored: Stored, figure: str) -> str:
    """Return the verdicts on the claims of a figure."""
    lines = [("claim", "warm-up", "verdict", "what decided"), ("---",) * 4]
    said = ""
    for claim in stored["claims"]:
        text = f"{claim['id']}: {claim['claim']}"
        factor = "" if claim["warm_up"] is None else f"{claim['warm_up']:g}"
        plain = "" if claim["uncorrected"] == claim["verdict"] else f" (one by one: {claim['uncorrected']})"
        lines.append(("" if text == said else text, factor, f"**{claim['verdict']}**{plain}", claim["evidence"]))
        said = text
    return _lines(lines)


def about(stored: Stored, figure: str) -> str:
    """Say how large a run was, when it was made and by what."""
    rows, made = [row for row in stored["rows"] if row["figure"] == figure], stored["about"]
    size = tables.run_size((row["runs"] for row in rows), (row["horizon"] for row in rows))
    return f"`{made['command']}`, {size} each; version {made['version']}, {made['made']}."


BLOCKS: dict[str, Callable[[Stored, str], str]] = {"table": table, "claims": claims, "about": about}


def number(stored: Stored, figure: str, problem: str, policy: str) -> str:
    """Return the mean regret of one policy on one problem, with its standard error."""
    for row in stored["rows"]:
        if (row["figure"], row["problem"], row["policy"]) == (figure, problem, policy):
            return tables.with_error(row["mean"], row["stderr"])
    raise KeyError(f"there is no {policy} on {problem} in {figure}")


def filled(page: str, results: Mapping[str, Stored]) -> str:
    """Return a page with the numbers that were stored."""

    def block(mark: re.Match[str]) -> str:
        kind, figure = shlex.split(mark[2])
        return f"{mark[1]}{BLOCKS[kind](results[figure.partition('-')[0]], figure)}\n{mark[3]}"

    def inline(mark: re.Match[str]) -> str:
        figure, problem, policy = shlex.split(mark[2])
        return f"{mark[1]}{number(results[figure.partition('-')[0]], figure, problem, policy)}{mark[3]}"

    return INLINE.sub(inline, BLOCK.sub(block, page))


def _lines(rows: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)


def stored_results(folder: Path = STORE) -> dict[str, Stored]:
    """Return everything that is stored, by figure."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def main() -> None:
    """Store, fill in or check."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="write nothing, fail if a page differs")
    arguments.add_argument("--store", type=Path, help="a folder that `corebandit reproduce` has written")
    given = arguments.parse_args()
    if given.store:
        for path in store(given.store):
            print(f"stored {path.relative_to(ROOT)}")
    results, stale = stored_results(), []
    for name in PAGES:
        path = ROOT / name
        page = path.read_text(encoding="utf-8")
        if (new := filled(page, results)) != page:
            stale.append(name)
            if not given.check:
                path.write_text(new, encoding="utf-8")
    if given.check and stale:
        sys.exit(f"the numbers in {', '.join(stale)} are not those of docs/results: run scripts/fill_docs.py")
    print(f"{'checked' if given.check else 'filled in'} {len(PAGES)} pages, {len(stale)} of them changed")


if __name__ == "__main__":
    main()
