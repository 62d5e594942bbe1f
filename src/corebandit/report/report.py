"""What was found, ready to be shown: as a page beside data and pictures in a folder, and in a terminal."""

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from corebandit.contracts.atomic_files import make_folder, write_whole
from corebandit.report.about import About
from corebandit.report.claim import Claim
from corebandit.report.provenance import Provenance
from corebandit.report.tables import PART

if TYPE_CHECKING:  # imported where used: matplotlib, rich and jinja2 are slow to import
    from matplotlib.figure import Figure
    from polars import DataFrame
    from rich.console import Console

PAGE = "report.html"


class Drawing(NamedTuple):
    """A figure made elsewhere, for the section of an experiment or a part of it; the caption says what is seen.

    `summary` are its numbers, in the columns of `Result.summary`, for a table beside it and on the console.
    """

    experiment: str
    title: str
    caption: str
    figure: "Figure"
    summary: "DataFrame | None" = None
    part: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """Return the section that it is for."""
        return self.experiment, self.part


class Frames(NamedTuple):
    """Numbers, in the columns that methods of `Result` return; `shares` are the curves of the best arm's share."""

    summary: "DataFrame"
    curves: "DataFrame"  # means, without those of sweeps
    finals: "DataFrame | None" = None
    differences: "DataFrame | None" = None
    sweeps: "DataFrame | None" = None
    shares: "DataFrame | None" = None

    def without(self, undrawn: Collection[tuple[str, str]]) -> "Frames":
        """Return them without the curves and the single runs of policies, given with the experiment's name."""
        import polars as pl

        left_out = pl.DataFrame(list(undrawn), {"experiment": pl.String, "policy": pl.String}, orient="row")
        kept = {
            name: frame.join(left_out, on=["experiment", "policy"], how="anti", maintain_order="left")
            for name in ("curves", "finals", "shares")
            if (frame := getattr(self, name)) is not None
        }
        return self._replace(**kept)


@dataclass(frozen=True)
class Report:
    """What is shown of a result: `write` it to a folder, `show` it in a terminal.

    The page has a section for each experiment and part, in the order of the summary. One with rows of sweeps shows
    these instead of curves, single runs and differences.
    """

    frames: Frames
    experiments: Sequence[Mapping[str, Any]] = ()  # what was run, as `Experiment.describe` says it
    about: About | None = None
    claims: Sequence[Claim] = ()
    drawings: Sequence[Drawing] = ()
    captions: Mapping[str, str] = field(default_factory=dict)  # what an experiment is about, by its name
    provenance: Sequence[Provenance] = ()  # of the parameters of policies
    remarks: Sequence[str] = ()  # sentences to read first

    def write(self, folder: Path) -> Path:
        """Write the page, its pictures and its numbers to a folder, in place of those there; return the page's path."""
        from corebandit.report.figures import save
        from corebandit.report.page import render_page

        make_folder(folder)
        averages = [row for each in self.drawings if each.summary is not None for row in each.summary.to_dicts()]
        _write_json(folder / "summary.json", {"rows": self.frames.summary.to_dicts(), "averages": averages})
        _write_json(folder / "claims.json", {"claims": [claim.describe() for claim in self.claims]})
        figures = []
        for name, figure in self.pictures():
            save(figure, folder / "figures" / name)
            figures.append(name)
        remove_figures(folder, but=figures)
        if self.about:
            replace(self.about, figures=figures).write(folder)
        write_whole(folder / PAGE, render_page(self))
        return folder / PAGE

    def pictures(self) -> "Iterator[tuple[str, Figure]]":
        """Yield the name and the content of every picture. Drawings take the place of the usual ones of a sweep."""
        from corebandit.report.figures import final_regrets, regret_curves
        from corebandit.report.sweep_drawings import sweep_figures

        curves, finals, sweeps = self.frames.curves, self.frames.finals, self.frames.sweeps
        if sweeps is not None:
            curves = curves.join(sweeps, on=PART, how="anti", maintain_order="left")
        for (experiment, part), rows in curves.group_by(*PART, maintain_order=True):
            name = file_name(experiment, part)
            yield name, regret_curves(rows)
            if finals is not None:
                yield f"{name}-final-regret", final_regrets(finals.filter(experiment=experiment, part=part))
        drawn = {drawing.place for drawing in self.drawings}
        for place, rows in sweeps.group_by(*PART, maintain_order=True) if sweeps is not None else ():
            if place not in drawn:
                # Where there are sweeps of both kinds, the heat maps come second.
                for suffix, figure in zip(("", "-heat-map"), sweep_figures(rows), strict=False):
                    yield f"{file_name(*place)}{suffix}", figure
        for drawing in self.drawings:
            yield file_name(*drawing.place, drawing.title), drawing.figure

    def show(self, console: "Console") -> None:
        """Print tables and verdicts; of sweeps the best settings, or all if there is nothing else."""
        from corebandit.report.console import best_settings, results_table, sweeps_table, verdicts_table

        summary, sweeps = self.frames.summary, self.frames.sweeps
        if sweeps is not None:
            summary = summary.join(sweeps, on=PART, how="anti", maintain_order="left")
            drawn = {drawing.place for drawing in self.drawings}
            sweeps = sweeps.filter([place not in drawn for place in sweeps.select(PART).rows()])
        if not summary.is_empty():
            console.print(results_table(summary))
        if sweeps is not None and not sweeps.is_empty():
            console.print(sweeps_table(sweeps) if summary.is_empty() else best_settings(sweeps))
        for drawing in self.drawings:
            if drawing.summary is not None:
                console.print(results_table(drawing.summary))
        if self.claims:
            console.print(verdicts_table(self.claims))


def file_name(experiment: str, *words: str) -> str:
    """Return what a picture of an experiment is called.

    >>> file_name("figure3", "heat map"), file_name("theory", "", "Growth of regret (n)")
    ('figure3-heat-map', 'theory-growth-of-regret-n')
    """
    plain = [re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in words]
    return "-".join([experiment, *filter(None, plain)])


def remove_figures(folder: Path, but: Collection[str]) -> None:
    """Remove the pictures of the report that was here before: beside others they would be taken for new."""
    before = About.read(folder)
    for name in before.figures if before else ():
        for path in (folder / "figures" / f"{name}{ending}" for ending in (".png", ".svg")):
            if name not in but and path.parent == folder / "figures":
                path.unlink(missing_ok=True)


def _write_json(path: Path, content: Any) -> None:
    write_whole(path, json.dumps(_without_infinity(content), indent=1, allow_nan=False) + "\n")


def _without_infinity(content: Any) -> Any:
    """Return what JSON can say: it has no word for the ends of an interval that nothing is known of."""
    if isinstance(content, Mapping):
        return {key: _without_infinity(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_without_infinity(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
