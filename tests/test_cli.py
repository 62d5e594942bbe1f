import json
import re

import polars as pl
import pytest
from typer.testing import CliRunner

from corebandit.cli import app
from corebandit.policies import all_policies

SMALL = ["--horizon", "200", "--runs", "4"]


def corebandit(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output + result.stderr
    return result


def test_reproduce_writes_everything(tmp_path):
    printed = corebandit("reproduce", "figure1", *SMALL, "--out", tmp_path, "--jobs", 1).stdout
    assert "F1.a" in printed
    assert "NP-TS" in printed
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"results.parquet", "summary.json", "claims.json", "experiments.json", "report.html", "figures"}
    figures = {path.name for path in (tmp_path / "figures").iterdir()}
    assert figures >= {"figure1.png", "figure1.svg", "figure1-final-regret.png", "figure1-final-regret.svg"}
    rows = json.loads((tmp_path / "summary.json").read_text())["rows"]
    assert len(rows) == 3 * 8
    columns = "figure problem policy horizon runs mean stderr ci_low ci_high cpu_seconds"
    assert list(rows[0]) == columns.split()
    claims = json.loads((tmp_path / "claims.json").read_text())["claims"]
    assert {(claim["id"], claim["warm_up"]) for claim in claims} == {
        (name, factor) for name in ("F1.a", "F1.b", "F1.c") for factor in (2.0, 4.0)
    }
    page = (tmp_path / "report.html").read_text()
    assert not re.search(r"""(src|href)=["']https?://""", page)


def test_reproduce_gives_the_same_results_on_any_number_of_threads_and_when_continued(tmp_path):
    for name, jobs in (("one", 1), ("two", 2)):
        corebandit("reproduce", "figure1", *SMALL, "--out", tmp_path / name, "--jobs", jobs)
    one, two = (pl.read_parquet(tmp_path / name / "results.parquet") for name in ("one", "two"))
    assert one.equals(two)
    for path in list((tmp_path / "one" / "chunks").iterdir())[::3]:
        path.unlink()
    corebandit("reproduce", "figure1", *SMALL, "--out", tmp_path / "one")
    assert pl.read_parquet(tmp_path / "one" / "results.parquet").equals(two)


def test_compare_takes_parameters_and_several_problems(tmp_path):
    arguments = ["--policies", "CORe(alpha=0.4),UCB1", "--arms", 3, *SMALL, "--out", tmp_path]
    printed = corebandit("compare", "--problem", "beta", "--problem", "gaussian(sigma=0.2)", *arguments).stdout
    assert "CORe(alpha=0.4)" in printed
    frame = pl.read_parquet(tmp_path / "results.parquet")
    assert frame["problem"].unique(maintain_order=True).to_list() == [
        "beta(n_arms=3)",
        "gaussian(n_arms=3, sigma=0.2)",
    ]


def test_the_sampler_can_be_set_for_all(tmp_path):
    corebandit(
        "compare", "--problem", "gaussian", "--policies", "CORe", *SMALL, "--out", tmp_path, "--sampler", "exact"
    )
    described = json.loads((tmp_path / "experiments.json").read_text())["experiments"][0]
    assert described["policies"]["CORe"]["sampler"] == "exact"


def test_run_reads_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text('problems = ["bernoulli"]\npolicies = ["UCB1"]\nhorizon = 100\nruns = 3\n')
    corebandit("run", "mine.toml")
    assert (tmp_path / "results" / "mine" / "report.html").exists()


def test_lists_show_what_there_is():
    printed = corebandit("list", "policies").stdout
    assert all(name in printed for name in all_policies())
    assert "bernoulli" in corebandit("list", "problems").stdout
    assert "figure1" in corebandit("list", "figures").stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reproduce", "figure9"], "unknown figure 'figure9': did you mean 'figure1'?"),
        (["reproduce", "--runs", "0"], "runs must be a whole number of at least 1, not 0"),
        (["reproduce", "--jobs", "0"], "jobs must be a whole number of at least 1, not 0"),
        (["compare", "--problem", "bernouli"], "unknown problem 'bernouli': did you mean 'bernoulli'?"),
        (["compare", "--problem", "bernoulli", "--policies", "COREE"], "unknown policy 'COREE': did you mean 'CORe'?"),
        (["compare", "--problem", "bernoulli", "--policies", "CORe(alpha=-1)"], "alpha must be a number of at least 0"),
        (["compare", "--problem", "bernoulli", "--policies", "CORe(z=1)"], "z must be a number above 0 and below 1"),
        (["compare", "--problem", "bernoulli", "--arms", "0"], "n_arms must be a whole number of at least 1, not 0"),
        (["compare", "--problem", "arms([bernoulli(0.5)])", "--arms", "3"], "--arms does not fit"),
        (
            ["compare", "--problem", "gaussian", "--policies", "BernoulliTS"],
            "BernoulliTS is made for rewards in [0, 1]",
        ),
        (["compare", "--problem", "bernoulli", "--policies", ""], "policies must name at least one policy"),
        (["run", "missing.toml"], "cannot read missing.toml: No such file or directory"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = corebandit(*arguments, code=2)
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    result = corebandit("reproduce", *SMALL, "--out", tmp_path / "file" / "below", code=2)
    assert "cannot write results to" in result.stderr


def test_help_teaches():
    assert "reproduce" in corebandit("--help").stdout
    for command in ("reproduce", "compare", "run", "list"):
        assert corebandit(command, "--help").stdout
    assert re.fullmatch(r"\d+\.\d+\.\d+", corebandit("--version").stdout.strip())
