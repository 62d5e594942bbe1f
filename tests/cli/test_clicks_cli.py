import gzip
import json
import re

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from corebandit.cli import app
from corebandit.clicks import CM, DCM, fit as ranking_fit
from corebandit.clicks.readers.read_log import read_log
from corebandit.clicks.stored_models import read_documents, read_models, write_models
from real_data import LOGS, MODELS, needs_real_data

ATTRACTION = {"apple": (0.6, 0.3, 0.1), "pear": (0.2, 0.5, 0.05)}
PAGE = "apple\ta,b,c : b;apple\ta,b,c :;apple\tc,b,a : c;pear\td,e,f : f , f , else;"


def clicks(*arguments, code=0):
    result = CliRunner().invoke(app, ["clicks", *map(str, arguments)])
    assert result.exit_code == code, result.output + result.stderr
    return result


@pytest.fixture
def models(tmp_path):
    path = tmp_path / "truth.json"
    write_models(path, {query: {"CM": CM(values)} for query, values in ATTRACTION.items()})
    return path


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(PAGE)
    return path


def test_what_was_simulated_is_fitted_and_found_again(models, tmp_path):
    said = clicks("simulate", models, "--sessions", 20_000, "--seed", 5, "--out", tmp_path / "train.parquet").stdout
    assert "20,000 sessions of 2 queries" in said
    clicks("simulate", models, "--sessions", 2_000, "--seed", 6, "--out", tmp_path / "test.csv.gz")
    arguments = ["--model", "CM,PBM", "--test", tmp_path / "test.csv.gz", "--iterations", 3, "--tolerance", 0]
    result = clicks("fit", tmp_path / "train.parquet", *arguments, "--out", tmp_path / "models.json.gz")

    table = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if re.match(r" *[A-Z]+ ", line)}
    assert set(table) == {"CM", "PBM"}
    for name, row in table.items():
        train, test = np.array(row[:3], float), np.array(row[3:6], float)
        assert np.abs(train - test).max() < 0.05, f"{name} is as good on users like those it was fitted to"
        assert -0.7 < train[0] < 0
        assert (train[1:] > 1).all()
        assert (train[1:] < 2).all()
    assert float(table["CM"][0]) > float(table["PBM"][0]), "these are users of the cascade model"
    assert table["CM"][6:] == ["counted"]
    assert table["PBM"][6:] == ["no,", "3", "iterations"]

    assert re.findall(r"\w+ iteration \d+: log-likelihood -[\d,.]+", result.stderr) == [
        line.strip() for line in result.stderr.splitlines() if "PBM iteration 3" in line
    ], "where nothing can change in place, only the last iteration is told"
    assert "Warning: PBM did not converge: raise --iterations" in result.stderr

    shown = most_frequent_pages(tmp_path / "train.parquet")
    for query, found in read_models(tmp_path / "models.json.gz").items():
        assert set(found) == {"CM", "PBM"}
        true = np.array(ATTRACTION[query])[shown[query]]
        assert np.abs(np.array(found["CM"].attraction) - true).max() < 0.02


def most_frequent_pages(path):
    """Return for each query the order of documents that most sessions show."""
    pages = pl.read_parquet(path).group_by("session").agg(pl.col("query").first(), pl.col("document").sort_by("rank"))
    counted = pages.group_by("query", "document").agg(pl.len(), pl.col("session").min())
    best = counted.sort("len", "session", descending=[True, False]).unique("query", keep="first", maintain_order=True)
    return dict(best.select("query", "document").rows())


def test_the_models_are_those_of_the_page_shown_most(log, tmp_path):
    out = tmp_path / "models.json"
    clicks("fit", log, "--model", "CM", "--out", out)
    stored = json.loads(out.read_text())
    # apple shows a, b, c most; a was skipped twice, b clicked once of twice, c clicked once of twice
    assert list(stored) == ["apple", "pear"]
    assert stored["apple"]["documents"] == ["a", "b", "c"]
    assert stored["apple"]["CM"]["attraction"] == pytest.approx([1 / 4, 2 / 4, 2 / 4])
    said = clicks("fit", log, "--model", "CM", "--queries", 1, "--out", out).stdout
    assert "Models of 1 query: " in said
    assert list(json.loads(out.read_text())) == ["apple"]


