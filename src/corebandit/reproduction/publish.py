"""Write what a run leaves behind: data, summary, claims, figures and the report, in one folder."""

import contextlib
import hashlib
import json
import math
import platform
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corebandit import __version__, report
from corebandit.compiled.sources import PACKAGE
from corebandit.contracts.atomic_files import write_whole
from corebandit.experiments.result import Result
from corebandit.report.claim import Claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polars import DataFrame

LIBRARIES = ("numba", "numpy", "polars", "matplotlib")


def publish(
    result: Result,
    folder: Path,
    *,
    title: str,
    command: str,
    seconds: float,
    claims: Sequence[Claim] = (),
    drawings: "Sequence[report.Drawing]" = (),
    captions: Mapping[str, str] | None = None,
    undrawn: Collection[tuple[str, str]] = (),
    provenance: "Sequence[report.Provenance]" = (),
    remarks: Sequence[str] = (),
) -> Path:
    """Write everything and return the path of the report.

    `undrawn` are policies in tables only, by experiment; `provenance` says where parameters come from; `remarks` are
    sentences to read first.
    """
    result.save(folder)
    summary, finals, sweeps = result.summary(), _drawn(result.finals(), undrawn), result.sweeps()
    curves = _drawn(result.mean_curves(with_sweeps=False), undrawn)
    is_noted = all(curve.notes is not None for curve in result.curves())
    shares = _drawn(result.mean_curves("best-arm share", with_sweeps=False), undrawn) if is_noted else None
    averages = [row for drawing in drawings if drawing.summary is not None for row in drawing.summary.to_dicts()]
    _write_json(folder / "summary.json", {"rows": summary.to_dicts(), "averages": averages})
    _write_json(folder / "claims.json", {"claims": [claim.describe() for claim in claims]})
    figures = []
    for name, figure in _figures(curves, finals, sweeps, drawings):
        report.save(figure, folder / "figures" / name)
        figures.append(name)
    _remove_figures(folder, but=figures)
    about = {
        "command": command,
        "made": datetime.now(UTC).date().isoformat(),
        "version": __version__,
        "sources": _sources(),
        "figures": figures,
    }
    _write_json(folder / "about.json", about)
    settings = {
        "experiments": list(result.experiments),
        "remarks": [
            f"Made on {about['made']} by corebandit {__version__}, whose sources have the name {about['sources']}.",
            *_played_by(result),
            *remarks,
        ],
        "versions": {
            "corebandit": __version__,
            "Python": platform.python_version(),
            **{library: version(library) for library in LIBRARIES},
        },
        "seconds": seconds,
        "command": command,
    }
    page = folder / "report.html"
    write_whole(
        page,
        report.render_page(
            title=title,
            summary=summary,
            curves=curves,
            finals=finals,
            differences=result.differences(),
            judged=claims,
            settings=settings,
            sweeps=sweeps,
            drawings=drawings,
            captions=captions,
            shares=shares,
            provenance=provenance,
        ),
    )
    return page


def _played_by(result: Result) -> list[str]:
    """Say who played, if not threads alone."""
    engines = {curve.engine or "threads" for curve in result.curves()}
    if engines == {"threads"}:
        return []
    others = sorted({curve.policy for curve in result.curves() if curve.engine in ("", "threads")})
    played = "Played on a GPU, whose numbers are those of a processor up to rounding"
    return [f"{played}; by threads: {', '.join(others)}." if others else f"{played}."]


def _drawn(frame: "DataFrame", undrawn: Collection[tuple[str, str]]) -> "DataFrame":
    import polars as pl

    left_out = pl.DataFrame(list(undrawn), schema={"experiment": pl.String, "policy": pl.String}, orient="row")
    return frame.join(left_out, on=["experiment", "policy"], how="anti", maintain_order="left")


def _figures(
    curves: "DataFrame", finals: "DataFrame", sweeps: "DataFrame", drawings: "Sequence[report.Drawing]"
) -> "Iterator[tuple[str, Figure]]":
    """Yield the name and the content of every figure; one that is a sweep has neither curves nor single runs.

    Drawings take the place of the usual pictures of a sweep.
    """
    swept = sweeps.select("experiment", "part")
    for (experiment, part), rows in curves.join(
        swept, on=["experiment", "part"], how="anti", maintain_order="left"
    ).group_by("experiment", "part", maintain_order=True):
        name = _slug(experiment, part)
        yield name, report.regret_curves(rows)
        yield f"{name}-final-regret", report.final_regrets(finals.filter(experiment=experiment, part=part))
    drawn = {drawing.place for drawing in drawings}
    for (experiment, part), rows in sweeps.group_by("experiment", "part", maintain_order=True):
        # Where there are sweeps of both kinds, the heat maps come second.
        for suffix, picture in zip(("", "-heat-map"), report.sweep_figures(rows), strict=False):
            if (experiment, part) not in drawn:
                yield f"{_slug(experiment, part)}{suffix}", picture
    for drawing in drawings:
        yield _slug(*drawing.place, drawing.title), drawing.figure


def _sources() -> str:
    """Return a short name of the package's sources, which an edit changes; version control may not be at hand."""
    content = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        content.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode() + path.read_bytes())
    return content.hexdigest()[:12]


def _slug(experiment: str, *words: str) -> str:
    """Return what an experiment's files are called, with further words."""
    plain = [re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in words]
    return "-".join([experiment, *filter(None, plain)])


def _remove_figures(folder: Path, but: Collection[str]) -> None:
    """Remove the figures of the report that was here before: beside others they would be taken for new."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):  # there was none, or one that does not say
        for name in json.loads((folder / "about.json").read_text(encoding="utf-8"))["figures"]:
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
