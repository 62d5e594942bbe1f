"""Tables, figures and one HTML page: pure functions of plain frames and dicts.

Each name is loaded when first used, since matplotlib, rich and jinja2 are slow to import and seldom all needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corebandit.report.against_bounds import shares
    from corebandit.report.console import best_settings, differences_table, results_table, sweeps_table, verdicts_table
    from corebandit.report.figures import as_svg, final_regrets, regret_curves, save
    from corebandit.report.noted_figures import pulls_by_rank, regret_by_gap
    from corebandit.report.page import render_fragment, render_page
    from corebandit.report.power_laws import scaling
    from corebandit.report.provenance import Provenance
    from corebandit.report.ratios import ratio_maps
    from corebandit.report.sections import Drawing
    from corebandit.report.sweep_drawings import heat_map, heat_map_panels, sweep_figures, sweep_lines, sweep_panels

__all__ = [
    "Drawing",
    "Provenance",
    "as_svg",
    "best_settings",
    "differences_table",
    "final_regrets",
    "heat_map",
    "heat_map_panels",
    "pulls_by_rank",
    "ratio_maps",
    "regret_by_gap",
    "regret_curves",
    "render_fragment",
    "render_page",
    "results_table",
    "save",
    "scaling",
    "shares",
    "sweep_figures",
    "sweep_lines",
    "sweep_panels",
    "sweeps_table",
    "verdicts_table",
]

_HOMES = {
    "against_bounds": ("shares",),
    "console": ("best_settings", "differences_table", "results_table", "sweeps_table", "verdicts_table"),
    "figures": ("as_svg", "final_regrets", "regret_curves", "save"),
    "noted_figures": ("pulls_by_rank", "regret_by_gap"),
    "page": ("render_fragment", "render_page"),
    "power_laws": ("scaling",),
    "provenance": ("Provenance",),
    "ratios": ("ratio_maps",),
    "sections": ("Drawing",),
    "sweep_drawings": ("heat_map", "heat_map_panels", "sweep_figures", "sweep_lines", "sweep_panels"),
}


def __getattr__(name: str) -> Any:
    """Load the module a public name lives in."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
