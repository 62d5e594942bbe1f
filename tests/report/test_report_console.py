"""Tables in the terminal: complete, narrow, and readable without colour."""

import io

import pytest
from rich.console import Console

from corebandit.report import differences_table, results_table, verdicts_table


def printed(renderable, width=80, **options):
    stream = io.StringIO()
    Console(file=stream, width=width, **options).print(renderable)
    return stream.getvalue()


def words(text):
    return " ".join(text.split())


def test_results_show_every_number(frames):
    text = printed(results_table(frames.summary))
    assert text.count("Figure 1, bernoulli: 11 runs of 10,000 rounds") == 1
    assert text.count("Figure 1, beta: 11 runs of 10,000 rounds") == 1
    lines = [words(line) for line in text.splitlines()]
    assert lines.count("UCB1 440 ± 18 [396, 484] 1.5 s") == 2
    assert lines.count("CORe (warm-up 2) 83.0 ± 3.3 [74.7, 91.3] 1.5 s") == 2


def test_differences_say_in_words_what_they_show(frames):
    lines = [words(line) for line in printed(differences_table(frames.differences)).splitlines()]
    assert "Figure 1, bernoulli: regret minus that of CORe, run by run" in lines
    assert lines.count("UCB-V +673 [643, 703] higher 25 %") == 2
    assert lines.count("TS +9 [-21, 39] unclear 25 %") == 2


def test_verdicts_stand_side_by_side(verdicts):
    lines = [words(line) for line in printed(verdicts_table(verdicts), width=100).splitlines()]
    assert lines[0] == "id claim warm-up 4 warm-up 2"
    assert "F1.a CORe is below UCB1 holds does not hold" in lines
    assert "T3 one-hot LinCORe is CORe holds holds" in lines
    assert "F1.b CORe is near TS undecided at holds" in lines


def test_verdicts_without_a_factor_have_one_column(verdicts):
    lines = [words(line) for line in printed(verdicts_table(verdicts[-1:])).splitlines()]
    assert lines[0] == "id claim verdict"
    assert lines[2] == "T3 one-hot LinCORe is CORe holds"


@pytest.mark.parametrize("width", [40, 56, 80, 100])
def test_nothing_is_cut_on_a_narrow_terminal(frames, verdicts, width):
    for renderable in (results_table(frames.summary), differences_table(frames.differences), verdicts_table(verdicts)):
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
    made = make({"[bold]x[/bold]": 3.0, "CORe": 2.0}, {"[red]p": "P"})
    assert "[bold]x[/bold]" in printed(results_table(made.summary))
    assert "[red]p" in printed(differences_table(made.differences))


def test_old_terminals_can_print_the_tables(frames):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    console = Console(file=stream, width=80)
    console.print(results_table(frames.summary))
    console.print(differences_table(frames.differences))
    stream.flush()
    assert "440 ± 18" in stream.buffer.getvalue().decode("cp1252")