def test_counts_are_an_option(log, tmp_path):
    out, fitted = tmp_path / "models.json", ["fit", log, "--model", "CM,DCM", "--out", tmp_path / "models.json"]
    converged = {}
    for option in ((), ("--counts",)):
        said = clicks(*fitted, *option).stdout
        converged[option] = re.search(r" DCM .*?(counted|yes|no)\b", said)[1]
        stops = read_models(out)["apple"]["DCM"].stop_after_click_by_rank
        # one click at each rank, and the last of its session: nothing can be known of the last rank
        assert (stops[0] == pytest.approx(2 / 3)) == (option == ("--counts",))
        assert stops[2] == pytest.approx(2 / 3 if option else 1 / 2)
    assert converged == {(): "yes", ("--counts",): "counted"}


def test_what_is_simulated_has_the_names_of_the_log(log, tmp_path):
    clicks("fit", log, "--model", "CM", "--out", tmp_path / "models.json")
    clicks("simulate", tmp_path / "models.json", "--sessions", 50, "--out", tmp_path / "again.csv")
    named = read_documents(tmp_path / "models.json")
    again = pl.read_csv(tmp_path / "again.csv", schema_overrides={"query": pl.String, "document": pl.String})
    assert set(again.select("query", "document").rows()) == {(query, name) for query in named for name in named[query]}


@pytest.mark.parametrize("command", ["fit", "simulate", "describe"])
def test_ctrl_c_leaves_nothing_behind_and_says_so(command, log, models, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    for place in ("read_log.read_log", "writing.write_simulated_log"):
        monkeypatch.setattr(f"corebandit.clicks.readers.{place}", interrupted)
    before = set(log.parent.iterdir())
    given = {"fit": [log, "--out", log.parent / "m.json"], "simulate": [models, "--out", log.parent / "l.csv"]}
    stopped = clicks(command, *given.get(command, [log]), code=130)
    assert stopped.stderr == "Stopped. Nothing was written: the same command starts over.\n"
    assert set(log.parent.iterdir()) == before


def test_a_log_is_described(log):
    log.write_text(PAGE + "nonsense;\nplum\ta,b :;")
    said = re.sub(r" +", " ", clicks("describe", log).stdout)
    for fact in (
        "sessions 4\n",
        "queries 2\n",
        "documents 6\n",
        "positions 3\n",
        "clicks per session 0.750\n",
        "sessions without clicks 25.0%\n",
        "clicks beside the page, ignored 1\n",
        "sessions dropped 1\n with another number of documents than most, 3 1\n"
        " line 2: the page has 2 documents, and most others have 3\n",
        "lines that cannot be read 1\n"
        " line 1: a record must be query, tab, documents, colon, clicked documents, not 'nonsense'\n",
        "\n 1 0.2500 ",
        "\n 3 0.2500 ",
    ):
        assert fact in said


def test_a_log_without_any_click_is_described(log):
    log.write_text("apple\ta,b,c :;")
    assert "100.0%" in clicks("describe", log).stdout


def test_fit_tells_of_bad_lines_and_of_dropped_sessions(log, tmp_path):
    log.write_text(PAGE + "nonsense;plum\ta,b :; plum\ta,a,b :;")
    said = clicks("fit", log, "--model", "CM", "--out", tmp_path / "models.json").stderr
    assert "4 sessions, 2 queries\n    1 line cannot be read, the first is line 1: a record must be" in said
    assert "dropped 2 of 6 sessions: 1 with a document twice; 1 with another number of documents than most, 3\n" in said
    assert re.search(
        "Warning: 33% of the sessions of .* were dropped.*all pages of a log must have the same length", said
    )
    log.write_text(PAGE * 5 + "plum\ta,b :;")
    said = clicks("fit", log, "--model", "CM", "--out", tmp_path / "models.json").stderr
    assert "dropped 1 of 21 sessions" in said
    assert "Warning" not in said


def test_perplexity_by_rank_is_an_option(log, tmp_path):
    fitted = ["fit", log, "--model", "CM,PBM", "--test", log, "--out", tmp_path / "models.json"]
    assert "at rank" not in clicks(*fitted).stdout
    said = clicks(*fitted, "--by-rank").stdout
    quality = ranking_fit("PBM", read_log(log))["PBM"].evaluate(read_log(log))
    for measure, by_rank in (("perplexity", quality[4]), ("conditional", quality[5])):
        for name in ("train", "test"):
            table = said[said.index(f"{name} {measure}") :].splitlines()
            rows = [line.split() for line in table if re.match(r" *\d ", line)][:3]
            assert [row[0] for row in rows] == ["1", "2", "3"]
            assert [float(row[2]) for row in rows] == pytest.approx(by_rank, abs=1e-4)


def test_the_model_to_simulate_must_be_clear(tmp_path):
    path = tmp_path / "two.json"
    write_models(path, {"q": {"CM": CM([0.5, 0.1]), "DCM": DCM([0.5, 0.1], [0.0, 0.0])}, "r": {"CM": CM([0.2, 0.3])}})
    out = tmp_path / "log.csv"
    simulate = ["simulate", path, "--sessions", 100, "--out", out]
    assert "--model must say which click model of" in clicks(*simulate, code=2).stderr
    assert "has no click model 'DCM' of query r, only CM" in clicks(*simulate, "--model", "DCM", code=2).stderr
    assert not out.exists()
    clicks(*simulate, "--model", "CM")
    assert read_log(out).n_sessions == 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "missing.txt", "--out", "m.json"], "missing.txt must be a click log, and does not exist"),
        (["fit", "log.txt", "--model", "CMM", "--out", "m.json"], "unknown click model 'CMM': did you mean 'CM'?"),
        (["fit", "log.txt", "--model", ",", "--out", "m.json"], "--model must name at least one click model"),
        (["fit", "log.txt", "--counts", "--out", "m.json"], "only CM, DCM, SDBN can be fitted by counts, not PBM"),
        (["fit", "log.txt", "--out", "m.txt"], "--out must be a .json or .json.gz file, not m.txt"),
        (["fit", "log.txt", "--out", "nowhere/m.json"], "cannot write nowhere/m.json: No such file or directory"),
        (["fit", "log.txt", "--queries", "0", "--out", "m.json"], "--queries must be a whole number of at least 1"),
        (["fit", "log.txt", "--iterations", "0", "--out", "m.json"], "iterations must be a whole number"),
        (["fit", "log.txt", "--test", "missing.txt", "--out", "m.json"], "missing.txt must be a click log"),
        (["fit", "log.txt", "--format", "xml", "--out", "m.json"], "format must be 'yandex' or"),
        (["fit", "log.txt", "--format", "yandex", "--out", "m.json"], "no good result page; line 1"),
        (["describe", "missing.txt"], "missing.txt must be a click log, and does not exist"),
        (
            ["simulate", "missing.json", "--out", "l.csv"],
            "missing.json must be a JSON file of click models, and does not",
        ),
        (["simulate", "log.txt", "--out", "l.csv"], "log.txt must be a JSON file of click models"),
        (["simulate", "truth.json", "--sessions", "0", "--out", "l.csv"], "--sessions must be a whole number"),
        (["simulate", "truth.json", "--seed", "-1", "--out", "l.csv"], "--seed must be a whole number"),
        (["simulate", "truth.json", "--out", "l.txt"], "l.txt must end in .parquet, .csv or .csv.gz"),
    ],
)
def test_mistakes_are_one_sentence_and_nothing_is_written(arguments, message, log, models, monkeypatch):
    monkeypatch.chdir(log.parent)
    before = set(log.parent.iterdir())
    lines = clicks(*arguments, code=2).stderr.splitlines()
    assert message in lines[-1]
    assert lines[-1].startswith("Error: ")
    assert set(log.parent.iterdir()) == before


