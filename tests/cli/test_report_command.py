"""`corebandit report` makes of what a folder holds the page that the command which played made."""

import json
import re
import shutil

import pytest
from typer.testing import CliRunner

import corebandit as cb
from corebandit.cli import app

SMALL = ["--horizon", "200", "--runs", "4"]
COMPARE = ["compare", "--problem", "bernoulli", "--policies", "CORe,UCB1", *SMALL]
MADE_BY_REPORTS = ("report.html", "summary.json", "claims.json")

pytestmark = pytest.mark.heavy


def corebandit(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output + result.stderr
    return result


def made_again(folder):
    """Return what the reports of a folder say, first and again: texts by file, names of pictures, what is printed."""

    def found(printed):
        pictures = sorted(path.name for path in (folder / "figures").iterdir())
        return [(folder / name).read_text() for name in MADE_BY_REPORTS], pictures, printed.splitlines()[-1]

    first = found(f"Report: {folder / 'report.html'}")
    for name in MADE_BY_REPORTS:
        (folder / name).unlink()
    shutil.rmtree(folder / "figures")
    printed = corebandit("report", folder).stdout
    again = found(re.sub("Played in .*Report", "Report", printed))
    return first, again, printed


@pytest.fixture(scope="module")
def compared(tmp_path_factory, write_little):
    folder = tmp_path_factory.mktemp("compared")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matplotlib.figure.Figure.savefig", write_little)
        corebandit(*COMPARE, "--out", folder)
    return folder


@pytest.mark.usefixtures("undrawn")
def test_what_a_comparison_has_left_makes_the_same_report_again(compared, tmp_path):
    folder = shutil.copytree(compared, tmp_path / "compared")
    shutil.rmtree(folder / "chunks")  # nothing is played
    first, again, printed = made_again(folder)
    assert again == first
    assert "compare, bernoulli: 4 runs of 200 rounds" in printed


@pytest.mark.usefixtures("undrawn")
def test_a_result_reports_itself_as_the_comparison_does(compared, tmp_path):
    page = cb.Result.load(compared).report(tmp_path / "mine")
    assert page == tmp_path / "mine" / "report.html"
    command = re.compile(r"  <p>The same numbers come from</p>\n.*?</pre>\n", re.DOTALL)
    played, mine = (text.read_text() for text in (compared / "report.html", page))
    assert mine != played
    assert mine == command.sub("", played)
    corebandit("report", tmp_path / "mine")
    assert page.read_text() == mine


@pytest.mark.usefixtures("undrawn")
def test_a_saved_result_has_a_report_that_does_not_speak_of_the_one_before_it(compared, tmp_path):
    shutil.copytree(compared, tmp_path, dirs_exist_ok=True)
    cb.Result.load(compared).save(tmp_path)
    corebandit("report", tmp_path)
    text = (tmp_path / "report.html").read_text()
    assert "Comparison of policies" in text
    assert "The same numbers come from" not in text
    assert json.loads((tmp_path / "about.json").read_text())["figures"] == ["compare", "compare-final-regret"]


@pytest.mark.usefixtures("undrawn")
def test_a_figure_of_the_paper_is_judged_again(tmp_path):
    corebandit("reproduce", "figure3", "--quick", *SMALL, "--out", tmp_path)
    first, again, printed = made_again(tmp_path)
    assert again == first
    assert "F3.d" in printed
    text = first[0][0]
    assert text.index('<section id="claims">') < text.index('<section id="figure-1">')
    assert all(said in text for said in ("Rivals as published", "Verdicts of 1,000 runs are in docs/results.md"))


@pytest.mark.usefixtures("undrawn")
def test_a_command_says_which_report_it_replaces(tmp_path, monkeypatch):
    for horizon in ("200", "200", "300"):
        monkeypatch.setattr("sys.argv", ["corebandit", "compare", "--horizon", horizon])
        said = corebandit(*COMPARE, "--horizon", horizon, "--out", tmp_path).stderr
        assert ("has the report of `corebandit compare --horizon 200`: it will be replaced" in said) == (
            horizon == "300"
        )
    assert json.loads((tmp_path / "about.json").read_text())["command"] == "corebandit compare --horizon 300"
