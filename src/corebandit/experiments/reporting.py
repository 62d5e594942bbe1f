"""From a result to its report: the frames that are shown, and what is said of how it was made."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from corebandit.contracts.errors import BadInput
from corebandit.contracts.validate import check_choice
from corebandit.experiments.curve import QUANTITIES, REGRET
from corebandit.report.about import About
from corebandit.report.report import Frames, Report

if TYPE_CHECKING:
    from corebandit.experiments.result import Result

PULLS, BY_GAP = "pulls", "regret by gap"
PLOTS = (*QUANTITIES, PULLS, BY_GAP)
TITLE = "Comparison of policies"
THREADS = "threads"
ENGINES = {"cuda": "a GPU, whose numbers are those of a processor up to rounding"}


def report_of(result: "Result", about: About) -> Report:
    """Return the report of a result: of its experiments that are to be shown, without claims."""
    shown = result.shown()
    if not shown.curves():
        raise BadInput("a report needs a result of at least one experiment that is shown")
    is_noted = all(curve.notes is not None for curve in shown.curves())
    frames = Frames(
        summary=shown.summary(),
        curves=shown.mean_curves(with_sweeps=False),
        finals=shown.finals(),
        differences=shown.differences(),
        sweeps=shown.sweeps(),
        shares=shown.mean_curves("best-arm share", with_sweeps=False) if is_noted else None,
    )
    about = replace(about, title=about.title or TITLE, seconds=result.wall_seconds or about.seconds)
    return Report(frames, shown.experiments, about, remarks=played_by(result))


def played_by(result: "Result") -> list[str]:
    """Say who played, if not threads alone."""
    policies: dict[str, set[str]] = {}
    for curve in result.curves():
        policies.setdefault(curve.engine or THREADS, set()).add(curve.policy)
    if policies.keys() == {THREADS}:
        return []
    if len(policies) == 1:
        return [f"Played by {_named(*policies)}."]
    parts = (f"by {_named(engine)}: {', '.join(sorted(names))}" for engine, names in policies.items())
    return [f"Played {'; '.join(parts)}."]


def _named(engine: str) -> str:
    return ENGINES.get(engine, engine if engine == THREADS else f"the engine {engine}")


def figure_of(result: "Result", what: str, experiment: str | None, part: str | None) -> Any:
    """Return the figure that `Result.plot` is asked for."""
    from corebandit.report.figures import regret_curves  # which imports matplotlib
    from corebandit.report.noted_figures import pulls_by_rank, regret_by_gap
    from corebandit.report.sweep_drawings import sweep_figures

    check_choice("what", what, PLOTS)
    first = next(iter(result.curves(experiment, part)), None)
    if first is None:
        known = ", ".join(dict.fromkeys(curve.experiment for curve in result.curves()))
        raise BadInput(f"experiment and part must name what this result holds ({known}), not {experiment!r}, {part!r}")
    names = {"experiment": first.experiment, "part": first.part}
    if what in (PULLS, BY_GAP):
        draw = pulls_by_rank if what == PULLS else regret_by_gap
        return draw(result.runs().filter(**names))
    swept = result.sweeps().filter(**names)
    if what == REGRET and not swept.is_empty():
        return sweep_figures(swept)[0]
    return regret_curves(result.mean_curves(what).filter(**names), what)


def fragment_of(result: "Result") -> str:
    """Return what a notebook shows."""
    from corebandit.report.page import render_fragment  # which draws

    shown = result.shown()
    return render_fragment(Frames(shown.summary(), shown.mean_curves(with_sweeps=False), sweeps=shown.sweeps()))
