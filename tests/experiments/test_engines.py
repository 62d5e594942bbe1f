"""Engines: chunks go in as data, runs come out, whoever plays and wherever."""

import base64
import json
import subprocess
import sys

import numpy as np
import pytest

import corebandit as cb
from corebandit.contracts.errors import DamagedFile
from corebandit.experiments.cutting import chunks_of
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

    def play(self, chunks):
        sent = json.dumps([chunk_to_dict(chunk) for chunk in chunks])
        done = subprocess.run([sys.executable, "-c", ELSEWHERE], input=sent, capture_output=True, text=True, check=True)
        played = [base64.b64decode(line) for line in done.stdout.split()]
        for place in reversed(range(len(chunks))):
            yield place, runs_from_bytes(str(place), chunks[place].shape, played[place])


class Rounding:
    """An engine that rounds differently, and counts what it plays."""

    environment = "an engine that rounds to four digits"

    def __init__(self):
        self.n_played = 0

    def play(self, chunks):
        for place, chunk in enumerate(chunks):
            self.n_played += 1
            runs = play_chunk(chunk)
            yield place, runs._replace(regret=runs.regret.round(4))


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
        for chunk in (chunk for label in experiment.policies for chunk in chunks_of(experiment, label)):
            assert chunk_from_dict(json.loads(json.dumps(chunk_to_dict(chunk)))) == chunk


def test_runs_that_are_not_those_of_a_chunk_are_refused():
    (chunk, *_) = chunks_of(experiments()[0], "UCB1")
    content = runs_to_bytes("key", play_chunk(chunk))
    assert np.array_equal(runs_from_bytes("key", chunk.shape, content).regret, play_chunk(chunk).regret)
    with pytest.raises(DamagedFile, match="another chunk"):
        runs_from_bytes("other", chunk.shape, content)
    with pytest.raises(DamagedFile, match="not the regrets"):
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
        def play(self, chunks):
            for place, runs in super().play(chunks):
                if place == 3:
                    raise OSError("the machine is gone")
                yield place, runs

    with pytest.raises(OSError, match="the machine is gone"):
        cb.run(experiments(), folder=tmp_path, engine=Failing())
    assert len(list(tmp_path.glob("*.chunk"))) == 3
