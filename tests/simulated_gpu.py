"""Plays on numba's simulator of a GPU, in a process of its own; says what is not as on the processor."""

import _thread
import contextlib
import signal
import sys
import tempfile
import threading
import time
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.compiled.cuda import device
from corebandit.experiments.engines import batches, cuda
from corebandit.experiments.engines.player import play_runs
from corebandit.experiments.task import Task, Wanted, together

real_memory = device.free_memory
SMALL = {"n_arms": 5, "n_features": 3}
GAMES = [
    (cb.BernoulliBandit(n_arms=3), cb.CORe()),
    (cb.MixedBandit(n_arms=batches.SMALL + 1), cb.UCB1()),  # more arms than a thread keeps for itself
    (cb.LinearBandit(**SMALL), cb.LinCORe()),
    (cb.ContextualBandit(**SMALL), cb.LinTS()),
    (cb.YandexLike(query=0), cb.CascadeUCB1()),
    (cb.LogisticBandit(**SMALL), cb.GLMCORe()),  # which has something to say of its state
]


def wanted_of(games, actions=True):
    return [
        Wanted(Task(problem, policy, policy.label, (5, 30), 1, "realised" if actions else "expected", actions), *span)
        for problem, policy in games
        for span in ((0, 2), (3, 4))
    ]


def played(wanted):
    found = {}
    cuda.Cuda(1).play(wanted, lambda place, first, runs: found.setdefault(place, {}).update({first: runs}))
    return [together("", [runs for _, runs in sorted(found[place].items())]) for place in range(len(wanted))]


def test_runs_are_those_of_the_processor():
    wanted = wanted_of(GAMES)
    for each, ours in zip(wanted, played(wanted), strict=True):
        check_same(ours, play_runs(*each), each.task.label)
        assert ours.engine == "cuda"


def check_same(ours, theirs, label):
    np.testing.assert_array_equal(ours.regret, theirs.regret, label)
    for one, other in zip(ours.notes, theirs.notes, strict=True):
        np.testing.assert_array_equal(one, other, label)
    assert ours.complaint == theirs.complaint
    assert {name: values.tolist() for name, values in ours.measures.items()} == {
        name: values.tolist() for name, values in theirs.measures.items()
    }


def test_runs_that_do_not_fit_the_memory_together_are_played_in_parts():
    wanted = wanted_of(GAMES[:1], actions=False)
    cuda.device.free_memory = lambda: 3200  # a run needs 1,056
    try:
        parts = played(wanted)
    finally:
        cuda.device.free_memory = real_memory
    for each, ours in zip(wanted, parts, strict=True):
        check_same(ours, play_runs(*each), each.task.label)


def test_a_run_that_does_not_fit_at_all_is_refused_before_anything_is_played():
    cuda.device.free_memory = lambda: 100
    try:
        with pytest.raises(cb.BadInput, match="of the GPU's memory for one run of 30 rounds"):
            played(wanted_of(GAMES[:1]))
    finally:
        cuda.device.free_memory = real_memory


class LateState(NamedTuple):
    rounds: np.ndarray

    def score(self, rng, scores):
        scores[:] = 0.0
        if self.rounds[0] == 20:
            scores[0] = np.nan

    def update(self, arm, reward, rng):
        self.rounds[0] += 1


@dataclass(frozen=True)
class Late(cb.Policy):
    name = "late"

    def start(self, n_arms, horizon, capacity):
        return LateState(np.zeros(1, np.int64))


@dataclass(frozen=True)
class InPython(Late):
    name = "in-python"
    runs_compiled = False

    def start(self, n_arms, horizon, capacity):
        return LateState(np.full(1, 100))


def test_an_error_says_what_it_says_on_the_processor():
    start = device.Queue.start

    def start_silently(*arguments):  # on a GPU an error only ends the run
        with contextlib.suppress(cb.BadInput):
            start(*arguments)

    device.Queue.start = start_silently
    try:
        with pytest.raises(cb.BadInput, match="late fails in round 21 of run 0: a policy scored an arm NaN"):
            played(wanted_of([(cb.BernoulliBandit(n_arms=2), Late())], actions=False))
    finally:
        device.Queue.start = start


