"""Engines: they are told which runs are missing and hand over runs, whoever plays and wherever."""

import pickle
import subprocess
import sys
import time

import numpy as np
import pytest

import corebandit as cb
from corebandit.contracts.errors import DamagedFile
from corebandit.experiments.chunk_file import chunk_from_bytes, chunk_to_bytes
from corebandit.experiments.engines import threads
from corebandit.experiments.engines.player import play_runs
from corebandit.experiments.engines.threads import Threads
from corebandit.experiments.playing import task_of

ELSEWHERE = """
import pickle, sys
from corebandit.experiments.engines.player import play_runs
pickle.dump([play_runs(*wanted) for wanted in pickle.load(sys.stdin.buffer)], sys.stdout.buffer)
"""


class OtherProcess:
    """An engine that sends all to another process as one batch, and gives it back in the wrong order."""

    environment = Threads().environment

    def play(self, wanted, finish):
        sent = pickle.dumps(list(wanted))
        done = subprocess.run([sys.executable, "-c", ELSEWHERE], input=sent, capture_output=True, check=True)
        for place, runs in reversed(list(enumerate(pickle.loads(done.stdout)))):
            finish(place, wanted[place].first, runs)


class Rounding:
    """An engine that rounds differently, hands over so many runs at a time, and says what it plays."""

    environment = "an engine that rounds to four digits"

    def __init__(self, size=10):
        self.size, self.played = size, []

    def play(self, wanted, finish):
        for place, each in enumerate(wanted):
            for piece in each.cut(self.size):
                self.played.append((piece.task.label, piece.first, piece.last))
                runs = play_runs(*piece)
                finish(place, piece.first, runs._replace(regret=runs.regret.round(4)))


def experiments():
    arms = cb.Experiment(cb.GaussianBandit(), [cb.CORe(), cb.UCB1()], horizon=200, runs=12, seed=3)
    linear = cb.Experiment(cb.LinearBandit(), [cb.LinCORe()], horizon=150, runs=3, regret="realised")
    ranked = cb.Experiment(cb.YandexLike(query=1), [cb.Ranked(cb.CORe(alpha=0.4))], horizon=60, runs=2)
    return [arms, linear, ranked]


@pytest.mark.heavy
def test_runs_are_played_elsewhere_to_the_same_numbers():
    assert cb.run(experiments(), engine=OtherProcess()).frame.equals(cb.run(experiments()).frame)


def test_runs_come_back_from_bytes_as_they_were():
    runs = play_runs(task_of(experiments()[0], "UCB1"), 3, 7)._replace(complaint="odd", engine="cuda", wall_seconds=2.0)
    content = chunk_to_bytes("key", runs)
    key, again = chunk_from_bytes(content)
    assert key == "key"
    assert np.array_equal(again.regret, runs.regret)
    assert all(map(np.array_equal, again.notes, runs.notes))
    assert again._replace(regret=None, notes=None) == runs._replace(regret=None, notes=None)
    with pytest.raises(DamagedFile, match="does not fit its digest"):
        chunk_from_bytes(content[:-1])


def test_engines_that_round_differently_never_share_runs(tmp_path):
    exact = cb.run(experiments(), folder=tmp_path)
    rounding = Rounding()
    rounded = cb.run(experiments(), folder=tmp_path, engine=rounding)
    assert len(rounding.played) == len(list(tmp_path.iterdir())) / 2 == 6
    assert np.array_equal(rounded.regret("UCB1"), exact.regret("UCB1").round(4))
    assert not np.array_equal(rounded.regret("UCB1"), exact.regret("UCB1"))
    again = cb.run(experiments(), folder=tmp_path, engine=rounding)
    assert len(rounding.played) == 6
    assert again.frame.equals(rounded.frame)
    assert cb.run(experiments(), folder=tmp_path).frame.equals(exact.frame)


def arms(runs, label="UCB1", name="one"):
    return cb.Experiment(cb.GaussianBandit(), {label: cb.UCB1()}, horizon=50, runs=runs, name=name)


def test_what_two_experiments_share_is_played_once(tmp_path):
    rounding = Rounding(size=100)
    result = cb.run([arms(12), arms(20, "twin", "other")], folder=tmp_path, engine=rounding)
    assert [span for _, *span in rounding.played] == [[0, 20]]
    assert np.array_equal(result.regret("twin")[:12], result.regret("UCB1"))
    assert [len(result.regret(label)) for label in ("UCB1", "twin")] == [12, 20]
    one, twin = result.curves()
    assert (one.wall_seconds > 0, twin.wall_seconds) == (True, 0.0), "time is spent once"


def test_only_missing_runs_are_played_whatever_the_size_in_which_they_were(tmp_path):
    whole = cb.run(arms(50), engine=Rounding())
    for runs, size, expected in ((20, 6, [(0, 6), (6, 12), (12, 18), (18, 20)]), (50, 100, [(20, 50)])):
        rounding = Rounding(size)
        cb.run(arms(runs), folder=tmp_path, engine=rounding)
        assert [tuple(span) for _, *span in rounding.played] == expected
    kept = {path.name.rpartition(".chunk")[0].partition(".")[2]: path for path in tmp_path.iterdir()}
    kept["6-12"].unlink()
    kept["18-20"].write_bytes(b"damaged")
    rounding = Rounding(4)
    again = cb.run(arms(50), folder=tmp_path, engine=rounding)
    assert [tuple(span) for _, *span in rounding.played] == [(6, 10), (10, 12), (18, 20)]
    assert again.frame.equals(whole.frame)
    fewer = cb.run(arms(8), folder=tmp_path, engine=rounding)  # of chunks that reach beyond
    assert np.array_equal(fewer.regret("UCB1"), whole.regret("UCB1")[:8])
    assert len(rounding.played) == 3


