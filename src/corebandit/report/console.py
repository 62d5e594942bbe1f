"""Results in the terminal: rich renderables that stay readable on 80 columns, without colour and in a pipe."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from corebandit.report import tables
from corebandit.report.claim import Claim
from corebandit.report.claim_tables import Verdict, claims as claim_sections
from corebandit.report.sweep_tables import SweepTable, sweep_tables

if TYPE_CHECKING:
    from polars import DataFrame

VERDICT_STYLES = {"holds": "bold green", "does not hold": "bold red"}
UNSURE_STYLE = "yellow"
INDENT, GAP, LEAST_NAME = 2, 3, 8
TIED = "~"


def results_table(summary: "DataFrame") -> RenderableType:
    """Return one table for each part and problem: final regret with its standard error and interval, and CPU time."""
    contents = []
    for section in tables.results(summary):
        title = _title(section, section.title, section.size)
        rows = []
        for row in section.rows:
            style = "bold" if row.is_best else ""
            rows.append([Text(text, style) for text in (row.policy, row.regret, row.interval)] + [Text(row.cpu, "dim")])
        contents.append((title, rows))
    return _Aligned(("policy", "regret", "95 % interval", "CPU"), contents)


def verdicts_table(judged: Sequence[Claim]) -> Table:
    """Return one row per claim, with its verdict for every warm-up factor, and one for each other reading of it.

    What another reading says is dim where it says the same.
    """
    claims = claim_sections(judged)
    factors = list(dict.fromkeys(verdict.warm_up for claim in claims for verdict in claim.verdicts if verdict.warm_up))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("claim", overflow="fold")
    for factor in factors or [""]:
        table.add_column(f"warm-up {factor}" if factor else "verdict", min_width=13, max_width=13)
    for claim in claims:
        table.add_row(Text(claim.id, "bold"), Text(claim.text), *_verdict_cells(claim.as_drawn, factors))
        for reading, verdicts in claim.readings.items():
            table.add_row("", Text(f"- {reading}", "dim"), *_verdict_cells(verdicts, factors))
    return table


def _verdict_cells(verdicts: Sequence[Verdict], factors: Sequence[str]) -> list[Text]:
    cells = []
    found = {verdict.warm_up: verdict for verdict in verdicts}
    for factor in factors or [""]:
        # A claim that does not depend on the warm-up has one verdict for every factor.
        verdict = found.get(factor, found.get(""))
        if verdict is None:
            cells.append(Text(tables.UNKNOWN))
        elif verdict.reading and not verdict.instead_of:
            cells.append(Text("the same", "dim"))
        else:
            cells.append(Text(verdict.verdict, VERDICT_STYLES.get(verdict.verdict, UNSURE_STYLE)))
    return cells


def sweeps_table(sweeps: "DataFrame") -> RenderableType:
    """Return mean final regret under every setting: one parameter down and series across, or one parameter each way.

    The best setting of each series is bold, and is named with its interval below the table; a wave marks those that
    cannot be told from it.
    """
    parts: list[RenderableType] = []
    for section in sweep_tables(sweeps):
        is_grid = bool(section.series)
        table = Table(
            box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1 if is_grid else GAP - 1, 0, 0)
        )
        corner = f"{section.down} \\ {section.across}" if is_grid else section.down
        for header in (corner, *section.columns):
            table.add_column(Text(header), justify="right", overflow="fold")
        for name, cells in section.rows:
            texts = [
                Text(
                    (TIED if cell.is_tied else "") + (cell.text if is_grid else cell.mean),
                    "bold" if cell.is_best else "",
                )
                if cell
                else Text(tables.UNKNOWN)
                for cell in cells
            ]
            table.add_row(Text(name, "dim"), *texts)
        problem = f"{section.title}, {section.series}" if is_grid else section.title
        best = Text("\n".join(f"best: {line}" for line in section.best))
        if any(cell and cell.is_tied for _, cells in section.rows for cell in cells):
            best.append(f"\n{TIED} cannot be told from the best: the 95 % interval of the difference includes 0", "dim")
        parts += [_title(section, problem, section.size), Padding(Group(table, best), (0, 0, 1, INDENT))]
    return Group(*parts)


def best_settings(sweeps: "DataFrame") -> RenderableType:
    """Return one line for each series of a sweep: the setting with the lowest regret."""
    lines = [
        Text.assemble(
            (f"{tables.heading(section.experiment, section.part)}, {section.title}", "bold"),
            (": best is ", "dim"),
            best,
        )
        for section in sweep_tables(sweeps)
        for best in section.best
    ]
    return Padding(Group(*lines), (0, 0, 1, 0))


def _title(section: tables.ResultSection | SweepTable, problem: str, rest: str) -> Text:
    heading = tables.heading(section.experiment, section.part)
    return Text.assemble((f"{heading}, {problem}", "bold"), (f": {rest}", "dim"))


class _Aligned:
    """Tables under one another whose columns line up; on a narrow terminal cells wrap instead, and nothing is cut."""

    def __init__(self, headers: Sequence[str], contents: Sequence[tuple[Text, list[list[Text]]]]) -> None:
        self.headers, self.contents = headers, contents
        self.widths = [
            max([len(header), *(row[column].cell_len for _, rows in contents for row in rows)])
            for column, header in enumerate(headers)
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names, *numbers = self.widths
        room = options.max_width - INDENT - GAP * len(numbers) - sum(numbers)
        # Names wrap first, numbers only if that is not enough.
        widths = [min(names, room), *numbers] if room >= LEAST_NAME else [None] * len(self.widths)
        for title, rows in self.contents:
            table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
            for column, header in enumerate(self.headers):
                justify: Literal["left", "right"] = "right" if column else "left"
                table.add_column(header, width=widths[column], justify=justify, overflow="fold")
            for row in rows:
                table.add_row(*row)
            yield title
            yield Padding(table, (0, 0, 1, INDENT))
