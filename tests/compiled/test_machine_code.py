"""Machine code on disk: never old, never another's, never damaged."""

import os
import shutil
import time
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

from corebandit.compiled.bridge import kernel
from corebandit.compiled.machine_code import UNUSED_AFTER, KeptCode, cache_directory
from corebandit.compiled.sources import PACKAGE
from fresh_interpreter import run_python

IS_COMPILED = not numba.config.DISABLE_JIT

LOOP = '''
"""A loop as in `play`, of the package, so that its machine code is kept."""
from corebandit.compiled.bridge import EntryPoint
import numpy as np


@EntryPoint
def total_reward(state, means, rng):
    scores, total = np.zeros(means.size), 0.0
    for _ in range(2000):
        state.score(rng, scores)
        arm = 0
        for other in range(means.size):
            if scores[other] > scores[arm]:
                arm = other
        state.update(arm, means[arm], rng)
        total += means[arm]
    return total
'''

OWN_POLICY = """
import math
from typing import NamedTuple
import numpy as np

class OwnState(NamedTuple):
    counts: np.ndarray
    sums: np.ndarray

    def score(self, rng, scores):
        for arm in range(scores.size):
            scores[arm] = np.inf if self.counts[arm] == 0.0 else self.index(arm)

    def index(self, arm):
        return self.sums[arm] / self.counts[arm] + FACTOR / math.sqrt(self.counts[arm])

    def update(self, arm, reward, rng):
        self.counts[arm] += 1.0
        self.sums[arm] += reward
"""


@pytest.fixture
def copied_package(tmp_path: Path) -> Path:
    """Return a folder with a copy of the package that a test may edit."""
    shutil.copytree(PACKAGE, tmp_path / "corebandit", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "corebandit" / "small_loop.py").write_text(LOOP)
    return tmp_path


SCRIPT = f"""
import os
import own_policy
from corebandit.policies.arms.ucb1 import UCB1
from corebandit.randomness.stream import stream
from corebandit.small_loop import total_reward
{OWN_POLICY.replace("FACTOR", "2.0").replace("OwnState", "ScriptState")}
own_policy.FACTOR = float(os.environ["FACTOR"])
loop, hits = total_reward.compiled, 0
for state in (UCB1().start(3, horizon=2000, capacity=2000), *(
    kind(np.zeros(3), np.zeros(3)) for kind in (own_policy.OwnState, ScriptState)
)):
    total = loop(state, np.array([0.2, 0.5, 0.55]), stream(1, "play"))
    print(total, sum(total_reward.dispatcher.stats.cache_hits.values()) - hits)
    hits = sum(total_reward.dispatcher.stats.cache_hits.values())
"""


def played(folder: Path, factor: str = "2.0") -> tuple[list[float], list[int]]:
    """Return what a policy of ours, one of a user's file and one of the script being run gain, and which of them were
    compiled before."""
    said = run_python("script.py", folder, NUMBA_DISABLE_JIT="0", FACTOR=factor).split()
    return [float(total) for total in said[::2]], [int(hits) for hits in said[1::2]]


@pytest.mark.thorough
def test_policies_are_compiled_once_and_never_run_old_machine_code(copied_package: Path) -> None:
    own_policy, script = copied_package / "own_policy.py", copied_package / "script.py"
    own_policy.write_text(OWN_POLICY)
    script.write_text(SCRIPT)
    first, hits = played(copied_package)
    assert hits == [0, 0, 0]
    for name in ("policies/arms/core.py", "parts/pool.py", "experiments/result.py", "__init__.pyi"):
        path = copied_package / "corebandit" / name
        path.write_text(path.read_text() + "\n# edited beside\n")
    assert played(copied_package) == (first, [1, 1, 1])
    ucb1 = copied_package / "corebandit" / "policies" / "arms" / "ucb1.py"
    date, edited = ucb1.stat(), ucb1.read_text().replace("2.0 * sigma", "0.1 * sigma")
    assert edited != ucb1.read_text()
    ucb1.write_text(edited)
    os.utime(ucb1, ns=(date.st_atime_ns, date.st_mtime_ns))  # even if the clock does not show the edit
    changed, hits = played(copied_package, factor="8.0")  # a global that the user's policy reads
    assert [one != other for one, other in zip(first, changed, strict=True)] == [True, True, False]
    assert hits == [0, 0, 1]


@pytest.mark.endurance
def test_an_edited_policy_of_a_user_never_runs_old_machine_code(copied_package: Path) -> None:
    (copied_package / "script.py").write_text(SCRIPT)
    totals = []
    for edited in (OWN_POLICY, OWN_POLICY.replace("+ FACTOR", "+ 0.5 * FACTOR")):
        (copied_package / "own_policy.py").write_text(edited)
        (_, total, _), (_, hits, _) = played(copied_package)
        assert hits == 0
        totals.append(total)
    assert totals[0] != totals[1]