def test_chunks_that_overlap_are_cut(tmp_path):
    for runs in (13, 30):  # by two processes at once, say, in sizes of their own
        cb.run(arms(runs), folder=tmp_path / str(runs), engine=Rounding(7 if runs == 13 else 30))
    for path in (tmp_path / "13").iterdir():
        path.rename(tmp_path / "30" / path.name)
    (whole,) = (path for path in (tmp_path / "30").iterdir() if ".0-30." in path.name)
    nothing = Rounding()
    result = cb.run(arms(30), folder=tmp_path / "30", engine=nothing)
    assert nothing.played == []
    assert result.frame.equals(cb.run(arms(30), engine=Rounding()).frame)
    whole.unlink()
    cb.run(arms(30), folder=tmp_path / "30", engine=nothing)
    assert [tuple(span) for _, *span in nothing.played] == [(13, 23), (23, 30)]


def test_time_is_that_of_all_starts_together(tmp_path):
    class Slow(Rounding):
        def play(self, wanted, finish):
            time.sleep(0.2)
            super().play(wanted, finish)

    first = cb.run(arms(10), folder=tmp_path, engine=Slow()).wall_seconds
    both = cb.run(arms(20), folder=tmp_path, engine=Slow()).wall_seconds
    again = cb.run(arms(20), folder=tmp_path, engine=Slow()).wall_seconds
    assert 0.2 <= first <= both - 0.2
    assert again == both
    assert cb.run(arms(5), folder=tmp_path, engine=Slow()).wall_seconds == pytest.approx(first / 2)


def test_threads_are_told_to_the_engine_not_beside_it():
    with pytest.raises(ValueError, match="say it to the engine"):
        cb.run(experiments(), jobs=2, engine=Threads(2))


def test_what_was_finished_before_an_error_is_kept(tmp_path):
    class Failing(Rounding):
        def play(self, wanted, finish):
            super().play(wanted[:3], finish)
            raise OSError("the machine is gone")

    with pytest.raises(OSError, match="the machine is gone"):
        cb.run(experiments(), folder=tmp_path, engine=Failing())
    assert len(list(tmp_path.glob("*.chunk"))) == 5


class Wrong:
    """An engine that hands over something else than it should."""

    environment = "wrong"

    def __init__(self, wrongly):
        self.wrongly = wrongly

    def play(self, wanted, finish):
        for place, each in enumerate(wanted):
            for handed in self.wrongly(place, each.first, play_runs(*each)):
                finish(*handed)


@pytest.mark.parametrize(
    ("wrongly", "sentence"),
    [
        (lambda place, first, runs: [(place - 3, first, runs)], "asked for 4 things, and finished the one at place -3"),
        (
            lambda place, first, runs: [(place + 100, first, runs)],
            "asked for 4 things, and finished the one at place 1",
        ),
        (lambda place, first, runs: [(place, first, runs)] * 2, "the runs 0 to 11 of CORe, which are none of those"),
        (lambda place, first, runs: [(place, first + 1, runs)], "the runs 1 to 12 of CORe, which are none of those"),
        (lambda place, first, runs: [(place, -1, runs)], "the runs -1 to 10 of CORe, which are none of those"),
        (lambda place, first, runs: [(place, first, runs.part(0, 0))], "the runs 0 to -1 of CORe, which are none"),
        (lambda place, first, runs: [(place, first, runs)] if place < 2 else [], "Wrong left 5 of 29 runs unplayed"),
        (lambda place, first, runs: [(place, first, runs.part(0, 2))], "Wrong left 21 of 29 runs unplayed"),
        (
            lambda place, first, runs: [(place, first, runs._replace(regret=runs.regret[:4]))],
            r"CORe: the note .* must be of the shape \(4",
        ),
        (
            lambda place, first, runs: [(place, first, runs._replace(regret=runs.regret[:, :4]))],
            r"CORe: regrets must .* not float64 \(12, 4",
        ),
        (
            lambda place, first, runs: [(place, first, runs._replace(regret=runs.regret.astype("f4")))],
            "CORe: regrets .* float32",
        ),
        (
            lambda place, first, runs: [(place, first, runs._replace(regret=runs.regret * np.nan))],
            "CORe: regrets .* finite",
        ),
        (lambda place, first, runs: [(place, first, runs._replace(regret=None))], "CORe: regrets .* not NoneType"),
        (
            lambda place, first, runs: [(place, first, runs._replace(measures={"a": np.zeros(99)}))],
            "CORe: the measure a",
        ),
    ],
)
def test_an_engine_is_not_believed(wrongly, sentence, tmp_path):
    with pytest.raises(cb.BadInput, match=sentence):
        cb.run(experiments(), engine=Wrong(wrongly), folder=tmp_path)


def test_the_environment_of_an_engine_is_a_text():
    engine = Rounding()
    engine.environment = None
    with pytest.raises(cb.BadInput, match="the environment of an engine must be a text, not None"):
        cb.run(experiments(), engine=engine)


@pytest.mark.parametrize("engine", ["thread", Threads, object()])
def test_what_is_no_engine_is_refused(engine):
    with pytest.raises(cb.BadInput, match="engine must be threads, cuda, or an object with environment and play"):
        cb.run(experiments(), engine=engine)


def test_what_threads_finish_is_kept_though_nobody_waits(tmp_path, monkeypatch):
    n_finished = 0
    play = threads.play_runs

    def counted(*wanted):
        nonlocal n_finished
        runs = play(*wanted)
        n_finished += 1
        if n_finished == 5:
            raise RuntimeError("something else fails")
        return runs

    monkeypatch.setattr(threads, "play_runs", counted)
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
