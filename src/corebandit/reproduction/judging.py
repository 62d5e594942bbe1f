"""The report of a result with the claims of all figures and studies that it holds judged, and with their drawings."""

from dataclasses import replace

from corebandit.experiments.reporting import TITLE, report_of
from corebandit.experiments.result import Result
from corebandit.report import tables
from corebandit.report.about import About
from corebandit.report.claim import Claim
from corebandit.report.provenance import Provenance
from corebandit.report.report import Drawing, Report
from corebandit.reproduction.figure import Figure
from corebandit.reproduction.paper import FIGURES
from corebandit.reproduction.provenance import provenance_of
from corebandit.reproduction.studies import STUDIES

PUBLISHED = 1_000  # runs that the stored publication has
INCOMPLETE = (LookupError, ValueError)  # where policies or problems are missing


def judged_report(result: Result, about: About) -> Report:
    """Return the report of a result; which figures and studies it holds, the names of its experiments say."""
    held = [figure for name, figure in (FIGURES | STUDIES).items() if result.curves(name)]
    claims: list[Claim] = []
    drawings: list[Drawing] = []
    provenance: list[Provenance] = []
    remarks = _remarks(result, [figure for figure in held if figure.name in FIGURES])
    for figure in held:
        own = [each for each in result.experiments if each["name"] == figure.name]
        try:
            found = figure.claims(result), figure.drawings(result), provenance_of(own)
        except INCOMPLETE as error:
            missing = f"{type(error).__name__}: {error}"
            remarks.append(
                f"The claims of {tables.heading(figure.name)} are not judged, as not all that they rest on is here "
                f"({missing})."
            )
        else:
            claims += found[0]
            drawings += found[1]
            provenance += found[2]
    plain = report_of(result, replace(about, title=about.title or _title(held)))
    undrawn = [(figure.name, policy) for figure in held for policy in figure.undrawn]
    return replace(
        plain,
        frames=plain.frames.without(undrawn),
        claims=claims,
        drawings=drawings,
        captions={figure.name: figure.caption for figure in held},
        provenance=provenance,
        remarks=[*plain.remarks, *remarks],
    )


def _title(held: list[Figure]) -> str:
    if any(figure.name in FIGURES for figure in held):
        return "CORe: the paper reproduced"
    return "CORe: beyond the paper" if held else TITLE


def _remarks(result: Result, figures: list[Figure]) -> list[str]:
    """Say how large figures of the paper are beside the paper's own, and what CORe runs twice for."""
    runs = {
        figure: max((len(curve.regret) for curve in result.curves(figure.name, "")), default=0) for figure in figures
    }
    if not runs:
        return []
    said = [f"{tables.heading(figure.name)} {size:,} ({figure.paper_size.runs:,})" for figure, size in runs.items()]
    stored = f" Verdicts of {PUBLISHED:,} runs are in docs/results.md." if min(runs.values()) < PUBLISHED else ""
    return [
        f"Runs of each policy on each problem, and in parentheses the paper's: {', '.join(said)}.{stored}",
        "CORe runs with two lengths of its warm-up: the paper's text has the factor 4, its authors' code 2, which is "
        "called warm-up 2 here.",
    ]
