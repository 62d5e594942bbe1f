"""Numbers as text."""

import math
from dataclasses import replace

import polars as pl
import pytest

from corebandit.report import tables
from corebandit.report.claim_tables import claims as claims_of, disagreements
from corebandit.report.sweep_tables import sweep_tables


@pytest.mark.parametrize(
    ("mean", "stderr", "text"),
    [
        (107.46, 2.41, "107.5 ± 2.4"),
        (783.4, 31.2, "783 ± 31"),
        (12_345.6, 234.5, "12,346 ± 234"),
        (0.012344, 0.00056, "0.01234 ± 0.00056"),
        (-3.21, 0.5, "-3.21 ± 0.50"),
        (12.5, 0.0, "12.50 ± 0"),
        (12.5, math.nan, "12.50"),
        (12.5, None, "12.50"),
    ],
)
def test_the_error_decides_how_many_digits_are_shown(mean, stderr, text):
    assert tables.with_error(mean, stderr) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (102.83, 112.31, "[102.8, 112.3]"),
        (-372.4, -341.2, "[-372, -341]"),
        (0.004, 9.6, "[0.004, 9.600]"),
        (-0.02, 1.0, "[-0.02, 1.00]"),
        (-0.2, 1250.0, "[-0.2, 1,250.0]"),
        (0.0, 5.0, "[0.0, 5.0]"),
        (20.0, 20.0, "[20.00, 20.00]"),
        (math.nan, 1.0, tables.UNKNOWN),
        (None, None, tables.UNKNOWN),
    ],
)
def test_an_interval_is_rounded_to_its_width_but_keeps_its_signs(low, high, text):
    assert tables.interval(low, high) == text


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        (338.2, 294.0, 382.0, "+338"),
        (-24.4, -55.0, 7.0, "-24"),
        (0.01, -50.0, 50.0, "0"),
        (-0.01, -50.0, 50.0, "0"),
        (1.5, None, None, "+1.500"),
    ],
)
def test_a_difference_shows_its_sign_unless_it_rounds_to_zero(mean, low, high, text):
    assert tables.difference(mean, low, high) == text


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (-5.0, -1.0, "lower"),
        (1.0, 5.0, "higher"),
        (-1.0, 5.0, "unclear"),
        (0.0, 5.0, "unclear"),
        (None, None, "unclear"),
    ],
)
def test_only_an_interval_without_zero_decides(low, high, word):
    assert tables.reading(low, high) == word


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0 %"), (0.001, "<1 %"), (0.256, "26 %"), (0.999, ">99 %"), (1.0, "100 %"), (None, "–")]
)
def test_only_none_and_all_are_0_and_100_per_cent(share, text):
    assert tables.percentage(share) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0853, "85 ms"),
        (0.9996, "1.0 s"),
        (3.24, "3.2 s"),
        (59.97, "1 min 00 s"),
        (245.2, "4 min 05 s"),
        (7_830, "2 h 10 min"),
    ],
)
def test_durations_choose_their_unit(seconds, text):
    assert tables.duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(950_000, "950,000"), (2_160_000, "2.2 million"), (240_000_000, "240 million"), (3_000_000_000, "3.0 billion")],
)
def test_large_numbers_are_given_in_words(value, text):
    assert tables.large(value) == text


@pytest.mark.parametrize(
    ("experiment", "part", "title"),
    [
        ("figure1", "", "Figure 1"),
        ("figure 3b", "", "Figure 3b"),
        ("figure3", "heat map", "Figure 3: heat map"),
        ("figure3-heat-map", "", "figure3-heat-map"),
        ("theory", "", "Theory"),
        ("theory", "own histories", "Theory: own histories"),
        ("figures of speech", "", "figures of speech"),
        ("my-figure2", "b", "my-figure2: b"),
    ],
)
def test_figures_and_theory_get_a_title_and_other_names_stay(experiment, part, title):
    assert tables.heading(experiment, part) == title


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [(118.24, 110.0, 127.0, "118.2 [110.0, 127.0]"), (0.5, None, None, "0.5000"), (0.5, math.nan, 1.0, "0.5000")],
)
def test_an_estimate_comes_with_its_interval_if_there_is_one(value, low, high, text):
    assert tables.estimate(value, low, high) == text


def test_a_search_is_a_table_with_the_parameter_down_and_series_across(search):
    easy, hard = sweep_tables(search)
    assert (easy.experiment, easy.part, easy.title, hard.title) == ("figure2", "parameter search", "Easy", "Hard")
    assert easy.series == ""
    assert (easy.down, easy.columns, len(easy.rows)) == ("sigma", ["LinTS", "LinPHE"], 12)
    setting, cells = easy.rows[3]
    assert setting == "0.4"
    assert [(cell.mean, cell.interval, cell.is_best) for cell in cells] == [
        ("100", "[90, 110]", True),
        ("260", "[234, 286]", False),
    ]
    assert easy.best == ["LinTS sigma=0.4 (100 [90, 110])", "LinPHE sigma=0.8 (100 [90, 110])"]


