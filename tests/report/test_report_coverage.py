"""What is said about coverage is what was measured."""

from pathlib import Path

from corebandit.report.claim import ENOUGH_RUNS, LEVEL
from corebandit.report.coverage import coverage_line, coverage_table, measured

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


def test_the_page_has_the_table_that_was_measured():
    assert coverage_table() in PAGE.read_text(encoding="utf-8")


def test_verdicts_begin_where_false_ones_are_rare():
    assert measured()["level"] == LEVEL
    for row in measured()["sizes"]:
        if row["runs"] >= ENOUGH_RUNS:
            assert row["false verdicts"] <= 0.05, row
    assert next(row for row in measured()["sizes"] if row["runs"] == 500)["false verdicts"] > 0.02


def test_a_report_quotes_the_line_of_its_size():
    row = measured()["sizes"][2]
    assert row["runs"] == 100
    line = coverage_line(199)
    assert "samples of 100 regrets" in line
    assert f"at most {100 * row['false verdicts']:.1f} %" in line
    assert "were not measured" in coverage_line(19)
    assert "samples of 3,000 regrets" in coverage_line(10**6)


def test_cells_that_are_covered_too_seldom_are_named_where_verdicts_begin():
    (row,) = (row for row in measured()["sizes"] if row["runs"] == ENOUGH_RUNS)
    for cell in row["below 93 %"]:
        assert cell in coverage_line(ENOUGH_RUNS)
    few = measured()["sizes"][0]
    assert f"less than 93 % for {len(few['below 93 %'])} policies or pairs" in coverage_line(20)
