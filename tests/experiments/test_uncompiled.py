"""Policies that say runs_compiled = False: the same loops, agents and checks, in plain Python."""

import math
import threading
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.contracts.state import FloatArray
from corebandit.experiments.engines.player import Stopped, play_runs
from corebandit.experiments.playing import task_of


class Bonus:
    """Something that cannot be compiled."""

    def __init__(self, width: float) -> None:
        self.widths = {"usual": width}

    def of(self, total: float, count: float) -> float:
        return math.sqrt(self.widths["usual"] * math.log(1.0 + total) / count)


class PythonUCBState(NamedTuple):
    counts: FloatArray
    sums: FloatArray
    bonus: Any

    def score(self, rng, scores):
        total = self.counts.sum()
        for arm in range(scores.size):
            n = self.counts[arm]
            scores[arm] = math.inf if n == 0 else self.sums[arm] / n + self.bonus.of(total, n)

    def update(self, arm, reward, rng):
        self.counts[arm] += 1
        self.sums[arm] += reward


@dataclass(frozen=True)
class PythonUCB(cb.Policy):
    runs_compiled: ClassVar[bool] = False

    def start(self, n_arms, horizon, capacity):
        return PythonUCBState(np.zeros(n_arms), np.zeros(n_arms), Bonus(2.0))


def experiment(*policies, **changes):
    return cb.Experiment(cb.BernoulliBandit(), policies, **{"horizon": 300, "runs": 3, "seed": 4, **changes})


def test_it_plays_as_its_compiled_twin():
    result = cb.run(experiment(PythonUCB(), cb.UCB1()))
    assert np.array_equal(result.regret("PythonUCB"), result.regret("UCB1"))


def test_it_keeps_the_contract():
    cb.check_policy(PythonUCB())


def test_its_runs_are_kept_one_by_one(tmp_path):
    cb.run(experiment(PythonUCB()), folder=tmp_path)
    assert len(list(tmp_path.glob("*.chunk"))) == 3


def test_it_stops_in_the_middle_of_a_run():
    stop = threading.Event()

    class Impatient(Bonus):
        def of(self, total, count):
            assert total <= 21, "it plays on"
            if total == 21:
                stop.set()
            return super().of(total, count)

    class Watched(PythonUCB):
        def start(self, n_arms, horizon, capacity):
            return super().start(n_arms, horizon, capacity)._replace(bonus=Impatient(2.0))

    long = experiment(PythonUCB(), horizon=10**6).with_policies({"it": Watched()})
    with pytest.raises(Stopped):
        play_runs(task_of(long, "it"), 0, 1, stop)
