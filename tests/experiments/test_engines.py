"""Engines: chunks go in as data, runs come out, whoever plays and wherever."""

import base64
import json
import subprocess
import sys

import numpy as np
import pytest

import corebandit as cb
from corebandit.contracts.errors import DamagedFile
from corebandit.experiments.chunk_store import ChunkStore
from corebandit.experiments.cutting import chunks_of
from corebandit.experiments.engines import threads
from corebandit.experiments.engines.player import play_chunk
from corebandit.experiments.engines.threads import Threads
from corebandit.experiments.parcels import chunk_from_dict, chunk_to_dict, runs_from_bytes, runs_to_bytes

ELSEWHERE = """
import base64, json, sys
from corebandit.experiments.engines.player import play_chunk
from corebandit.experiments.parcels import chunk_from_dict, runs_to_bytes
for number, content in enumerate(json.load(sys.stdin)):
    print(base64.b64encode(runs_to_bytes(str(number), play_chunk(chunk_from_dict(content)))).decode())
"""


class OtherProcess:
    """An engine that sends all chunks to another process as one batch, and gives them back in the wrong order."""

    environment = Threads().environment
    runs_per_chunk = Threads().runs_per_chunk

    def play(self, chunks, finish):
        sent = json.dumps([chunk_to_dict(chunk) for chunk in chunks])
        done = subprocess.run([sys.executable, "-c", ELSEWHERE], input=sent, capture_output=True, text=True, check=True)
        played = [base64.b64decode(line) for line in done.stdout.split()]
        for place in reversed(range(len(chunks))):
            finish(place, runs_from_bytes(str(place), chunks[place].shape, played[place]))


class Rounding:
    """An engine that rounds differently, and counts what it plays."""

    environment = "an engine that rounds to four digits"
    runs_per_chunk = Threads().runs_per_chunk

    def __init__(self):
        self.n_played = 0

    def play(self, chunks, finish):
        for place, chunk in enumerate(chunks):
            self.n_played += 1
            runs = play_chunk(chunk)
            finish(place, runs._replace(regret=runs.regret.round(4)))


def experiments():
    arms = cb.Experiment(cb.GaussianBandit(), [cb.CORe(), cb.UCB1()], horizon=200, runs=12, seed=3)
    linear = cb.Experiment(cb.LinearBandit(), [cb.LinCORe()], horizon=150, runs=3, regret="realised")
    ranked = cb.Experiment(cb.YandexLike(query=1), [cb.Ranked(cb.CORe(alpha=0.4))], horizon=60, runs=2)
    return [arms, linear, ranked]


@pytest.mark.heavy
def test_chunks_travel_as_data_and_are_played_elsewhere_to_the_same_numbers():
    assert cb.run(experiments(), engine=OtherProcess()).frame.equals(cb.run(experiments()).frame)


def test_a_chunk_that_has_travelled_is_the_same():
    for experiment in experiments():
        for chunk in (chunk for label in experiment.policies for chunk in chunks_of(experiment, label, 10)):
            assert chunk_from_dict(json.loads(json.dumps(chunk_to_dict(chunk)))) == chunk


def test_runs_that_are_not_those_of_a_chunk_are_refused():
    (chunk, *_) = chunks_of(experiments()[0], "UCB1", 10)
    content = runs_to_bytes("key", play_chunk(chunk))
    assert np.array_equal(runs_from_bytes("key", chunk.shape, content).regret, play_chunk(chunk).regret)
    with pytest.raises(DamagedFile, match="another chunk"):
        runs_from_bytes("other", chunk.shape, content)
    with pytest.raises(
        DamagedFile, match=r"regrets of a chunk must be finite numbers of the shape \(3, 100\), not float64"
    ):
        runs_from_bytes("key", (3, 100), content)
    with pytest.raises(DamagedFile, match="does not fit its digest"):
        runs_from_bytes("key", chunk.shape, content[:-1])


def test_engines_that_round_differently_never_share_a_chunk(tmp_path):
    exact = cb.run(experiments(), folder=tmp_path)
    rounding = Rounding()
    rounded = cb.run(experiments(), folder=tmp_path, engine=rounding)
    assert rounding.n_played == len(list(tmp_path.iterdir())) / 2 == 6
    assert np.array_equal(rounded.regret("UCB1"), exact.regret("UCB1").round(4))
    assert not np.array_equal(rounded.regret("UCB1"), exact.regret("UCB1"))
    again = cb.run(experiments(), folder=tmp_path, engine=rounding)
    assert rounding.n_played == 6
    assert again.frame.equals(rounded.frame)
    assert cb.run(experiments(), folder=tmp_path).frame.equals(exact.frame)


def test_a_chunk_that_two_experiments_share_is_played_once(tmp_path):
    one, *_ = experiments()
    other = cb.Experiment(one.problem, {"twin": cb.UCB1()}, horizon=200, runs=12, seed=3, name="other")
    rounding = Rounding()
    result = cb.run([one, other], folder=tmp_path, engine=rounding)
    assert rounding.n_played == 4
    assert np.array_equal(result.regret("twin"), result.regret("UCB1"))


