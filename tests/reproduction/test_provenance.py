"""The table of rivals as published says what runs, and leaves nothing out.

To write the tables of docs/rivals.md anew: uv run python tests/reproduction/test_provenance.py
"""

import dataclasses
import itertools
import re
from functools import cache
from pathlib import Path

import pytest

from corebandit.report.provenance import by_figure, provenance_table
from corebandit.report.tables import heading
from corebandit.reproduction.paper import FIGURES
from corebandit.reproduction.provenance import parameters_told, provenance_of
from corebandit.reproduction.sources import SOURCES

pytestmark = pytest.mark.heavy  # all experiments of all figures are described

PAGE = Path(__file__).parents[2] / "docs" / "rivals.md"
NAMES = ("figure1", "figure2", "figure3", "figure4")


def described(name, **changes):
    """Return the experiments of a figure, and of its search, as data."""
    size = dataclasses.replace(FIGURES[name].paper_size, **changes)
    return [each.describe() for each in (*FIGURES[name].search(size), *FIGURES[name].experiments(size, None))]


@cache
def everything():
    return [each for name in NAMES for each in described(name)]


def sections():
    """Return the page's tables, each below its heading."""
    return [
        f"## {heading(figure)}\n\n{provenance_table(rows)}\n"
        for figure, rows in by_figure(provenance_of(everything())).items()
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_of_every_policy_has_one_row(name):
    rows = [
        (label, parameter)
        for source in SOURCES
        if name in source.figures
        for label in source.labels
        for parameter in source.parameters or [""]
    ]
    assert len(rows) == len(set(rows))
    run = [each for each in everything() if each["name"] == name and each.get("part") != "parameter search"]
    run += described("figure4", click_model="PBM")[:1] if name == "figure4" else []
    told = {(label, parameter) for _, label, parameter in parameters_told(run)}
    labels = {label for label, _ in rows}
    assert {label for label, _ in told} == labels
    assert {(label, parameter) for label, parameter in told if parameter} <= set(rows)
    # A row may be about a form that a label has on some problems only, but never about one that nobody runs.
    for source in SOURCES:
        if name in source.figures:
            for parameter in source.parameters:
                assert any((label, parameter) in told for label in source.labels), (source.policy, parameter)


def test_the_page_has_the_tables_of_what_runs():
    page = PAGE.read_text(encoding="utf-8")
    for section in sections():
        assert section in page, "write it anew, and read what changed"


def test_where_sources_disagree_both_run():
    rows = provenance_of(everything())
    for source, row in itertools.product(SOURCES, rows):
        if "they disagree" in source.why and (row.why, row.policy) == (source.why, source.policy):
            assert len(re.findall(r"(?:^|; )[^;]+: ", row.here)) > 1, row


def test_what_runs_is_read_off_the_experiments():
    experiments = described("figure1")
    experiments[1]["policies"]["PHE"]["a"] = 0.7
    rows = {(row.policy, row.parameter): row.here for row in provenance_of(experiments)}
    assert rows["PHE", "a"] == (
        "PHE: 1.1 (Bernoulli bandit), 0.7 (Beta bandit), 0.5 (Gaussian bandit); PHE (a = 0.5): 0.5 (Beta bandit)"
    )
    assert {row.figure for row in provenance_of(experiments)} == {"figure1"}


def test_what_is_not_run_is_not_told():
    policies = {row.policy for row in provenance_of(described("figure4", click_model="PBM"))}
    assert "KL-UCB" in policies
    assert "CascadeKL-UCB" not in policies
    assert provenance_of(described("theory")[:1]) == []


def test_searched_parameters_show_where_they_were_searched():
    rows = {(row.policy, row.parameter): row.here for row in provenance_of(described("figure2"))}
    assert rows["LinTS", "sigma"] == "LinTS (tuned): best of 0.1 to 2, searched; LinTS (sigma = 0.5): 0.5"


@pytest.mark.parametrize("name", NAMES)
def test_panels_have_at_most_seven_lines(name):
    for experiment in described(name):
        if experiment["name"] == name and "part" not in experiment:
            assert len(set(experiment["policies"]) - set(FIGURES[name].undrawn)) <= 7
            assert set(FIGURES[name].undrawn) <= {each for _, each, _ in parameters_told(everything())}


if __name__ == "__main__":
    introduction = PAGE.read_text(encoding="utf-8").partition("\n## ")[0].rstrip()
    PAGE.write_text("\n".join([f"{introduction}\n", *sections()]), encoding="utf-8")
