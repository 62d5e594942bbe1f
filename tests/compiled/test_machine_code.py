"""Machine code on disk: never old, never another's."""

import os
import shutil
import time
from pathlib import Path

import numba
import pytest

from corebandit.compiled.bridge import kernel
from corebandit.compiled.machine_code import PACKAGE, UNUSED_AFTER, SignatureFiles, cache_directory, fingerprint
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
        reward = 1.0 if rng.random() < means[arm] else 0.0
        state.update(arm, reward, rng)
        total += reward
    return total
'''

PLAY = """
import numpy as np
from corebandit.small_loop import total_reward
from corebandit.randomness.stream import stream
{imports}
state = {state}
loop = total_reward.compiled
print(loop(state, np.array([0.2, 0.5, 0.55]), stream(1, "play")), sum(loop.stats.cache_hits.values()))
"""

PLAY_UCB1 = PLAY.format(
    imports="from corebandit.policies.arms.ucb1 import UCB1", state="UCB1().start(3, horizon=2000, capacity=2000)"
)
PLAY_OWN = PLAY.format(imports="from own_policy import OwnState", state="OwnState(np.zeros(3), np.zeros(3))")

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


def played(script: str, folder: Path) -> tuple[float, int]:
    total, cache_hits = run_python(script, folder, NUMBA_DISABLE_JIT="0").split()
    return float(total), int(cache_hits)


@pytest.mark.heavy
def test_an_edited_policy_never_runs_old_machine_code(copied_package: Path) -> None:
    first, hits = played(PLAY_UCB1, copied_package)
    assert hits == 0
    policy = copied_package / "corebandit" / "policies" / "ucb1.py"
    date = policy.stat()
    edited = policy.read_text().replace("2.0 * sigma", "0.1 * sigma")
    assert edited != policy.read_text()
    policy.write_text(edited)
    os.utime(policy, ns=(date.st_atime_ns, date.st_mtime_ns))  # even if the clock does not show the edit
    second, hits = played(PLAY_UCB1, copied_package)
    assert second != first
    assert hits == 0
    third, hits = played(PLAY_UCB1, copied_package)
    assert third == second
    assert hits == 1


@pytest.mark.heavy
def test_a_users_edited_policy_never_runs_old_machine_code(copied_package: Path) -> None:
    module = copied_package / "own_policy.py"
    totals = []
    for factor in ("2.0", "0.05"):
        module.write_text(OWN_POLICY.replace("FACTOR", factor))
        total, hits = played(PLAY_OWN, copied_package)
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
    assert len(list(tmp_path.rglob("test_machine_code.doubled*.nbc"))) == IS_COMPILED


def test_the_cache_is_named_after_the_sources_and_the_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert cache_directory() == tmp_path / "user" / "corebandit" / fingerprint()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    unchecked = cache_directory()
    assert unchecked == tmp_path / "numba" / "corebandit" / fingerprint()
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    assert cache_directory() != unchecked


@pytest.mark.heavy
def test_folders_that_nobody_uses_any_more_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "corebandit"
    long_ago = time.time() - 1.1 * UNUSED_AFTER
    for name in ("0123456789abcdef", "0123456789abcdef-boundscheck", "notes", "0123456789abcde0"):
        (root / name / "inside").mkdir(parents=True)
        if not name.endswith("0"):
            os.utime(root / name, (long_ago, long_ago))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    kernel(doubled)
    assert {path.name for path in root.iterdir()} == {"notes", "0123456789abcde0", fingerprint()}


class Alike:
    """A key that is printed as every other of its kind is."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike) and self.number == other.number

    def __hash__(self) -> int:
        return self.number

    def __repr__(self) -> str:
        return "alike"


def test_two_processes_that_write_at_once_lose_nothing_and_mix_nothing_up(tmp_path: Path) -> None:
    one, other = (SignatureFiles(str(tmp_path), "function", "stamp") for _ in range(2))
    assert one.load("float") is other.load("int") is None
    one.save("float", "code for floats")
    other.save("int", "code for ints")
    for files in (one, other):
        assert files.load("float") == "code for floats"
        assert files.load("int") == "code for ints"
        assert files.has("int")
        assert not files.has("bool")


def test_machine_code_of_a_changed_source_is_not_found(tmp_path: Path) -> None:
    SignatureFiles(str(tmp_path), "function", "old stamp").save("float", "code")
    assert SignatureFiles(str(tmp_path), "function", "new stamp").load("float") is None


def test_types_that_only_look_the_same_do_not_share_machine_code(tmp_path: Path) -> None:
    files = SignatureFiles(str(tmp_path), "function", "stamp")
    files.save(Alike(1), "code")
    assert files.load(Alike(1)) == "code"
    assert files.load(Alike(2)) is None


def test_a_torn_file_is_as_good_as_none(tmp_path: Path) -> None:
    files = SignatureFiles(str(tmp_path), "function", "stamp")
    files.save("float", "code")
    (path,) = tmp_path.iterdir()
    for torn in (b"", path.read_bytes()[:-3]):
        path.write_bytes(torn)
        assert files.load("float") is None
    files.save("float", "code")
    assert files.load("float") == "code"


def test_a_full_disk_is_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(name: str, data: object) -> None:
        raise OSError("No space left on device")

    files = SignatureFiles(str(tmp_path), "function", "stamp")
    monkeypatch.setattr(files, "_save_data", no_room)
    files.save("float", "code")
    assert files.load("float") is None


def test_flushing_forgets_one_function_only(tmp_path: Path) -> None:
    one, other = (SignatureFiles(str(tmp_path), name, "stamp") for name in ("one", "other"))
    for files in (one, other):
        files.save("float", "code")
    one.flush()
    assert one.load("float") is None
    assert other.load("float") == "code"


@pytest.mark.heavy
def test_each_signature_has_its_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    function = kernel(doubled)
    assert function(1.5) == 3.0
    assert function(True) == 2.0
    assert len(list(tmp_path.rglob("*.nbc"))) == 2
    assert not list(tmp_path.rglob("*.nbi"))
    again = kernel(doubled)
    assert again(True) == 2.0
    assert sum(again.stats.cache_hits.values()) == 1
