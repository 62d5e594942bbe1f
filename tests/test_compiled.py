"""The bridge from plain classes to compiled code, and the cache that must never run old machine code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from corebandit.compiled import (
    PACKAGE,
    EntryPoint,
    allocating_nothing,
    cache_directory,
    expose_methods,
    fingerprint,
    is_ours,
    kernel,
)
from corebandit.policies.ucb1 import UCB1State
from corebandit.stream import Stream, stream

FloatArray = NDArray[np.float64]
IS_COMPILED = not numba.config.DISABLE_JIT


def run_python(script: str, folder: Path, **environment: str) -> str:
    """Run `script` in a fresh interpreter that imports from `folder` first and caches below it; return its output."""
    settings = {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), str(PACKAGE.parent)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    finished = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, **settings, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


# The cache --------------------------------------------------------------------------------------------------------

LOOP = '''
"""A loop as in `play`, of the package, so that its machine code is kept."""
from corebandit.compiled import EntryPoint
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
from corebandit.stream import stream
{imports}
state = {state}
loop = total_reward.prepared(state)
print(loop(state, np.array([0.2, 0.5, 0.55]), stream(1, "play")), sum(loop.stats.cache_hits.values()))
"""

PLAY_UCB1 = PLAY.format(
    imports="from corebandit.policies.ucb1 import UCB1", state="UCB1().start(3, horizon=2000, capacity=2000)"
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
import corebandit.play
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
    assert len(list(tmp_path.rglob("test_compiled.doubled*.nbi"))) == IS_COMPILED


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


# The bridge -------------------------------------------------------------------------------------------------------


class Scale(NamedTuple):
    """A named tuple within another."""

    factor: float

    def scaled(self, x: float) -> float:
        """Return x times the factor."""
        return self.factor * x


class Counter(NamedTuple):
    """A user's class: a nested tuple, a helper method, an array made in a method."""

    totals: FloatArray
    scale: Scale

    def twice(self, x: float) -> float:
        """Help `learn_twice`."""
        return self.scale.scaled(x) + self.scale.scaled(x)

    def learn_twice(self, x: float) -> float:
        """Add to the totals; return their sum."""
        fresh = np.full(self.totals.size, self.twice(x))
        for i in range(fresh.size):
            self.totals[i] += fresh[i]
        return self.totals[0] + self.totals[1]

    def _private(self, x: float) -> float:
        return x + 1.0

    def uses_private(self, x: float) -> float:
        """Call a method whose name begins with an underscore."""
        return self._private(x)


class OtherScale(NamedTuple):
    """Another class with a method of the same name."""

    factor: float

    def scaled(self, x: float) -> float:
        """Return x plus the factor."""
        return self.factor + x


class Parent(NamedTuple):
    """A class with a method of a name that no other class has."""

    factor: float

    def scaled_by_parent(self, x: float) -> float:
        """Return x times the factor."""
        return self.factor * x


class Child(Parent):
    """A class that inherits its method."""


@EntryPoint
def learn_in_a_loop(counter: Counter, n_rounds: int) -> float:
    total = 0.0
    for _ in range(n_rounds):
        total = counter.learn_twice(1.5)
    return total


@EntryPoint
def scale_once(scale: Scale, x: float) -> float:
    return scale.scaled(x)


@EntryPoint
def call_inherited(child: Child, x: float) -> float:
    return child.scaled_by_parent(x)


@EntryPoint
def call_private(counter: Counter, x: float) -> float:
    return counter.uses_private(x)


def test_methods_of_nested_tuples_and_helper_methods_run_compiled() -> None:
    counter = Counter(np.zeros(2), Scale(3.0))
    loop = learn_in_a_loop.prepared(counter)
    assert loop(counter, 4) == 4 * 2 * (2 * 3.0 * 1.5)
    np.testing.assert_array_equal(counter.totals, np.full(2, 36.0))
    if IS_COMPILED:
        assert loop.signatures  # it was compiled indeed


def test_each_class_gets_its_own_method_of_a_shared_name() -> None:
    for scale, expected in ((Scale(3.0), 6.0), (OtherScale(3.0), 5.0)):
        assert scale_once.prepared(scale)(scale, 2.0) == expected


def test_a_class_that_inherits_its_methods_runs_compiled() -> None:
    child = Child(3.0)
    assert call_inherited.prepared(child)(child, 2.0) == 6.0


def test_a_method_beginning_with_an_underscore_runs_compiled() -> None:
    counter = Counter(np.zeros(2), Scale(3.0))
    assert call_private.prepared(counter)(counter, 2.0) == 3.0


@EntryPoint
def call_unknown(scale: Any) -> Any:
    return scale.no_such_method()


def test_an_unknown_method_is_named_in_the_error() -> None:
    scale = Scale(3.0)
    expected = numba.core.errors.TypingError if IS_COMPILED else AttributeError
    with pytest.raises(expected, match="no_such_method"):
        call_unknown.prepared(scale)(scale)


class HasScore(NamedTuple):
    """A class that has one exposed name and lacks another."""

    factor: float

    def score(self, x: float) -> float:
        """Return the factor."""
        return self.factor


@EntryPoint
def call_missing(state: Any) -> Any:
    return state.scaled(1.0)


def test_a_method_that_other_classes_have_is_still_missing_here() -> None:
    state = HasScore(1.0)
    expose_methods(Scale)
    expected = numba.core.errors.TypingError if IS_COMPILED else AttributeError
    with pytest.raises(expected, match="scaled"):
        call_missing.prepared(state)(state)


def test_only_classes_of_the_package_are_kept_on_disk() -> None:
    ours = UCB1State(np.zeros(2), np.zeros(2), 0.5)
    assert is_ours(UCB1State)
    assert is_ours(Stream)
    assert not is_ours(Scale)
    kept, fresh = scale_once.prepared(ours), scale_once.prepared(Scale(1.0))
    assert kept is not fresh
    assert scale_once.prepared(ours, Scale(1.0)) is fresh
    assert scale_once.prepared((1, (ours, (Scale(1.0),)))) is fresh


@allocating_nothing
class Walker(NamedTuple):
    """A class of the lowest layer."""

    place: FloatArray

    def walk(self, rng: Stream) -> None:
        """Take a step."""
        self.place[0] += rng.standard_normal()


@numba.njit
def walk_far(walker: Walker, rng: Stream, n_steps: int) -> None:
    for _ in range(n_steps):
        walker.walk(rng)


def test_a_marked_class_runs_compiled_without_being_prepared_and_equals_python() -> None:
    compiled, interpreted, rng = Walker(np.zeros(1)), Walker(np.zeros(1)), stream(1, "walk")
    walk_far(compiled, stream(1, "walk"), 500)
    for _ in range(500):
        interpreted.walk(rng)
    assert compiled.place[0] == interpreted.place[0] != 0.0


# Importing --------------------------------------------------------------------------------------------------------


def test_importing_the_package_is_cheap(tmp_path: Path) -> None:
    script = """
import sys, time
start = time.process_time()
import corebandit
print(time.process_time() - start)
heavy = {"numba", "polars", "matplotlib", "scipy", "numpy.linalg", "pydantic", "typer", "jinja2"} & set(sys.modules)
assert not heavy, f"import corebandit also imports {heavy}"
"""
    assert min(float(run_python(script, tmp_path)) for _ in range(3)) < 0.25
