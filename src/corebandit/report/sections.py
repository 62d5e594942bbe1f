"""What the page shows of an experiment or a part of it: curves and tables, or a sweep, and drawings made elsewhere."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from corebandit.contracts.validate import counted
from corebandit.report import figures, sweep_drawings, tables
from corebandit.report.panels import Styles
from corebandit.report.report import Drawing, Frames
from corebandit.report.style import policy_styles
from corebandit.report.sweep_tables import SweepTable, sweep_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polars import DataFrame

PIXELS_PER_INCH = 105
LONGEST_WORD = 9  # characters that a table has room for where three stand side by side


class Illustration(NamedTuple):
    """A drawing as the page shows it, `width` pixels wide if there is room."""

    svg: Markup
    width: int
    title: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """What there is to show about an experiment or a part of it.

    Policies that are `undrawn` have no curve, and so no line to be known by.
    """

    experiment: str
    part: str
    anchor: str
    size: str = ""
    styles: Styles = field(default_factory=dict)
    undrawn: Sequence[str] = ()
    swatches: Mapping[str, Markup] = field(default_factory=dict)
    curves: Sequence[Markup] = ()
    results: Sequence[tables.ResultSection] = ()
    finals: Sequence[Markup] = ()
    shares: Sequence[Markup] = ()
    differences: Sequence[tables.DifferenceSection] = ()
    lines: Sequence[Markup] = ()
    maps: Sequence[Illustration] = ()
    sweeps: Sequence[SweepTable] = ()
    drawings: Sequence[Illustration] = ()
    drawn_results: Sequence[tables.ResultSection] = ()

    @property
    def title(self) -> str:
        """Return the heading."""
        return tables.heading(self.experiment, self.part)

    @property
    def best(self) -> str:
        """Name the policy with the lowest regret on each problem, and say how many cannot be told from it."""
        if self.sweeps or len(self.styles) < 2:
            return ""
        wins: dict[str, list[str]] = {}
        for section in self.results:
            for row in section.rows:
                if row.is_best:
                    n_tied = sum(other.is_tied for other in section.rows)
                    tied = f", not told from {n_tied} {'other' if n_tied == 1 else 'others'}" if n_tied else ""
                    wins.setdefault(row.policy, []).append(f"{section.title} ({row.regret}{tied})")
        listed = "; ".join(f"{policy} on {', '.join(problems)}" for policy, problems in wins.items())
        return f"Lowest mean regret: {listed}."

    @property
    def has_long_words(self) -> bool:
        """Tell whether a policy's name has a word that would be broken in a narrow table."""
        return any(len(word) > LONGEST_WORD for policy in self.styles for word in policy.split())


def figure_sections(frames: Frames, drawings: Sequence[Drawing] = ()) -> list[Section]:
    """Return one section per experiment and part of the summary, then one per part that only `drawings` know."""
    summary, sweeps = frames.summary, frames.sweeps
    played = summary.select(tables.PART).unique(maintain_order=True).rows()
    found = dict.fromkeys([*played, *(drawing.place for drawing in drawings)])
    experiments = list(dict.fromkeys(experiment for experiment, _ in found))
    places = sorted(found, key=lambda place: experiments.index(place[0]))  # parts of one experiment stand together
    sections = []
    for index, place in enumerate(places, start=1):
        section = Section(place[0], place[1], anchor=f"figure-{index}")
        own = [drawing for drawing in drawings if drawing.place == place]
        rows = rows_of(section, summary)
        if len(swept := rows_of(section, sweeps)):
            section = _with_sweeps(section, outside_sweeps(rows, sweeps), swept)
            if own:  # which show what the usual panels would
                plain = [table.without_best() for table in section.sweeps]
                section = replace(section, swatches={}, lines=(), maps=(), sweeps=plain)
        elif len(rows):
            section = _with_curves(section, rows, frames)
        drawn = [drawing.summary for drawing in own if drawing.summary is not None]
        sections.append(
            replace(
                section,
                drawings=_illustrations(section, own),
                drawn_results=[table for part in drawn for table in tables.results(part)],
            )
        )
    return sections


