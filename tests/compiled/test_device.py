"""Every policy is compiled for a GPU and played as its machine code says, whether there is one or not.

With `-m device` and the extra `cuda`; playing takes a C compiler.
"""

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import corebandit as cb
from corebandit.compiled.cuda import kernels
from corebandit.experiments.engines import batches
from corebandit.experiments.engines.batches import Instances, Table
from corebandit.experiments.engines.player import play_runs
from corebandit.experiments.task import Task

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    GAMES = importlib.import_module("device").games_of([])
    paper_gpu = importlib.import_module("paper_gpu")

pytestmark = pytest.mark.device

SMALL = 128  # so that short runs have arrays that are a thread's own and others
N_RUNS = 40  # two warps, one of which has threads that have nothing to play
ROUNDED_OTHERWISE = 4.0  # standard errors that means may be apart
FEWEST_SAME = 0.9  # share of runs that are the same to nine digits
WITH_WIDTHS = 0.5  # of policies whose scores are roots of sums of products, which often tie
HAVE_WIDTHS = ("LinUCB", "DLinUCB", "DRandLinUCB", "LinRandUCB", "GLMUCB", "UCBGLM", "GLMRandUCB")


@pytest.fixture
def queue(monkeypatch):
    monkeypatch.setattr(batches, "SMALL", SMALL)
    with paper_gpu.laid_out():
        yield paper_gpu.PaperQueue()


def table_of(policy, problem):
    task = Task(problem, policy, policy.label, (50, SMALL + 20), 1, "expected")
    return Table(task, Instances(problem, 1, 0, 3 + N_RUNS))


@pytest.mark.parametrize(("policy", "problem"), GAMES, ids=[f"{one.label} on {other.name}" for one, other in GAMES])
def test_a_game_is_compiled_for_a_gpu_and_played_as_by_the_processor(policy, problem, queue):
    table = table_of(policy, problem)
    table.compile(queue)
    text = queue.texts[-1]
    assert ".entry" in text
    assert "NRT_" not in text  # nothing is allocated
    assert paper_gpu.assembled(text).registers > 0
    if not paper_gpu.COMPILER:
        pytest.skip("there is no C compiler, so that nothing can be played on paper")
    ours = table.begin(queue, np.arange(3, 3 + N_RUNS)).results()
    theirs = play_runs(table.task, 3, 3 + N_RUNS)
    # What is rounded otherwise decides between two arms in some runs, and these go another way from there.
    is_same = np.isclose(ours.regret, theirs.regret, rtol=1e-9, atol=1e-9).all(axis=1)
    assert is_same.mean() >= (WITH_WIDTHS if policy.name in HAVE_WIDTHS else FEWEST_SAME)
    np.testing.assert_allclose(ours.notes.means, theirs.notes.means, rtol=1e-14)
    difference = np.where(is_same, 0.0, (ours.regret - theirs.regret)[:, -1])
    assert abs(difference.mean()) <= ROUNDED_OTHERWISE * difference.std() / np.sqrt(N_RUNS)


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


def test_a_text_that_no_gpu_can_play_is_not_assembled(queue):
    table = table_of(cb.UCB1(), cb.BernoulliBandit())
    table.compile(queue)
    with pytest.raises(importlib.import_module("cuda.bindings.nvjitlink").nvJitLinkError):
        paper_gpu.assembled(queue.texts[-1].replace("add.s64", "add.s65", 1))


def test_what_allocates_cannot_be_compiled_for_a_gpu(queue):
    with pytest.raises(kernels.Unsuitable):
        table_of(Allocating(), cb.BernoulliBandit()).compile(queue)