def test_a_file_that_was_there_stays_when_fitting_fails(log, tmp_path):
    out = tmp_path / "models.json"
    out.write_text("mine")
    log.write_bytes(gzip.compress(PAGE.encode() * 100)[:50])
    clicks("fit", log, "--out", out, code=2)
    assert out.read_text() == "mine"


def test_every_command_has_an_example():
    for command in ("fit", "simulate", "describe"):
        assert f"corebandit clicks {command}" in clicks(command, "--help").stdout


@needs_real_data
def test_the_published_data_goes_through_all_commands(tmp_path):
    train, test = (LOGS / f"{name}Sample.txt.gz" for name in ("train", "test"))
    printed = clicks("fit", train, "--model", "CM,SDBN", "--test", test, "--out", tmp_path / "m.json").stdout
    assert "SDBN" in printed
    stored = read_models(tmp_path / "m.json")
    assert len(stored) == 20
    assert all(model.n_documents == 10 for of_query in stored.values() for model in of_query.values())
    published = MODELS
    clicks("simulate", published, "--model", "CM", "--sessions", 20_000, "--out", tmp_path / "log.parquet")
    clicks("fit", tmp_path / "log.parquet", "--model", "CM", "--out", tmp_path / "again.json")
    assert "60" in clicks("describe", tmp_path / "log.parquet").stdout
    truth = read_models(published)
    found = np.mean([model["CM"].attraction for model in read_models(tmp_path / "again.json").values()])
    assert found == pytest.approx(np.mean([truth[query]["CM"].attraction for query in truth]), abs=0.01)