def rows_of(section: Section, frame: "DataFrame | None") -> Any:
    """Return the rows of one section, or none where there is no frame."""
    return () if frame is None else frame.filter(experiment=section.experiment, part=section.part)


def size_of(summary: "DataFrame") -> str:
    """Say how much was run: 8 policies on 3 problems, 1,000 runs of 10,000 rounds each."""
    policies, problems = summary["policy"].n_unique(), summary.n_unique(tables.PLACE)
    size = tables.run_size(summary["runs"], summary["horizon"])
    return f"{counted(policies, 'policy')} on {counted(problems, 'problem')}, {size} each"


def outside_sweeps(summary: "DataFrame", sweeps: "DataFrame | None") -> "DataFrame":
    """Return the rows of policies that are not a setting in a sweep."""
    return summary if sweeps is None else summary.join(sweeps, on=[*tables.PART, "policy"], how="anti")


def _with_curves(section: Section, summary: "DataFrame", frames: Frames) -> Section:
    curves, anchor = rows_of(section, frames.curves), section.anchor
    styles = policy_styles([*summary["policy"], *curves["policy"]])
    draw_shares = partial(figures.regret_panels, of="best-arm share")
    drawn = set(curves["policy"]) or set(styles)  # where there are no curves at all, none is left out
    return replace(
        section,
        size=size_of(summary.filter(summary["policy"].is_in(list(drawn)))),
        undrawn=[policy for policy in styles if policy not in drawn],
        styles=styles,
        swatches=_swatches({policy: style for policy, style in styles.items() if policy in drawn}),
        curves=_panels(curves, figures.regret_panels, styles, anchor),
        shares=_panels(rows_of(section, frames.shares), draw_shares, styles, anchor),
        finals=_panels(rows_of(section, frames.finals), figures.final_regret_panels, styles, anchor),
        differences=tables.differences(rows_of(section, frames.differences)),
        results=tables.results(summary),
    )


def _with_sweeps(section: Section, others: "DataFrame", sweeps: "DataFrame") -> Section:
    lines, maps = sweep_drawings.one_parameter(sweeps), sweep_drawings.two_parameters(sweeps)
    styles = sweep_drawings.series_styles(lines)
    return replace(
        section,
        size=f"{tables.run_size(sweeps['runs'], sweeps['horizon'])} each",
        styles=styles,
        swatches=_swatches(styles),
        lines=_panels(lines, sweep_drawings.sweep_panels, styles, section.anchor),
        maps=_maps(maps, section.anchor),
        sweeps=sweep_tables(sweeps),
        results=tables.results(others),
    )


def _illustrations(section: Section, drawings: Sequence[Drawing]) -> list[Illustration]:
    return [
        _illustration(drawing.figure, f"{section.anchor}-drawing-{index}", drawing.title, drawing.caption)
        for index, drawing in enumerate(drawings, start=1)
    ]


def _illustration(figure: "Figure", name: str, title: str, caption: str = "") -> Illustration:
    width = round(PIXELS_PER_INCH * figure.get_figwidth())
    return Illustration(Markup(figures.as_svg(figure, name, title)), width, title, caption)


def _maps(sweeps: "DataFrame", anchor: str) -> list[Illustration]:
    drawn = [] if sweeps.is_empty() else sweep_drawings.heat_map_panels(sweeps)
    return [
        _illustration(figure, anchor, f"{figure.axes[0].get_title(loc='left')}: {sweep_drawings.REGRET}")
        for figure in drawn
    ]


def _swatches(styles: Styles) -> dict[str, Markup]:
    return {name: Markup(figures.as_svg(figures.swatch(style))) for name, style in styles.items()}


def _panels(rows: Any, draw: "Callable[[DataFrame, Styles], list[Figure]]", styles: Styles, name: str) -> list[Markup]:
    panels = []
    for figure in draw(rows, styles) if len(rows) else ():
        axes = figure.axes[0]
        title = f"{axes.get_title(loc='left')}: {axes.get_ylabel() or axes.get_xlabel()}"
        panels.append(Markup(figures.as_svg(figure, name, title)))
    return panels
