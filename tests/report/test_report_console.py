"""Tables in the terminal: complete, narrow, and readable without colour."""

import io
import re
from dataclasses import replace

import polars as pl
import pytest
from rich.console import Console

from corebandit.report.console import results_table, sweeps_table, verdicts_table


def printed(renderable, width=80, **options):
    stream = io.StringIO()
    Console(file=stream, width=width, **options).print(renderable)
    return stream.getvalue()


def words(text):
    return " ".join(text.split())


def test_results_show_every_number(frames):
    text = printed(results_table(frames.summary))
    assert text.count("Figure 1, Bernoulli bandit: 11 runs of 10,000 rounds") == 1
    assert text.count("Figure 1, Beta bandit: 11 runs of 10,000 rounds") == 1
    lines = [words(line) for line in text.splitlines()]
    assert lines.count("UCB1 440 ± 18 [396, 484] 1.5 s") == 2
    assert lines.count("CORe (warm-up 2) 83.0 ± 3.3 [74.7, 91.3] 1.5 s") == 2


def test_verdicts_stand_side_by_side(verdicts):
    lines = [words(line) for line in printed(verdicts_table(verdicts), width=100).splitlines()]
    assert lines[0] == "id claim warm-up 4 warm-up 2"
    assert "F1.a CORe is below UCB1 holds does not hold" in lines
    assert "T3 one-hot LinCORe is CORe holds holds" in lines
    assert "F1.b CORe is near TS undecided looks as if" in lines


def test_other_readings_have_rows_of_their_own(verdicts):
    readings = [
        replace(verdicts[0], reading="UCB1 (other)"),
        replace(verdicts[1], reading="UCB1 (other)", verdict="undecided"),
    ]
    lines = [words(line) for line in printed(verdicts_table([*verdicts, *readings]), width=100).splitlines()]
    place = lines.index("F1.a CORe is below UCB1 holds does not hold")
    assert lines[place + 1] == "- UCB1 (other) the same undecided"


def test_verdicts_without_a_factor_have_one_column(verdicts):
    lines = [words(line) for line in printed(verdicts_table(verdicts[-1:])).splitlines()]
    assert lines[0] == "id claim verdict"
    assert lines[2] == "T3 one-hot LinCORe is CORe holds"


@pytest.mark.parametrize("width", [40, 56, 80, 100])
def test_nothing_is_cut_on_a_narrow_terminal(frames, verdicts, width):
    for renderable in (results_table(frames.summary), verdicts_table(verdicts)):
        text = printed(renderable, width=width)
        assert max(map(len, text.splitlines())) <= width
        assert "…" not in text
    text = printed(results_table(frames.summary), width=width)
    for piece in ("UCB-V", "440", "18", "[396,", "484]", "83.0", "1.5"):
        assert piece in text


def test_columns_of_different_problems_line_up(make):
    made = make({"TS": 1234567.0, "UCB1": 3.0}, {"a": "A"})
    wide, narrow = made.summary.filter(policy="TS"), made.summary.filter(policy="UCB1").with_columns(problem="policy")
    text = printed(results_table(wide.vstack(narrow)))
    ends = {len(line.rstrip()) for line in text.splitlines() if line.rstrip().endswith("1.5 s")}
    assert len(ends) == 1


def test_colour_only_repeats_what_is_written(verdicts):
    plain = printed(verdicts_table(verdicts))
    coloured = printed(verdicts_table(verdicts), force_terminal=True, color_system="standard")
    assert "\x1b[" not in plain
    assert "\x1b[1;32mholds" in coloured
    assert "\x1b[1;31mdoes not hold" in coloured


def test_labels_are_not_markup(make):
    made = make({"[bold]x[/bold]": 3.0, "CORe": 2.0}, {"p": "[red]P"})
    assert "[bold]x[/bold]" in printed(results_table(made.summary))
    assert "[red]P" in printed(results_table(made.summary))


def test_old_terminals_can_print_the_tables(frames):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    console = Console(file=stream, width=80)
    console.print(results_table(frames.summary))
    stream.flush()
    assert "440 ± 18" in stream.buffer.getvalue().decode("cp1252")


def test_a_search_has_the_parameter_down_and_the_series_across(search):
    lines = [words(line) for line in printed(sweeps_table(search)).splitlines()]
    assert lines[0] == "Figure 2: parameter search, Easy: 100 runs of 10,000 rounds"
    assert lines[1] == "sigma LinTS LinPHE"
    assert lines[3] == "0.1 190 590"
    assert lines.count("best: LinTS sigma=0.4 (100 [90, 110])") == 2
    assert lines.count("best: LinPHE sigma=0.8 (100 [90, 110])") == 2


def test_a_grid_of_seven_by_seven_fits_on_80_columns(grid):
    text = printed(sweeps_table(grid))
    lines = [words(line) for line in text.splitlines()]
    assert max(map(len, text.splitlines())) <= 80
    assert lines[1] == "z \\ alpha 0.2 0.4 0.6 0.8 1 1.2 1.4"
    assert "0.4 400 200 100 200 400 800 1600" in lines
    assert "0.8 6400 3200 1600 3200 6400 12.8k 25.6k" in lines
    assert "best: LinCORe alpha=0.6 z=0.4 (100 [90, 110])" in lines


def test_only_the_best_cell_is_bold(grid):
    coloured = printed(sweeps_table(grid), force_terminal=True, color_system="standard")
    body = coloured.split("alpha", 1)[1].split("best:")[0]
    assert re.findall(r"\x1b\[1m *([^\x1b]+?)\x1b", body.split("\n", 1)[1]) == ["100"]


@pytest.mark.parametrize("width", [40, 56, 80])
def test_no_number_of_a_sweep_is_cut(search, make_grid, width):
    for frame in (search, make_grid(12, 12)):
        text = printed(sweeps_table(frame), width=width)
        assert max(map(len, text.splitlines())) <= width
        assert "…" not in text


def test_labels_of_sweeps_are_not_markup(search):
    odd = search.with_columns(series=pl.lit("[red]x"), title=pl.lit("[bold]t"), x_name=pl.lit("[i]s"))
    text = printed(sweeps_table(odd))
    assert all(label in text for label in ("[red]x", "[bold]t", "[i]s"))