def test_a_grid_is_a_table_that_looks_like_its_heat_map(grid):
    (table,) = sweep_tables(grid.filter((pl.col("x") < 1.3) | (pl.col("y") < 0.75)))
    assert (table.series, table.down, table.across) == ("LinCORe", "z", "alpha")
    assert table.columns == ["0.2", "0.4", "0.6", "0.8", "1", "1.2", "1.4"]
    assert [setting for setting, _ in table.rows] == ["0.8", "0.7", "0.6", "0.5", "0.4", "0.3", "0.2"]
    assert table.rows[0][1][-1] is None
    assert [
        (row, column)
        for row, (_, cells) in enumerate(table.rows)
        for column, cell in enumerate(cells)
        if cell and cell.is_best
    ] == [(4, 2)]
    assert table.best == ["LinCORe alpha=0.6 z=0.4 (100 [90, 110])"]


def test_one_run_of_a_setting_has_no_interval(search):
    table = sweep_tables(search.with_columns(runs=pl.lit(1, pl.Int64)))[0]
    assert table.best[0] == "LinTS sigma=0.4 (100.0)"
    assert table.rows[0][1][0].interval == tables.UNKNOWN


def test_results_repeat_the_frame_in_its_order(frames):
    sections = tables.results(frames.summary)
    assert [section.title for section in sections] == ["Bernoulli bandit", "Beta bandit"]
    assert [row.policy for row in sections[0].rows] == ["UCB1", "UCB-V", "TS", "CORe", "CORe (warm-up 2)"]
    assert sections[0].size == "11 runs of 10,000 rounds"
    core = sections[0].rows[3]
    assert (core.regret, core.interval, core.cpu) == ("107.0 ± 4.3", "[96, 118]", "1.5 s")
    assert [row.policy for row in sections[1].rows if row.is_best] == ["CORe (warm-up 2)"]


def test_one_run_has_no_error_whatever_the_frame_says(make):
    (section,) = tables.results(make({"mine": 20.0}, {"bernoulli": "B"}, runs=1).summary)
    assert section.size == "1 run of 10,000 rounds"
    assert (section.rows[0].regret, section.rows[0].interval) == ("20.00", tables.UNKNOWN)


def test_runs_of_different_number_are_given_as_a_range(frames):
    uneven = frames.summary.with_columns(runs=pl.when(pl.col("policy") == "UCB1").then(5).otherwise(1000))
    assert tables.results(uneven)[0].size == "5 to 1,000 runs of 10,000 rounds"


def test_differences_repeat_the_frame_in_its_order(frames):
    sections = tables.differences(frames.differences)
    assert [(section.title, section.baseline) for section in sections] == [
        ("Bernoulli bandit", "CORe"),
        ("Beta bandit", "CORe"),
    ]
    assert sections[0].rows == [
        tables.DifferenceRow("UCB1", "+333", "[303, 363]", "higher", "25 %"),
        tables.DifferenceRow("UCB-V", "+673", "[643, 703]", "higher", "25 %"),
        tables.DifferenceRow("TS", "+9", "[-21, 39]", "unclear", "25 %"),
        tables.DifferenceRow("CORe (warm-up 2)", "-24", "[-54, 6]", "unclear", "25 %"),
    ]


def test_no_differences_make_no_sections():
    assert tables.differences(pl.DataFrame()) == []


def test_verdicts_are_gathered_by_claim(verdicts):
    claims = claims_of(verdicts)
    assert [claim.id for claim in claims] == ["F1.a", "F1.b", "T3"]
    assert [(verdict.warm_up, verdict.verdict) for verdict in claims[0].verdicts] == [
        ("4", "holds"),
        ("2", "does not hold"),
    ]
    assert claims[2].verdicts[0].warm_up == ""
    (detail,) = claims[0].verdicts[0].details
    assert (detail.value, detail.interval) == ("-333.2", "[-341.5, -325.0]")


def test_readings_stand_apart_and_those_that_disagree_are_named(verdicts):
    same = replace(verdicts[0], reading="UCB1 (other)")
    changed = replace(verdicts[0], reading="UCB1 (another)", verdict="undecided", uncorrected="undecided")
    claims = claims_of([*verdicts, same, changed])
    assert [verdict.warm_up for verdict in claims[0].as_drawn] == ["4", "2"]
    assert list(claims[0].readings) == ["UCB1 (other)", "UCB1 (another)"]
    assert [verdict.instead_of for (verdict,) in claims[0].readings.values()] == ["", "holds"]
    assert disagreements(claims) == ["F1.a, UCB1 (another), warm-up 4: undecided (as drawn: holds)"]
    assert disagreements(claims_of(verdicts)) == []


def test_parameters_may_stand_beside_the_name_or_below_it():
    assert tables.parameters({"name": "CORe", "alpha": 0.6, "z": 0.5}) == "alpha = 0.6, z = 0.5"
    assert tables.parameters({"name": "CORe", "parameters": {"alpha": 0.6}}) == "alpha = 0.6"
    assert tables.parameters({"name": "UCB1", "parameters": {}}) == ""


def test_a_handful_of_runs_shows_nothing(frames):
    few = frames.differences.with_columns(runs=pl.lit(9))
    readings = {row.reading for section in tables.differences(few) for row in section.rows}
    assert readings == {"too few runs"}