class Rising(NamedTuple):
    """Means that rise by rounds, and say so."""

    means: np.ndarray

    @property
    def n_arms(self):
        return self.means.size

    def begin_round(self, current_round):
        self.means[0] += 0.01
        return True

    def pull(self, arm, rng):
        return self.means[arm] + rng.random()

    def mean(self, arm):
        return self.means[arm]

    def best_mean(self):
        return self.means.max()


@dataclass(frozen=True)
class RisingArms(cb.Problem):
    name = "rising"

    def draw(self, rng):
        return Rising(np.array([rng.random(), 0.5]))


class Counted(NamedTuple):
    """Arms whose number is a number."""

    means: np.ndarray
    n_arms: int

    def pull(self, arm, rng):
        return self.means[arm] + rng.random()

    def mean(self, arm):
        return self.means[arm]

    def best_mean(self):
        return self.means[: self.n_arms].max()


@dataclass(frozen=True)
class CountedArms(cb.Problem):
    name = "counted"

    def draw(self, rng):
        return Counted(np.linspace(0.0, 1.0, 6), 2 + rng.integers(5))


class OneArrayState(NamedTuple):
    """Two names for one array."""

    written: np.ndarray
    read: np.ndarray

    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = self.read[arm]

    def update(self, arm, reward, rng):
        self.written[arm] += reward - 0.5


@dataclass(frozen=True)
class OneArray(cb.Policy):
    name = "one-array"

    def start(self, n_arms, horizon, capacity):
        values = np.zeros(n_arms)
        return OneArrayState(values, values)


@dataclass(frozen=True)
class Peeking(cb.UCB1):
    """Starts differently in every run."""

    name = "peeking"

    def start_on(self, problem, horizon, capacity):
        state = self.start(problem.n_arms, horizon, capacity)
        state.counts[problem.means.argmax()] = 1.0
        return state


def test_what_differs_from_run_to_run_is_played_as_on_the_processor():
    games = [
        (RisingArms(), cb.UCB1(), "cuda"),
        (CountedArms(), cb.UCB1(), "threads"),
        (cb.BernoulliBandit(n_arms=3), OneArray(), "threads"),
        (cb.BernoulliBandit(n_arms=3), Peeking(), "threads"),
        (cb.BernoulliBandit(n_arms=3), cb.CORe(sampler="exact"), "threads"),  # which looks back
    ]
    wanted = wanted_of([game[:2] for game in games], actions=False)
    for place, (each, ours) in enumerate(zip(wanted, played(wanted), strict=True)):
        check_same(ours, play_runs(*each), each.task.label)
        assert ours.engine == games[place // 2][2], each.task.label


def test_an_interruption_is_heard_while_the_device_is_waited_for():
    is_over = threading.Event()
    threading.Timer(0.3, _thread.interrupt_main).start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            cuda.Cuda(1).play(wanted_of(GAMES[:1]), lambda place, first, runs: is_over.wait(20))
        assert time.monotonic() - started < 5
    finally:
        is_over.set()
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join(20)  # the simulator plays for one at a time


def test_a_second_play_in_one_process_is_like_the_first():
    engine, wanted, found = cuda.Cuda(1), wanted_of(GAMES[:1]), []
    for _ in range(2):
        engine.play(wanted, lambda place, first, runs: found.append(runs.regret.tolist()))
    assert found[:2] == found[2:]


def test_what_runs_in_python_threads_play_and_the_result_says_so():
    experiment = cb.Experiment(cb.BernoulliBandit(n_arms=2), [InPython(), cb.UCB1()], horizon=30, runs=3)
    with tempfile.TemporaryDirectory() as folder:
        result = cb.run(experiment, engine="cuda", jobs=1, folder=folder)
        again = cb.run(experiment, engine="cuda", jobs=1, folder=folder)  # from what was kept
        result.save(f"{folder}/saved")
        loaded = cb.Result.load(f"{folder}/saved")
    for each in (result, again, loaded):
        assert [curve.engine for curve in each.curves()] == ["threads", "cuda"]
    theirs = cb.run(experiment)
    assert [curve.engine for curve in theirs.curves()] == ["", ""]
    assert theirs.frame.equals(result.frame)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name)
    sys.exit(0)
