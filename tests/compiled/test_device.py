"""Every policy is compiled for a GPU, whether there is one or not: `-m device`, with the extra `cuda` installed."""

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.compiled.cuda import device, kernels
from corebandit.experiments.chunks import Chunk
from corebandit.experiments.engines.batches import Instances, Table
from paper_gpu import GPU, PaperQueue

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    GAMES = importlib.import_module("device").games_of([])

pytestmark = pytest.mark.device


@pytest.fixture
def queue(monkeypatch):
    device.cuda()
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: GPU)
    monkeypatch.setattr(kernels, "_keep_on_disk", lambda *_: None)
    monkeypatch.setattr(kernels, "_kernel", kernels._kernel.__wrapped__)
    return PaperQueue()


def table_of(policy, problem, n_runs=2, rounds=(100, 1000)):
    chunk = Chunk(problem, policy, policy.label, rounds, 1, "pseudo", 0, n_runs)
    return Table(chunk, Instances(problem, 1, 0, n_runs))


@pytest.mark.parametrize(("policy", "problem"), GAMES, ids=[f"{one.label} on {other.name}" for one, other in GAMES])
def test_a_game_is_compiled_for_a_gpu(policy, problem, queue):
    table_of(policy, problem).compile(queue)
    text = queue.texts[-1]
    assert ".entry" in text
    assert "NRT_" not in text  # nothing is allocated


class AllocatingState(NamedTuple):
    counts: np.ndarray

    def score(self, rng, scores):
        scores[:] = np.sort(rng.random() * np.ones(scores.size))

    def update(self, arm, reward, rng):
        self.counts[arm] += 1


@dataclass(frozen=True)
class Allocating(cb.Policy):
    name = "allocating"

    def start(self, n_arms, horizon, capacity):
        return AllocatingState(np.zeros(n_arms))


def test_what_allocates_cannot_be_compiled_for_a_gpu(queue):
    with pytest.raises(kernels.Unsuitable):
        table_of(Allocating(), cb.BernoulliBandit()).compile(queue)
