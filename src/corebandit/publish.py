"""Write what a run leaves behind: data, summary, claims, figures and the report, in one folder."""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from corebandit import __version__, report
from corebandit.result import Result

LIBRARIES = ("numba", "numpy", "polars", "matplotlib")


def publish(
    result: Result,
    folder: Path,
    *,
    title: str,
    command: str,
    seconds: float,
    claims: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write everything and return the path of the report."""
    result.save(folder)
    summary, curves, finals = result.summary(), result.mean_curves(), result.finals()
    _write_json(folder / "summary.json", {"rows": summary.to_dicts()})
    _write_json(folder / "claims.json", {"claims": list(claims)})
    for (figure,), rows in curves.group_by("figure", maintain_order=True):
        report.save(report.regret_curves(rows), folder / "figures" / str(figure))
    for (figure,), rows in finals.group_by("figure", maintain_order=True):
        report.save(report.final_regrets(rows), folder / "figures" / f"{figure}-final-regret")
    settings = {
        "experiments": list(result.experiments),
        "versions": {
            "corebandit": __version__,
            "Python": platform.python_version(),
            **{library: version(library) for library in LIBRARIES},
        },
        "seconds": seconds,
        "command": command,
    }
    page = folder / "report.html"
    page.write_text(
        report.render_page(
            title=title,
            summary=summary,
            curves=curves,
            finals=finals,
            differences=result.differences(),
            verdicts=list(claims),
            settings=settings,
        ),
        encoding="utf-8",
    )
    return page


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