def test_threads_are_told_to_the_engine_not_beside_it():
    with pytest.raises(ValueError, match="say it to the engine"):
        cb.run(experiments(), jobs=2, engine=Threads(2))


def test_what_was_finished_before_an_error_is_kept(tmp_path):
    class Failing(Rounding):
        def play(self, chunks, finish):
            super().play(chunks[:3], finish)
            raise OSError("the machine is gone")

    with pytest.raises(OSError, match="the machine is gone"):
        cb.run(experiments(), folder=tmp_path, engine=Failing())
    assert len(list(tmp_path.glob("*.chunk"))) == 3


class Wrong:
    """An engine that hands over something else than it should."""

    environment = "wrong"
    runs_per_chunk = Threads().runs_per_chunk

    def __init__(self, wrongly):
        self.wrongly = wrongly

    def play(self, chunks, finish):
        for place, chunk in enumerate(chunks):
            for pair in self.wrongly(place, play_chunk(chunk)):
                finish(*pair)


@pytest.mark.parametrize(
    ("wrongly", "sentence"),
    [
        (lambda place, runs: [(place - 3, runs)], "finished chunk -3 of 6, which is none of those that wait"),
        (lambda place, runs: [(place + 100, runs)], "finished chunk 100 of 6"),
        (lambda place, runs: [(place, runs)] * 2, "finished chunk 0 of 6, which is none of those that wait"),
        (lambda place, runs: [(place, runs)] if place < 4 else [], "Wrong left 2 of 6 chunks unplayed"),
        (
            lambda place, runs: [(place, runs._replace(regret=runs.regret[:4]))],
            r"CORe: regrets of a chunk .* not float64 \(4",
        ),
        (lambda place, runs: [(place, runs._replace(regret=runs.regret.astype("f4")))], "CORe: regrets .* float32"),
        (lambda place, runs: [(place, runs._replace(regret=runs.regret * np.nan))], "CORe: regrets .* finite"),
        (lambda place, runs: [(place, runs._replace(measures={"a": np.zeros(99)}))], "CORe: the measure a"),
    ],
)
def test_an_engine_is_not_believed(wrongly, sentence, tmp_path):
    with pytest.raises(cb.BadInput, match=sentence):
        cb.run(experiments(), engine=Wrong(wrongly), folder=tmp_path)


@pytest.mark.parametrize(
    ("part", "value", "sentence"),
    [
        ("environment", None, "the environment of an engine must be a text, not None"),
        ("runs_per_chunk", lambda policy: 0, "runs_per_chunk of an engine must be a whole number of at least 1, not 0"),
        ("runs_per_chunk", lambda policy: 2.5, "runs_per_chunk of an engine must be a whole number"),
    ],
)
def test_parts_of_an_engine_that_are_wrong_are_named(part, value, sentence):
    engine = Rounding()
    setattr(engine, part, value)
    with pytest.raises(cb.BadInput, match=sentence):
        cb.run(experiments(), engine=engine)


@pytest.mark.parametrize("engine", ["thread", Threads, object()])
def test_what_is_no_engine_is_refused(engine):
    with pytest.raises(
        cb.BadInput, match="engine must be threads, cuda, a file of runs that another machine has played, or an"
    ):
        cb.run(experiments(), engine=engine)


def test_what_threads_finish_is_kept_though_nobody_waits(tmp_path, monkeypatch):
    n_finished = 0
    play = threads.play_chunk

    def counted(chunk, stop):
        nonlocal n_finished
        runs = play(chunk, stop)
        n_finished += 1
        if n_finished == 5:
            raise RuntimeError("something else fails")
        return runs

    monkeypatch.setattr(threads, "play_chunk", counted)
    many = cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=50, runs=400)
    with pytest.raises(RuntimeError, match="something else fails"):
        cb.run(many, folder=tmp_path, jobs=3)
    assert len(list(tmp_path.glob("*.chunk"))) == n_finished - 1


@pytest.mark.heavy
def test_complaints_are_kept_with_the_runs(tmp_path):
    class Complaining(cb.UCB1):
        def complaint(self, state):
            return "nothing converges"

    experiment = cb.Experiment(cb.BernoulliBandit(), {"it": Complaining()}, horizon=50, runs=12)
    for _ in range(2):
        with pytest.warns(UserWarning, match="it: nothing converges"):
            cb.run(experiment, folder=tmp_path)


def test_a_folder_that_another_run_removed_is_made_again(tmp_path):
    store = ChunkStore(tmp_path / "chunks")
    (tmp_path / "chunks").rmdir()
    (chunk, *_) = chunks_of(experiments()[0], "UCB1", 10)
    store.keep("key", play_chunk(chunk))
    assert store.find("key", chunk.shape) is not None
