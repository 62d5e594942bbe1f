"""How often intervals contain the truth, as measured on regrets of real policies by `benchmarks/coverage.py`."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from corebandit.statistics.failures import share_unseen

MOST_NAMED = 10


@cache
def measured() -> dict[str, Any]:
    """Return what was measured, and how: a row for each number of runs."""
    content: dict[str, Any] = json.loads(files("corebandit.report").joinpath("coverage.json").read_text("utf-8"))
    return content


def coverage_line(n_runs: int) -> str:
    """Say how often intervals of so many runs contain the truth, by the largest size measured that is no larger.

    >>> coverage_line(5)
    'Intervals of fewer than 20 runs were not measured: they may miss the truth often.'
    """
    rows = [row for row in measured()["sizes"] if row["runs"] <= n_runs]
    if not rows:
        fewest = measured()["sizes"][0]["runs"]
        return f"Intervals of fewer than {fewest} runs were not measured: they may miss the truth often."
    row = rows[-1]
    return (
        f"Measured on samples of {row['runs']:,} regrets of real policies, 95 % intervals contain the truth in "
        f"{_range(row['means'])} of samples for means and in {_range(row['differences'])} for paired differences, by "
        f"policy and problem.{_low(row['below 93 %'])} Two equal policies would look different in at most "
        f"{100 * row['false looks']:.1f} % of samples. No interval knows of what was never seen: of {n_runs:,} runs "
        f"that show no failure {100 * share_unseen(n_runs):.2g} % of all may fail, at 95 %."
    )


def _low(cells: list[str]) -> str:
    """Name the cells in which intervals contain the truth too seldom, or count them where they are many."""
    if len(cells) > MOST_NAMED:
        return f" It is less than 93 % for {len(cells)} policies or pairs: intervals of few runs are often too narrow."
    return f" It is less than 93 % for {', '.join(cells)}." if cells else ""


def coverage_table() -> str:
    """Return all that was measured, as a table for a page of the documentation."""
    lines = [
        "| runs | means | paired differences | false verdicts, at most | false looks, at most | where | verdicts |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in measured()["sizes"]:
        false, looks = (f"{100 * row[f'false {what}']:.1f} %" for what in ("verdicts", "looks"))
        ranges = (_range(row["means"]), _range(row["differences"]))
        cells = (f"{row['runs']:,}", *ranges, false, looks, row["worst"], f"{100 * row['verdicts']:.0f} %")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _range(shares: list[float]) -> str:
    low, high = (f"{100 * share:.0f}" for share in shares)
    return f"{low} to {high} %"
