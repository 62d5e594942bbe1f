"""Stored chunks: whatever is not exactly what it should be is not there."""

import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest

import corebandit as cb
from corebandit.contracts.atomic_files import sealed
from corebandit.contracts.errors import CannotWrite
from corebandit.experiments.chunk_store import ChunkStore
from corebandit.experiments.task import Runs, Task, Wanted
from fresh_interpreter import run_python

RUNS = Runs(np.arange(6.0).reshape(2, 3), 0.5, {"trials": np.array([3.0, 4.0])})
TASK = Task(cb.BernoulliBandit(), cb.UCB1(), "UCB1", (1, 2, 3), 0, "expected")
CHUNK = Wanted(TASK, 4, 6)


@pytest.fixture
def store(tmp_path):
    store = ChunkStore(tmp_path / "chunks")
    store.keep("key", CHUNK, RUNS)
    return store


def found(store, key="key", first=0, last=100, task=TASK):
    return dict(store.find(key, Wanted(task, first, last)))


def test_a_chunk_is_found_again(store):
    runs = found(store)[4]
    assert np.array_equal(runs.regret, RUNS.regret)
    assert runs.cpu_seconds == 0.5
    assert runs.measures["trials"].tolist() == [3.0, 4.0]
    assert found(ChunkStore(store.folder)).keys() == {4}
    assert found(store, "other") == {}
    assert [len(found(store, first=first, last=last)) for first, last in ((0, 4), (0, 5), (5, 6), (6, 7))] == [
        0,
        1,
        1,
        0,
    ]


def test_only_what_holds_the_runs_is_forgotten(store):
    store.keep("other", CHUNK, RUNS)
    store.keep("key", Wanted(TASK, 10, 12), RUNS)
    store.forget("key", Wanted(TASK, 0, 10))
    store.forget("never kept", Wanted(TASK, 0, 10))
    assert found(store).keys() == {10}
    assert found(store, "other").keys() == {4}


def flipped_everywhere(content, n_flips, seed=0):
    """Yield copies of content with one random bit flipped."""
    rng = np.random.default_rng(seed)
    for place in rng.integers(len(content), size=n_flips):
        copy = bytearray(content)
        copy[place] ^= 1 << int(rng.integers(8))
        yield bytes(copy)


def test_damaged_chunks_are_not_there(store):
    path = store.folder / "key.4-6.chunk"
    whole = path.read_bytes()
    for content in (b"", whole[:-1], whole + b"x", sealed(b"no table"), *flipped_everywhere(whole, 300)):
        path.write_bytes(content)
        assert found(store) == {}
    path.write_bytes(whole)
    assert found(store).keys() == {4}


@pytest.mark.parametrize("name", ["other.4-6.chunk", "key.5-7.chunk", "key.4-7.chunk", "key.6-4.chunk", "key.chunk"])
def test_chunks_of_another_key_or_other_runs_are_not_there(store, name):
    (store.folder / "key.4-6.chunk").rename(store.folder / name)
    store = ChunkStore(store.folder)
    assert found(store, "key") == found(store, "other") == {}


def test_chunks_of_another_shape_or_kind_are_not_there(store):
    assert found(store, task=replace(TASK, checkpoints=(1, 2))) == {}
    odd = [Runs(values, 0.0, {}) for values in (np.full((2, 3), np.nan), np.full((2, 3), np.inf))]
    odd += [Runs(np.zeros((2, 3), np.float32), 0.0, {}), Runs(RUNS.regret, 0.0, {"trials": np.zeros(3)})]
    for runs in odd:
        store.keep("odd", CHUNK, runs)
        assert found(store, "odd") == {}


def test_a_folder_that_another_run_removed_is_made_again(tmp_path):
    store = ChunkStore(tmp_path / "chunks")
    (tmp_path / "chunks").rmdir()
    store.keep("key", CHUNK, RUNS)
    assert found(store).keys() == {4}


def test_parts_left_by_killed_writers_are_removed(store):
    (store.folder / ".key.4-6.chunk.0123456789abcdef.part").write_bytes(b"half")
    ChunkStore(store.folder)
    assert [path.name for path in store.folder.iterdir()] == ["key.4-6.chunk"]


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match="cannot write results to"):
        ChunkStore(tmp_path / "file" / "below")


def test_a_run_plays_damaged_and_misplaced_chunks_again(tmp_path):
    experiment = cb.Experiment(cb.BernoulliBandit(), [cb.UCB1(), cb.UniformRandom()], horizon=200, runs=20)
    wanted = cb.run(experiment, folder=tmp_path).frame
    first, second, *_ = sorted(tmp_path.glob("*.chunk"))
    shutil.copy(first, second)
    assert cb.run(experiment, folder=tmp_path).frame.equals(wanted)
    first.write_bytes(first.read_bytes()[:-10])
    assert cb.run(experiment, folder=tmp_path).frame.equals(wanted)


@pytest.mark.heavy
def test_a_task_has_the_same_key_in_every_process(tmp_path, monkeypatch, capsys):
    (tmp_path / "own.py").write_text(
        "import numpy as np\nfrom typing import NamedTuple\nfrom dataclasses import dataclass\n"
        "import corebandit as cb\n"
        "WIDTHS = {1.0, 2.0, 3.0}\n"
        "class MineState(NamedTuple):\n    counts: np.ndarray\n"
        "    def score(self, rng, scores):\n        scores[:] = len(WIDTHS)\n"
        "    def update(self, arm, reward, rng):\n        self.counts[arm] += 1\n"
        "@dataclass(frozen=True)\nclass Mine(cb.Policy):\n"
        "    def start(self, n_arms, horizon, capacity):\n        return MineState(np.zeros(n_arms))\n"
    )
    script = """
import corebandit as cb
from corebandit.experiments.keys import key_of
from corebandit.experiments.playing import task_of
from own import Mine
policies = [cb.CORe(), cb.UCB1(), Mine()]
ranked = cb.Experiment(cb.YandexLike(query=0), [cb.Ranked(), cb.TopRank()], horizon=50, runs=2)
linear = cb.Experiment(cb.LinearBandit(), [cb.LinCORe(), cb.EstimatorCORe()], horizon=50, runs=2)
arms = cb.Experiment(cb.BernoulliBandit(), policies, horizon=50, runs=2)
print(*(key_of(task_of(each, label), "") for each in (arms, linear, ranked) for label in each.policies))
"""
    monkeypatch.syspath_prepend(tmp_path)
    exec(script, {})  # in this process, whose hashes begin elsewhere
    sys.modules.pop("own")
    here = capsys.readouterr().out.split()
    assert run_python(script, tmp_path, PYTHONHASHSEED="1").split() == here
    assert len(set(here)) == len(here)
