"""What is said about coverage is what was measured."""

from pathlib import Path

from corebandit.report.claim import LEVEL
from corebandit.report.coverage import coverage_line, coverage_table, measured

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


def test_the_page_has_the_table_that_was_measured():
    assert coverage_table() in PAGE.read_text(encoding="utf-8")


def test_verdicts_are_hardly_ever_false_and_looks_are_where_runs_are_few():
    assert measured()["level"] == LEVEL
    rows = {row["runs"]: row for row in measured()["sizes"]}
    assert max(row["false verdicts"] for row in rows.values()) <= 0.05
    assert rows[20]["false looks"] > 0.2
    assert rows[100]["verdicts"] > 0.0  # and 1,000 runs are not asked for
    assert rows[3_000]["verdicts"] > 0.8


def test_a_report_quotes_the_line_of_its_size():
    row = measured()["sizes"][2]
    assert row["runs"] == 100
    line = coverage_line(199)
    assert "samples of 100 regrets" in line
    assert f"at most {100 * row['false looks']:.1f} %" in line
    assert "of 199 runs that show no failure 1.5 % of all may fail" in line
    assert "were not measured" in coverage_line(19)
    assert "samples of 3,000 regrets" in coverage_line(10**6)


def test_cells_that_are_covered_too_seldom_are_named_where_they_are_few():
    (row,) = (row for row in measured()["sizes"] if row["runs"] == 1_000)
    for cell in row["below 93 %"]:
        assert cell in coverage_line(1_000)
    few = measured()["sizes"][0]
    assert f"less than 93 % for {len(few['below 93 %'])} policies or pairs" in coverage_line(20)
