"""The report as one HTML page that loads nothing, and as a fragment for notebooks."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from corebandit.contracts.validate import counted
from corebandit.report import figures, tables
from corebandit.report.claim import ENOUGH_RUNS, FAILS, HOLDS, LEVEL, LOOKS, Claim
from corebandit.report.claim_tables import ClaimSection, claims as claim_sections, disagreements
from corebandit.report.coverage import coverage_line
from corebandit.report.provenance import HEADERS, Provenance, by_figure
from corebandit.report.sections import Drawing, figure_sections, outside_sweeps, size_of, with_runs

if TYPE_CHECKING:
    from polars import DataFrame

LONGEST_TABLE = 24  # rows; longer ones are folded
SETTING, SERIES = ("experiment", "part", "policy"), ("experiment", "part", "series")
VERDICT_CLASSES = {HOLDS: "holds", FAILS: "fails"}
VERDICT_VERBS = {
    HOLDS: ("holds", "hold"),
    FAILS: ("does not hold", "do not hold"),
    LOOKS[HOLDS]: ("looks as if it holds", "look as if they hold"),
    LOOKS[FAILS]: ("looks as if it does not", "look as if they do not"),
}


def render_page(
    title: str,
    summary: "DataFrame",
    curves: "DataFrame",
    finals: "DataFrame",
    differences: "DataFrame",
    judged: Sequence[Claim],
    settings: Mapping[str, Any],
    sweeps: "DataFrame | None" = None,
    drawings: Sequence[Drawing] = (),
    captions: Mapping[str, str] | None = None,
    provenance: Sequence[Provenance] = (),
    shares: "DataFrame | None" = None,
) -> str:
    """Return the report as one self-contained HTML page.

    Parameters
    ----------
    title
        Heading of the page.
    summary, curves, finals, differences
        Frames with the columns `experiment` and `part`; the page has one section for each of them in `summary`, in its
        order.
    judged
        Claims with their verdicts; without any the section is left out.
    settings
        `experiments`, `versions`, `seconds` (wall time) and `command`, each optional.
    sweeps
        Final regret under every setting of a parameter search, one row a point. A section with such rows shows them
        instead of curves, single runs and differences.
    drawings
        Figures to show in the sections they name; a name without a section gets one of its own, at the end.
    captions
        What an experiment is about, in a sentence, by its name.
    provenance
        Where the parameters of its policies come from.
    shares
        The curves of the best-arm share.
    """
    claims = claim_sections(judged)
    sections = [
        with_runs(section, finals, differences, shares)
        for section in figure_sections(summary, curves, sweeps, drawings)
    ]
    template = _environment().get_template("page.html.jinja")
    return template.render(
        title=title,
        size=_lead(summary, sweeps),
        is_paired=summary["policy"].n_unique() > 1,
        tiles=_tiles(summary, sweeps, claims, settings),
        figures=sections,
        captions=captions or {},
        far=figures.FAR,
        longest=LONGEST_TABLE,
        claims=claims,
        tally=_tally(claims),
        disagreements=disagreements(claims),
        provenance={tables.heading(figure): rows for figure, rows in by_figure(provenance).items()},
        provenance_headers=HEADERS,
        command=settings.get("command"),
        versions=settings.get("versions", {}),
        experiments=_experiments(settings.get("experiments", ())),
        coverage=coverage_line(min(summary["runs"].to_list())),
        enough=ENOUGH_RUNS,
        level=f"{100 * LEVEL:g} %",
        remarks=settings.get("remarks", ()),
    )


def render_fragment(summary: "DataFrame", curves: "DataFrame", sweeps: "DataFrame | None" = None) -> str:
    """Return the results table and the regret curves, or the sweeps, as a piece of HTML, for notebooks."""
    sections = figure_sections(summary, curves, sweeps)
    return _environment().get_template("fragment.html.jinja").render(figures=sections)


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


def _lead(summary: "DataFrame", sweeps: "DataFrame | None") -> str:
    """Say how much was run; the settings of sweeps are counted apart, as they are too many to be policies."""
    plain = outside_sweeps(summary, sweeps)
    if sweeps is None or plain.height == summary.height:
        return size_of(summary)
    if sweeps.n_unique(SETTING) == sweeps.n_unique(SERIES):
        return size_of(summary)  # each is a policy of its own, at several places
    settings = counted(sweeps.n_unique(SETTING), "parameter setting")
    size = tables.run_size(summary["runs"], summary["horizon"])
    if plain.is_empty():
        policies, problems = sweeps["series"].n_unique(), summary.n_unique(tables.PLACE)
        subject = f"{settings} of {counted(policies, 'policy')} on {counted(problems, 'problem')}"
    else:
        policies, problems = plain["policy"].n_unique(), plain.n_unique(tables.PLACE)
        subject = f"{counted(policies, 'policy')} on {counted(problems, 'problem')} and {settings}"
    return f"{subject}, {size} each"


def _tiles(
    summary: "DataFrame", sweeps: "DataFrame | None", claims: Sequence[ClaimSection], settings: Mapping[str, Any]
) -> dict[str, str]:
    """Return the numbers to show large at the top."""
    policies = {*outside_sweeps(summary, sweeps)["policy"], *(() if sweeps is None else sweeps["series"])}
    tiles = {"policies": tables.count(len(policies))}
    if sweeps is not None and sweeps.n_unique(SETTING) > sweeps.n_unique(SERIES):
        tiles["parameter settings"] = tables.count(sweeps.n_unique(SETTING))
    tiles |= {
        "problems": tables.count(summary.n_unique(tables.PLACE)),
        "runs per policy": tables.count_range(summary["runs"]),
        "rounds played": tables.large(int((summary["horizon"] * summary["runs"]).sum())),
        "CPU time": tables.duration(float(summary["cpu_seconds"].sum())),
    }
    if settings.get("seconds") is not None:
        tiles["time spent"] = tables.duration(settings["seconds"])
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
                one, many = VERDICT_VERBS.get(verdict, (f"is {verdict}", f"are {verdict}"))
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
