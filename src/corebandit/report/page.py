"""The report as one HTML page that loads nothing, and as a fragment for notebooks."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from corebandit.contracts.validate import counted
from corebandit.report import figures, tables
from corebandit.report.about import About
from corebandit.report.claim import FAILS, HOLDS, LEVEL, LOOKS, VERBS
from corebandit.report.claim_tables import ClaimSection, claims as claim_sections, disagreements
from corebandit.report.coverage import coverage_line
from corebandit.report.provenance import HEADERS, by_figure
from corebandit.report.report import Frames, Report
from corebandit.report.sections import figure_sections, outside_sweeps

if TYPE_CHECKING:
    from polars import DataFrame

LONGEST_TABLE = 24  # rows; longer ones are folded
SETTING, SERIES = ("experiment", "part", "policy"), ("experiment", "part", "series")
VERDICT_CLASSES = {HOLDS: "holds", FAILS: "fails"}


def render_page(report: Report) -> str:
    """Return a report as one self-contained HTML page."""
    frames, about, claims = report.frames, report.about or About(), claim_sections(report.claims)
    sizes = _sizes(frames.summary, frames.sweeps)
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            about=about,
            lead=_lead(frames.summary, sizes),
            is_paired=frames.summary["policy"].n_unique() > 1,
            tiles=_tiles(frames.summary, sizes, claims, about.seconds),
            figures=figure_sections(frames, report.drawings),
            captions=report.captions,
            far=figures.FAR,
            longest=LONGEST_TABLE,
            claims=claims,
            tally=_tally(claims),
            disagreements=disagreements(claims),
            provenance={tables.heading(figure): rows for figure, rows in by_figure(report.provenance).items()},
            provenance_headers=HEADERS,
            experiments=_experiments(report.experiments),
            coverage=coverage_line(min(frames.summary["runs"].to_list())),
            level=f"{100 * LEVEL:g} %",
            remarks=report.remarks,
        )
    )


def render_fragment(frames: Frames) -> str:
    """Return the results table and the regret curves, or the sweeps, as a piece of HTML, for notebooks."""
    return _environment().get_template("fragment.html.jinja").render(figures=figure_sections(frames))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("corebandit.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["minus"] = lambda text: text.replace("-", "\N{MINUS SIGN}")
    environment.filters["verdict_class"] = lambda verdict: VERDICT_CLASSES.get(verdict, "open")
    return environment


def _sizes(summary: "DataFrame", sweeps: "DataFrame | None") -> dict[str, int]:
    """Count policies, problems and parameter settings, which are too many to be policies; the same everywhere."""
    compared = outside_sweeps(summary, sweeps)["policy"]
    series = () if sweeps is None else sweeps["series"]
    sizes = {"policy": len({*compared} or {*series}), "problem": summary["problem"].n_unique()}
    # Where each series is one policy at several places, these are no settings of it.
    if sweeps is not None and sweeps.n_unique(SETTING) > sweeps.n_unique(SERIES):
        sizes["parameter setting"] = sweeps.n_unique(SETTING)
    return sizes


def _lead(summary: "DataFrame", sizes: Mapping[str, int]) -> str:
    """Say how much was run."""
    policies, *others = (counted(size, name) for name, size in sizes.items())
    return f"{policies} on {', '.join(others)}, {tables.run_size(summary['runs'], summary['horizon'])} each"


def _tiles(
    summary: "DataFrame", sizes: Mapping[str, int], claims: Sequence[ClaimSection], seconds: float | None
) -> dict[str, str]:
    """Return the numbers to show large at the top."""
    tiles = {noun: number for number, noun in (counted(size, name).split(" ", 1) for name, size in sizes.items())} | {
        "runs per policy": tables.count_range(summary["runs"]),
        "rounds played": tables.large(int((summary["horizon"] * summary["runs"]).sum())),
        "CPU time": tables.duration(float(summary["cpu_seconds"].sum())),
    }
    if seconds is not None:
        tiles["time spent"] = tables.duration(seconds)
    for factor, verdicts in _by_factor(claims).items():
        if given := [verdict for verdict in verdicts if verdict not in LOOKS.values()]:
            name = f"claims that hold, warm-up {factor}" if factor else "claims that hold"
            tiles[name] = f"{given.count(HOLDS)} of {len(given)} judged"
    return tiles


def _by_factor(claims: Sequence[ClaimSection]) -> dict[str, list[str]]:
    """Return the verdicts for each warm-up factor; a claim that does not depend on it counts for all of them.

    Other readings than those of the figures are told apart.
    """
    factors = dict.fromkeys(verdict.warm_up for claim in claims for verdict in claim.as_drawn)
    return {
        factor: [
            verdict.verdict
            for claim in claims
            for verdict in claim.as_drawn
            if verdict.warm_up == factor or not verdict.warm_up
        ]
        for factor in ([factor for factor in factors if factor] or factors)
    }


def _tally(claims: Sequence[ClaimSection]) -> list[str]:
    """Say how many claims hold, do not hold or are undecided, one sentence for each warm-up factor."""
    sentences = []
    for factor, verdicts in _by_factor(claims).items():
        parts = []
        # The known verdicts come first, in their order, so that sentences can be compared.
        for verdict in dict.fromkeys([*VERDICT_CLASSES, *verdicts]):
            if number := verdicts.count(verdict):
                one, many = VERBS.get(verdict, (f"is {verdict}", f"are {verdict}"))
                parts.append(f"{number} {one if number == 1 else many}")
        beginning = f"With warm-up factor {factor}, of" if factor else "Of"
        sentences.append(f"{beginning} {len(verdicts)} claims {', '.join(parts)}.")
    return sentences


def _experiments(descriptions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what the settings say about the experiments; those that differ only in their problem are told as one."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for description in descriptions:
        shared = {key: value for key, value in description.items() if key not in ("label", "problem", "points")}
        groups.setdefault(json.dumps(shared), []).append(description)
    return [_experiment(group) for group in groups.values()]


def _experiment(group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the settings say about experiments that differ only in their problem, ready to print."""
    description = group[0]
    problems = [each.get("problem", {}) for each in group]
    is_alone = len(group) == 1
    facts = {
        "problem": problems[0].get("name") if is_alone else None,
        "parameters": tables.parameters(problems[0]) if is_alone else None,
        "rounds": description.get("horizon") and tables.count(description["horizon"]),
        "horizon": None if description.get("horizon_known", True) else "not told to policies",
        "runs": description.get("runs") and tables.count(description["runs"]),
        "seed": description.get("seed"),
        "regret": description.get("regret"),
    }
    return {
        "title": ", ".join(
            filter(
                None,
                (tables.heading(description.get("name", ""), description.get("part", "")), description.get("title")),
            )
        ),
        "facts": {name: value for name, value in facts.items() if value not in (None, "")},
        "problems": []
        if is_alone
        else [
            {"label": each.get("label", ""), "name": problem.get("name"), "parameters": tables.parameters(problem)}
            for each, problem in zip(group, problems, strict=True)
        ],
        "policies": [
            {"label": label, "name": policy.get("name"), "parameters": tables.parameters(policy)}
            for label, policy in description.get("policies", {}).items()
        ],
    }
