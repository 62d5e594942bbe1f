"""Processes that compile for a run: that they help, and that they cannot harm."""

import contextlib
import json
import subprocess
import sys
import time

import pytest

import corebandit as cb
from corebandit.catalogue import policy_from
from corebandit.experiments.engines import compile_ahead, threads
from corebandit.experiments.engines.compile_ahead import compiling_ahead, games_to_compile
from corebandit.experiments.playing import task_of
from fresh_interpreter import run_python

SPECS = ["UniformRandom", "UCB1", "UCB1(sigma=0.2)"]
ARMS = "cb.FixedArms([cb.Bernoulli(0.4), cb.Bernoulli(0.5)])"  # to draw others, parts are compiled one by one
EXPERIMENT = f"""
import json
import corebandit as cb
from corebandit.catalogue import policy_from
experiment = cb.Experiment({ARMS}, [policy_from(spec) for spec in {SPECS}], horizon=50, runs=2)
"""
LIST = f"""{EXPERIMENT}
from corebandit.experiments.engines import compile_ahead
from corebandit.experiments.playing import task_of
games = compile_ahead.games_to_compile([task_of(experiment, label) for label in experiment.policies])
print(json.dumps(games))
"""
WORK = f"""{LIST}
import io, sys
from corebandit.experiments.engines.compile_worker import main
unknown = dict(problem=dict(name="no such problem"), policy=dict(name="UCB1"), horizon=50)
sys.stdin = io.StringIO(json.dumps(dict(engine="threads", games=[unknown, games[0]])))
main()
"""
RUN = f"""{LIST}
compile_ahead.WORTH_A_PROCESS = 1
print(json.dumps(cb.run(experiment, jobs=2).frame["regret"].to_list()))
"""


@pytest.mark.thorough
def test_a_worker_compiles_what_others_then_find(tmp_path):
    games = json.loads(run_python(WORK, tmp_path, NUMBA_DISABLE_JIT="0"))
    names = [game["policy"]["name"] for game in games]
    assert names == ["UniformRandom", "UCB1"]  # UCB1 of both widths is compiled once
    assert json.loads(run_python(LIST, tmp_path, NUMBA_DISABLE_JIT="0")) == games[1:]


@pytest.mark.endurance
def test_a_run_with_workers_has_the_same_numbers(tmp_path):
    _, helped = map(json.loads, run_python(RUN, tmp_path, NUMBA_DISABLE_JIT="0").splitlines())
    arms = cb.FixedArms([cb.Bernoulli(0.4), cb.Bernoulli(0.5)])
    experiment = cb.Experiment(arms, [policy_from(spec) for spec in SPECS], horizon=50, runs=2)
    assert helped == cb.run(experiment, jobs=1).frame["regret"].to_list()


def test_what_no_other_process_can_compile_is_left_to_the_run():
    class OwnEstimator:
        def fit(self, x, y):
            return self

        def predict(self, x):
            return x[:, 0]

    experiment = cb.Experiment(cb.LinearBandit(), [cb.EstimatorCORe(OwnEstimator())], horizon=20, runs=1)
    assert games_to_compile([task_of(experiment, *experiment.policies)]) == []


GAMES = [{"policy": i} for i in range(2 * compile_ahead.WORTH_A_PROCESS)]


def started_workers(monkeypatch, script, processes):
    """Return the workers of a run, and what each was given, in place of which this script runs."""
    started, given = [], []
    start = compile_ahead._worker

    def starting(games, engine):
        given.append(games)
        started.append(start(games, engine))
        return started[-1]

    monkeypatch.setattr(compile_ahead, "WORKER", (sys.executable, "-c", script))
    monkeypatch.setattr(compile_ahead, "_worker", starting)
    with compiling_ahead(GAMES, processes, "threads"):
        pass
    return started, given


def test_workers_begin_at_the_far_end_and_share_the_work(monkeypatch):
    _, given = started_workers(monkeypatch, "", processes=8)
    assert [[game["policy"] for game in games] for games in given] == [[7, 5, 3, 1], [6, 4, 2, 0]]
    _, given = started_workers(monkeypatch, "", processes=1)
    assert [[game["policy"] for game in games] for games in given] == [[7, 6, 5, 4, 3, 2, 1, 0]]
    assert started_workers(monkeypatch, "", processes=0) == ([], [])


def test_no_worker_outlives_the_run(monkeypatch):
    began = time.monotonic()
    workers, _ = started_workers(monkeypatch, "import time; time.sleep(600)", processes=2)
    assert [worker.poll() is not None for worker in workers] == [True, True]
    assert time.monotonic() - began < 60


def test_a_worker_that_ends_at_once_is_no_harm(monkeypatch):
    large = [{"policy": "x" * 300_000} for _ in GAMES]  # more than a pipe holds
    monkeypatch.setattr(sys.modules[__name__], "GAMES", large)
    workers, _ = started_workers(monkeypatch, "raise SystemExit(3)", processes=2)
    assert len(workers) == 2


def test_a_run_whose_workers_cannot_be_started_goes_on(monkeypatch):
    left = [subprocess.Popen((sys.executable, "-c", "import time; time.sleep(600)"))]

    def start_one_only(games, engine):
        if not left:
            raise BlockingIOError("Resource temporarily unavailable")
        started.append(left.pop())
        return started[-1]

    started = []
    monkeypatch.setattr(compile_ahead, "_worker", start_one_only)
    with compiling_ahead(GAMES, 2, "threads"):
        assert len(started) == 1
    assert started[0].poll() is not None


def test_a_run_has_a_worker_for_every_thread_but_one(monkeypatch):
    asked = []

    @contextlib.contextmanager
    def recorded(games, processes, engine):
        asked.append((games, processes, engine))
        yield

    monkeypatch.setattr(threads, "compiling_ahead", recorded)
    monkeypatch.setattr(threads, "games_to_compile", lambda tasks: [task.label for task in tasks])
    experiment = cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=20, runs=1)
    cb.run(experiment, jobs=3)
    cb.run(experiment, jobs=1)
    assert asked == [(["UCB1"], 2, "threads"), ([], 0, "threads")]


def test_a_frozen_program_does_not_start_itself(monkeypatch):
    assert compile_ahead.is_possible(8)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not compile_ahead.is_possible(8)