@pytest.mark.heavy
def test_a_users_numba_settings_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "own_function.py").write_text(
        "import numba\n@numba.njit(cache=True)\ndef double(x):\n    return 2.0 * x\n"
    )
    script = f"""
import numba
numba.config.CACHE_DIR = {str(tmp_path / "theirs")!r}
import corebandit.games.arm_game
assert numba.config.CACHE_DIR == {str(tmp_path / "theirs")!r}
import own_function
own_function.double(1.0)
"""
    run_python(script, tmp_path, NUMBA_DISABLE_JIT="0")
    assert list((tmp_path / "theirs").rglob("own_function*.nbi"))
    assert not list((tmp_path / "cache").rglob("own_function*"))


def doubled(x: float) -> float:
    return 2.0 * x


def test_machine_code_is_compiled_afresh_where_none_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert kernel(doubled)(1.5) == 3.0


def test_a_user_without_a_home_needs_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert kernel(doubled)(1.5) == 3.0


def test_machine_code_is_kept_where_it_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert kernel(doubled)(1.5) == 3.0
    assert len(list(tmp_path.rglob("doubled-*.nbc"))) == IS_COMPILED


def test_the_folder_is_where_users_keep_such_things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert cache_directory() == tmp_path / "user" / "corebandit" / "machine-code"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert cache_directory() == tmp_path / "numba" / "corebandit" / "machine-code"


@pytest.mark.heavy
def test_what_nobody_uses_any_more_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "corebandit"
    long_ago = time.time() - 1.1 * UNUSED_AFTER
    for name in ("0123456789abcdef", "0123456789abcdef-boundscheck", "notes", "0123456789abcde0"):  # as 0.4 named them
        (root / name / "inside").mkdir(parents=True)
        if not name.endswith("0"):
            os.utime(root / name, (long_ago, long_ago))
    (root / "machine-code").mkdir()
    for name, is_old in (("old.nbc", True), ("new.nbc", False), (".old.nbc.0123456789abcdef.part", True)):
        (root / "machine-code" / name).write_text("")
        if is_old:
            os.utime(root / "machine-code" / name, (long_ago, long_ago))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernel(doubled)(1.5)
    assert {path.name for path in root.iterdir()} == {"notes", "0123456789abcde0", "machine-code"}
    kept = {path.name.partition("-")[0] for path in (root / "machine-code").iterdir()}
    assert kept == {"new.nbc", "doubled"}


SIGNATURE = (numba.types.float64,)


def test_checked_and_unchecked_machine_code_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, files = KeptCode(doubled, tmp_path), []
    for checked in (None, 1):
        monkeypatch.setattr(numba.config, "BOUNDSCHECK", checked)
        files.append(kept.file(SIGNATURE))
    assert files[0] != files[1]


def test_each_signature_and_function_has_a_file_of_its_own(tmp_path: Path) -> None:
    kept = KeptCode(doubled, tmp_path)
    assert kept.file(SIGNATURE) == KeptCode(doubled, tmp_path).file(SIGNATURE)
    assert kept.file(SIGNATURE) != kept.file((numba.types.int64,))
    assert kept.file(SIGNATURE) != KeptCode(played, tmp_path).file(SIGNATURE)


def made_in_a_function() -> type:
    class Made(NamedTuple):
        number: float

    return Made


class Found(NamedTuple):
    number: float


def test_a_class_that_its_name_does_not_find_is_not_kept(tmp_path: Path) -> None:
    kept = KeptCode(doubled, tmp_path)
    assert kept.file((numba.typeof(Found(1.0)),)) is not None
    assert kept.file((numba.typeof(made_in_a_function()(1.0)),)) is None


@pytest.mark.heavy
def test_damaged_machine_code_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernel(doubled)(1.5)
    (path,) = tmp_path.rglob("*.nbc")
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    damaged = [b"", whole[:-3], whole + b"x"]
    for place in rng.integers(len(whole), size=8):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << int(rng.integers(8))
        damaged.append(bytes(flipped))
    for content in damaged:
        path.write_bytes(content)
        again = kernel(doubled)
        assert again(1.5) == 3.0
        assert sum(again.stats.cache_hits.values()) == 0
        last = kernel(doubled)
        assert last(1.5) == 3.0
        assert sum(last.stats.cache_hits.values()) == 1


@pytest.mark.heavy
def test_a_full_disk_is_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "fsync", no_room)
    assert kernel(doubled)(1.5) == 3.0
    assert not list(tmp_path.rglob("*.nbc"))
