"""Runs that another machine plays: a folder of them is played there and read here."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import corebandit as cb
from corebandit.experiments import play
from corebandit.experiments.progress import progress_bar
from fresh_interpreter import run_python

# A machine that has NumPy and numba alone.
STRIPPED = """
import sys

class Blocked:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {"polars", "pydantic", "typer", "rich", "matplotlib", "jinja2", "scipy"}:
            raise ImportError(f"there is no {name} here")

sys.meta_path.insert(0, Blocked())
from corebandit.experiments.play import main
main(sys.argv[1:] or WORDS)
"""


def study(runs=25, **more):
    policies = {"CORe": cb.CORe(), "UCB1": cb.UCB1()}
    arms = cb.Experiment(cb.BernoulliBandit(), policies, 200, runs, 3, name="arms", **more)
    return [arms, cb.Experiment(cb.LinearBandit(n_arms=4, n_features=3), [cb.LinCORe()], 100, runs, name="linear")]


def written(path, experiments):
    path.write_text(json.dumps([each.to_dict() for each in experiments]))
    return str(path)


@pytest.mark.heavy
def test_a_machine_without_frames_plays_what_is_read_here(tmp_path):
    experiments = study(also_at=[7])
    words = [written(tmp_path / "study.json", experiments), str(tmp_path / "out")]
    said = run_python(f"WORDS = {words}\n{STRIPPED}", tmp_path, NUMBA_CACHE_DIR=os.environ.get("NUMBA_CACHE_DIR", ""))
    assert said.startswith("75 runs, 12,500 rounds in all, in ")
    assert {path.name.split("-")[0] for path in (tmp_path / "out").iterdir()} == {"experiments.json", "runs", "chunks"}
    theirs, ours = cb.Result.load(tmp_path / "out"), cb.run(experiments)
    assert theirs.frame.equals(ours.frame)
    assert theirs.runs().equals(ours.runs())
    assert theirs.experiments == ours.experiments
    assert theirs.wall_seconds > 0
    theirs.save(tmp_path / "saved")
    assert cb.Result.load(tmp_path / "saved").frame.equals(ours.frame)
    assert cb.run(experiments, folder=tmp_path / "out" / "chunks").wall_seconds == theirs.wall_seconds


def test_a_study_that_was_played_in_pieces_is_read_as_one(tmp_path):
    file, whole = written(tmp_path / "study.json", study(10)), cb.run(study(25))
    for runs in ("12:25", "0:12"):
        play.main([file, str(tmp_path / runs), "--runs", runs, "--jobs", "1"])
    joined = cb.Result.load(tmp_path / "12:25", tmp_path / "0:12")
    assert joined.frame.equals(whole.frame)
    assert joined.runs().equals(whole.runs())
    assert joined.experiments == whole.experiments
    for folders, sentence in (
        (["12:25"], "these folders lack the runs 0 to 11 of arms/bernoulli/CORe"),
        (["0:12", "12:25", "0:12"], "these folders have runs twice of arms/bernoulli/CORe"),
    ):
        with pytest.raises(cb.BadInput, match=sentence):
            cb.Result.load(*(tmp_path / folder for folder in folders))


def test_little_is_kept_of_a_study_of_many_runs(tmp_path):
    file, whole = written(tmp_path / "study.json", study()), cb.run(study())
    play.main([file, str(tmp_path / "out"), "--checkpoints", "33", "50", "100"])
    for ours, theirs in zip(whole.curves(), cb.Result.load(tmp_path / "out").curves(), strict=True):
        horizon = int(ours.rounds[-1])
        assert theirs.rounds.tolist() == [33 * horizon // 100, horizon // 2, horizon]
        np.testing.assert_allclose(theirs.regret, ours.regret[:, [32, 49, 99]], rtol=1e-6)
        assert theirs.notes is None
    with pytest.raises(cb.BadInput, match="of these runs regret alone was kept"):
        cb.Result.load(tmp_path / "out").notes("UCB1")
    file, many = next((tmp_path / "out").glob("runs-1-*")), 25 * 3 * 3
    assert file.stat().st_size < 4 * many + 3000


def test_a_large_study_fits_into_few_small_files(tmp_path):
    from corebandit.experiments.curve import Curve
    from corebandit.experiments.result_files import write_result

    rng, rounds = np.random.default_rng(0), np.array([50, 100])
    curves = [Curve("a", "b", str(place), "", rounds, rng.random((10_000, 2)), 0.0) for place in range(40)]
    write_result(tmp_path, [], curves, kept_as=np.float32)
    sizes = [path.stat().st_size for path in tmp_path.glob("runs-*")]
    assert len(sizes) * 4 <= 8  # of four times as many runs, 1.6 million
    assert max(sizes) < 16_000_000
    for ours, theirs in zip(curves, cb.Result.load(tmp_path).curves(), strict=True):
        np.testing.assert_allclose(theirs.regret, ours.regret, rtol=1e-6)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--checkpoints", "100", "50"], "must be percents that rise and end with 100, such as 50 100, not 100 50"),
        (["--checkpoints", "50"], "must be percents that rise and end with 100"),
        (["--checkpoints", "0", "100"], "must be percents that rise and end with 100"),
        (["--checkpoints", "50", "50", "100"], "must be percents that rise and end with 100"),
        (["--runs", "many"], "--runs must be a number such as 1000, or two such as 1000:2000, not many"),
        (["--runs", "5:5"], "--runs must leave some runs to be played, not 5:5"),
        (["--runs=-3:5"], "--runs must be a number such as 1000, or two such as 1000:2000, not -3:5"),
        (["--runs", "0"], "runs must be a whole number of at least 1, not 0"),
    ],
)
def test_a_mistake_is_a_sentence_and_nothing_is_played(words, sentence, tmp_path):
    file = written(tmp_path / "study.json", study())
    with pytest.raises(SystemExit, match=sentence):
        play.main([file, str(tmp_path / "out"), *words])
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(SystemExit, match="cannot read"):
        play.main([str(tmp_path / "none.json"), str(tmp_path / "out")])


def test_without_rich_progress_is_a_plain_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with progress_bar(30, shown=True) as advance:
        advance(10)
        advance(20)
    assert capsys.readouterr().err == "30 of 30 runs, 0 s\n"


@pytest.mark.endurance
def test_a_play_that_is_interrupted_stops_at_once_and_goes_on(tmp_path):
    arms = cb.Experiment(cb.GaussianBandit(), [cb.CORe(sampler="exact")], horizon=3000, runs=300)
    words = [written(tmp_path / "study.json", [arms]), str(tmp_path / "out")]
    command = [sys.executable, "-m", "corebandit.experiments.play", *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("out/chunks/*.chunk")):
        assert process.poll() is None
        time.sleep(0.01)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - asked < 5
    assert said.endswith("Stopped. What is finished is kept; the same command goes on.\n")
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("out/chunks/*.chunk")}
    assert 0 < len(kept) < 30
    subprocess.run(command, check=True, capture_output=True)
    assert all((tmp_path / "out" / "chunks" / name).stat().st_mtime_ns == date for name, date in kept.items())
    assert cb.Result.load(tmp_path / "out").frame.equals(cb.run(arms).frame)


def test_pieces_of_different_studies_are_not_joined(tmp_path):
    file = written(tmp_path / "study.json", study(10))
    play.main([file, str(tmp_path / "one"), "--runs", "0:5", "--jobs", "1"])
    play.main([file, str(tmp_path / "other"), "--runs", "5:10", "--seed", "7", "--jobs", "1"])
    with pytest.raises(cb.BadInput, match=r"other holds runs of another study: seed of arms differs from before"):
        cb.Result.load(tmp_path / "one", tmp_path / "other")


def test_two_experiments_that_share_runs_count_the_time_once(tmp_path):
    problem, policies = cb.BernoulliBandit(3), [cb.UCB1()]
    few, many = (cb.Experiment(problem, policies, 200, runs, name=str(runs)) for runs in (5, 60))
    one, other = cb.run([few, many], jobs=1, folder=tmp_path).curves()
    assert one.wall_seconds > 0.0
    assert other.wall_seconds == 0.0
