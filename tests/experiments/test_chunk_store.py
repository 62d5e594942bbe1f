"""Stored chunks: whatever is not exactly what it should be is not there."""

import shutil
import sys

import numpy as np
import pytest

import corebandit as cb
from corebandit.contracts.atomic_files import sealed
from corebandit.contracts.errors import CannotWrite
from corebandit.experiments.chunk_store import ChunkStore
from corebandit.experiments.chunks import Runs
from fresh_interpreter import run_python

RUNS = Runs(np.arange(6.0).reshape(2, 3), 0.5, {"trials": np.array([3.0, 4.0])})


@pytest.fixture
def store(tmp_path):
    store = ChunkStore(tmp_path / "chunks")
    store.keep("key", RUNS)
    return store


def test_a_chunk_is_found_again(store):
    found = store.find("key", (2, 3))
    assert np.array_equal(found.regret, RUNS.regret)
    assert found.cpu_seconds == 0.5
    assert found.measures["trials"].tolist() == [3.0, 4.0]
    assert store.find("other", (2, 3)) is None
    store.keep("other", RUNS)
    store.forget(["key", "never kept"])
    assert store.find("key", (2, 3)) is None
    assert store.find("other", (2, 3)) is not None


def flipped_everywhere(content, n_flips, seed=0):
    """Yield copies of content with one random bit flipped."""
    rng = np.random.default_rng(seed)
    for place in rng.integers(len(content), size=n_flips):
        copy = bytearray(content)
        copy[place] ^= 1 << int(rng.integers(8))
        yield bytes(copy)


def test_damaged_chunks_are_not_there(store):
    path = store.folder / "key.chunk"
    whole = path.read_bytes()
    for content in (b"", whole[:-1], whole + b"x", sealed(b"no table"), *flipped_everywhere(whole, 300)):
        path.write_bytes(content)
        assert store.find("key", (2, 3)) is None
    path.write_bytes(whole)
    assert store.find("key", (2, 3)) is not None


def test_chunks_of_another_key_shape_or_kind_are_not_there(store):
    shutil.copy(store.folder / "key.chunk", store.folder / "other.chunk")
    assert store.find("other", (2, 3)) is None
    assert store.find("key", (3, 2)) is None
    for odd in (np.full((2, 3), np.nan), np.full((2, 3), np.inf), np.zeros((2, 3), np.float32)):
        store.keep("odd", Runs(odd, 0.0, {}))
        assert store.find("odd", (2, 3)) is None
    store.keep("odd", Runs(RUNS.regret, 0.0, {"trials": np.zeros(3)}))
    assert store.find("odd", (2, 3)) is None


def test_parts_left_by_killed_writers_are_removed(store):
    (store.folder / ".key.chunk.0123456789abcdef.part").write_bytes(b"half")
    ChunkStore(store.folder)
    assert [path.name for path in store.folder.iterdir()] == ["key.chunk"]


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
def test_a_chunk_has_the_same_key_in_every_process(tmp_path, monkeypatch, capsys):
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
from corebandit.experiments.chunk_keys import chunk_keys
from corebandit.experiments.cutting import chunks_of
from own import Mine
policies = [cb.CORe(), cb.UCB1(), Mine()]
ranked = cb.Experiment(cb.YandexLike(query=0), [cb.Ranked(), cb.TopRank()], horizon=50, runs=2)
linear = cb.Experiment(cb.LinearBandit(), [cb.LinCORe(), cb.EstimatorCORe()], horizon=50, runs=2)
arms = cb.Experiment(cb.BernoulliBandit(), policies, horizon=50, runs=2)
chunks = [chunk for each in (arms, linear, ranked) for label in each.policies for chunk in chunks_of(each, label, 10)]
print(*chunk_keys(chunks, ''))
"""
    monkeypatch.syspath_prepend(tmp_path)
    exec(script, {})  # in this process, whose hashes begin elsewhere
    sys.modules.pop("own")
    here = capsys.readouterr().out.split()
    assert run_python(script, tmp_path, PYTHONHASHSEED="1").split() == here
    assert len(set(here)) == len(here)
