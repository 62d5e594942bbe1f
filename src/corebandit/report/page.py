"""The report as one HTML page that loads nothing, and as a fragment for notebooks."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from corebandit.report import figures, tables
from corebandit.report.style import LineStyle, policy_styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polars import DataFrame

VERDICT_CLASSES = {"holds": "holds", "does not hold": "fails"}
VERDICT_VERBS = {"holds": ("holds", "hold"), "does not hold": ("does not hold", "do not hold")}


class FigureSection(NamedTuple):
    """What there is to show about one figure; `problems` are the titles of its problems."""

    name: str
    anchor: str
    size: str
    problems: dict[str, str]
    styles: dict[str, LineStyle]
    swatches: dict[str, Markup]
    curves: list[Markup]
    results: list[tables.ResultSection]
    finals: list[Markup]
    differences: list[tables.DifferenceSection]

    @property
    def title(self) -> str:
        """Return the heading."""
        return tables.figure_title(self.name)

    @property
    def best(self) -> str:
        """Name the policy with the lowest regret on each problem."""
        if len(self.styles) < 2:
            return ""
        wins: dict[str, list[str]] = {}
        for section in self.results:
            problem = self.problems.get(section.problem, section.problem)
            for row in section.rows:
                if row.is_best:
                    wins.setdefault(row.policy, []).append(f"{problem} ({row.regret})")
        listed = "; ".join(f"{policy} on {', '.join(problems)}" for policy, problems in wins.items())
        return f"Lowest mean regret: {listed}."


def render_page(
    title: str,
    summary: "DataFrame",
    curves: "DataFrame",
    finals: "DataFrame",
    differences: "DataFrame",
    verdicts: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
) -> str:
    """Return the report as one self-contained HTML page.

    Parameters
    ----------
    title
        Heading of the page.
    summary, curves, finals, differences
        Frames with a column `figure`; the page has one section per figure of `summary`, in the order of the frame.
    verdicts
        Claims with their verdicts; without any the section is left out.
    settings
        `experiments`, `versions`, `seconds` (wall time) and `command`, each optional.
    """
    claims = tables.claims(verdicts)
    sections = [
        section._replace(
            finals=_panels(_rows_of(section.name, finals), figures.final_regret_panels, section.styles, section.anchor),
            differences=tables.differences(_rows_of(section.name, differences)),
        )
        for section in _sections(summary, curves)
    ]
    template = _environment().get_template("page.html.jinja")
    return template.render(
        title=title,
        size=_size(summary),
        is_paired=summary["policy"].n_unique() > 1,
        tiles=_tiles(summary, claims, settings),
        figures=sections,
        far=figures.FAR,
        claims=claims,
        tally=_tally(claims),
        command=settings.get("command"),
        versions=settings.get("versions", {}),
        experiments=[_experiment(description) for description in settings.get("experiments", ())],
    )


def render_fragment(summary: "DataFrame", curves: "DataFrame") -> str:
    """Return the results table and the regret curves as a piece of HTML, for notebooks."""
    return _environment().get_template("fragment.html.jinja").render(figures=_sections(summary, curves))


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


def _sections(summary: "DataFrame", curves: "DataFrame") -> list[FigureSection]:
    """Return one section per figure of `summary`, with its table and its curves."""
    sections = []
    for index, part in enumerate(summary.partition_by("figure", maintain_order=True), start=1):
        name, anchor = part["figure"][0], f"figure-{index}"
        own_curves = curves.filter(figure=name)
        styles = policy_styles([*part["policy"], *own_curves["policy"]])
        sections.append(
            FigureSection(
                name=name,
                anchor=anchor,
                size=_size(part),
                problems=dict(zip(own_curves["problem"], own_curves["title"], strict=True)),
                styles=styles,
                swatches={policy: Markup(figures.as_svg(figures.swatch(style))) for policy, style in styles.items()},
                curves=_panels(own_curves, figures.regret_panels, styles, anchor),
                results=tables.results(part),
                finals=[],
                differences=[],
            )
        )
    return sections


def _panels(
    frame: "DataFrame",
    draw: "Callable[[DataFrame, figures.Styles], list[Figure]]",
    styles: "figures.Styles",
    name: str,
) -> list[Markup]:
    panels = []
    for figure in draw(frame, styles) if not frame.is_empty() else ():
        axes = figure.axes[0]
        title = f"{axes.get_title(loc='left')}: {axes.get_ylabel() or axes.get_xlabel()}"
        panels.append(Markup(figures.as_svg(figure, name, title)))
    return panels


def _rows_of(figure: str, frame: "DataFrame") -> "DataFrame":
    # With a single policy there are no differences, and such a frame may have no columns either.
    return frame if frame.is_empty() else frame.filter(figure=figure)


def _size(summary: "DataFrame") -> str:
    """Say how much was run: 8 policies on 3 problems, 1,000 runs of 10,000 rounds each."""
    policies, problems = summary["policy"].n_unique(), summary.n_unique(["figure", "problem"])
    return (
        f"{policies} {'policy' if policies == 1 else 'policies'} on {problems} problem{'s' if problems > 1 else ''}, "
        f"{tables.run_size(summary['runs'], summary['horizon'])} each"
    )


def _tiles(summary: "DataFrame", claims: Sequence[tables.Claim], settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the numbers to show large at the top."""
    tiles = {
        "policies": tables.count(summary["policy"].n_unique()),
        "problems": tables.count(summary.n_unique(["figure", "problem"])),
        "runs per policy": tables.count_range(summary["runs"]),
        "rounds played": tables.large(int((summary["horizon"] * summary["runs"]).sum())),
        "CPU time": tables.duration(float(summary["cpu_seconds"].sum())),
    }
    if settings.get("seconds") is not None:
        tiles["time spent"] = tables.duration(settings["seconds"])
    for factor, verdicts in _by_factor(claims).items():
        name = f"claims that hold, warm-up {factor}" if factor else "claims that hold"
        tiles[name] = f"{verdicts.count('holds')} of {len(verdicts)}"
    return tiles


def _by_factor(claims: Sequence[tables.Claim]) -> dict[str, list[str]]:
    """Return the verdicts for each warm-up factor; a claim that does not depend on it counts for all of them."""
    factors = dict.fromkeys(verdict.warm_up for claim in claims for verdict in claim.verdicts)
    return {
        factor: [
            verdict.verdict
            for claim in claims
            for verdict in claim.verdicts
            if verdict.warm_up == factor or not verdict.warm_up
        ]
        for factor in ([factor for factor in factors if factor] or factors)
    }


def _tally(claims: Sequence[tables.Claim]) -> list[str]:
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


def _experiment(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the settings say about one experiment, ready to print."""
    problem, policies = description.get("problem", {}), description.get("policies", {})
    facts = {
        "problem": problem.get("name"),
        "parameters": tables.parameters(problem),
        "rounds": description.get("horizon") and tables.count(description["horizon"]),
        "runs": description.get("runs") and tables.count(description["runs"]),
        "seed": description.get("seed"),
        "regret": description.get("regret"),
    }
    return {
        "title": ": ".join(filter(None, (tables.figure_title(description.get("name", "")), description.get("title")))),
        "facts": {name: value for name, value in facts.items() if value not in (None, "")},
        "policies": [
            {"label": label, "name": policy.get("name"), "parameters": tables.parameters(policy)}
            for label, policy in policies.items()
        ],
    }
