"""Fingerprints of sources: an edit below invalidates, an edit beside does not."""

import ast
import shutil
import threading
from pathlib import Path
from typing import NamedTuple

import pytest

import corebandit as cb
from corebandit.catalogue import known_policies
from corebandit.compiled.bridge import allocating_nothing
from corebandit.compiled.machine_code import cache_directory
from corebandit.compiled.sources import IMPORT, OURS, PACKAGE, UnknownSource, fingerprint, modules_below
from fresh_interpreter import run_python, run_python_anew

FINGERPRINTS = """
import corebandit as cb
from corebandit.compiled.sources import fingerprint
print(fingerprint([cb.CORe]), fingerprint([cb.UCB1]), fingerprint([cb.LinCORe]))
"""
POLICIES = ("CORe", "UCB1", "LinCORe")


def imports_by_syntax_tree(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == OURS:
            assert node.level == 0
            found.add(node.module)
        if isinstance(node, ast.Import):
            assert not any(name.name.partition(".")[0] == OURS for name in node.names), f"{path}: import corebandit.x"
    return found


def is_lazy(module: str) -> bool:
    """Tell whether a package only lists names, so that imports from it hide what is imported."""
    init = PACKAGE.joinpath(*module.split(".")[1:]) / "__init__.py"
    return init.exists() and "__getattr__" in init.read_text()


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.heavy
def test_imports_are_found_without_a_parser():
    for path in PACKAGE.rglob("*.py"):
        assert set(IMPORT.findall(path.read_text())) == imports_by_syntax_tree(path), path


def test_what_decides_numbers_imports_nothing_that_only_lists_names():
    roots = {policy.__module__ for policy in known_policies().values()}
    for module in modules_below(*roots, "corebandit.experiments.task", "corebandit.agents.agent"):
        assert not is_lazy(module), f"{module} hides what it imports"


def test_policies_stand_on_what_they_use():
    core, ucb1 = modules_below(cb.CORe.__module__), modules_below(cb.UCB1.__module__)
    assert "corebandit.parts.pool" in core
    assert "corebandit.parts.pool" not in ucb1
    assert cb.UCB1.__module__ not in core
    assert not any(module.startswith(("corebandit.report", "corebandit.experiments")) for module in core | ucb1)


@pytest.mark.heavy
def test_an_agent_imports_its_own_policy_alone_and_what_plays_games_needs_numpy_and_numba_alone(tmp_path):
    script = """
import sys
import numba, numpy
before = set(sys.modules)
import corebandit as cb
make, policy = cb.Agent, cb.UCB1()
imported = set(sys.modules) - before
make(policy, arms=["a", "b"]).save("agent.json")
make.load("agent.json")
unwanted = ("polars", "matplotlib", "typer", "corebandit.clicks", "corebandit.policies.arms.core")
print(*(name for name in unwanted if name in sys.modules))
before = set(sys.modules)  # numba itself imports scipy when it runs machine code
import corebandit.games.kinds, corebandit.catalogue
corebandit.catalogue.known_policies()
corebandit.catalogue.known_problems()
cb.EstimatorCORe().label  # which needs no scikit-learn
imported |= set(sys.modules) - before
names = {name.partition(".")[0] for name in imported
         if "site-packages" in (getattr(sys.modules[name], "__file__", "") or "")}
print(*names - {"numba", "numpy", "llvmlite", "corebandit"})
"""
    assert run_python(script, tmp_path, NUMBA_CACHE_DIR=str(cache_directory().parents[1])) == ""


@pytest.fixture
def copied_package(tmp_path: Path) -> Path:
    """Return a folder with a copy of the package that a test may edit."""
    shutil.copytree(PACKAGE, tmp_path / "corebandit", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


CHANGED_BY_AN_EDIT = {
    "policies/arms/ucb1": {"UCB1"},
    "policies/linear/lincore": {"LinCORe"},
    "parts/pool": {"CORe", "LinCORe"},
    "randomness/stream": {"CORe", "UCB1", "LinCORe"},
    "experiments/result": set(),
    "__init__": set(),
    "policies/arms/core": {"CORe"},
    "parts/ridge": {"LinCORe"},
    "contracts/recipe": {"CORe", "UCB1", "LinCORe"},
    "agents/agent": set(),
}


@pytest.mark.heavy
def test_an_edit_below_invalidates_and_an_edit_beside_does_not(tmp_path_factory, copied_package):
    before = run_python(FINGERPRINTS, tmp_path_factory.mktemp("unedited")).split()
    steps, undo = [({}, FINGERPRINTS)], {}
    for module in CHANGED_BY_AN_EDIT:
        name = f"corebandit/{module}.py"
        text = (copied_package / name).read_text()
        steps.append(({**undo, name: f"{text}\n# edited\n"}, FINGERPRINTS))
        undo = {name: text}
    unedited, *edited = (said.split() for said in run_python_anew(steps, copied_package))
    assert unedited == before  # wherever the package lies
    changed = [
        {policy for policy, one, other in zip(POLICIES, before, after, strict=True) if one != other} for after in edited
    ]
    assert dict(zip(CHANGED_BY_AN_EDIT, changed, strict=True)) == CHANGED_BY_AN_EDIT


OWN = """
import math
from dataclasses import dataclass
import numpy as np
import corebandit as cb
from helper import bonus
WIDTH = 2.0
UNUSED = [1, 2]

class Mine:
    def width(self):
        return WIDTH * bonus()
"""
OWN_FINGERPRINT = """
import mine
{change}
from corebandit.compiled.sources import fingerprint
print(fingerprint([mine.Mine]))
"""


HELPER = "def bonus():\n    return 1.0\n"


def own(mine: str = OWN, helper: str = HELPER, change: str = "") -> tuple[dict[str, str], str]:
    """Return a step: the files of a user, and a script that prints their fingerprint."""
    return {"mine.py": mine, "helper.py": helper}, OWN_FINGERPRINT.format(change=change)


@pytest.mark.heavy
def test_a_users_file_counts_with_what_it_imports_and_the_globals_that_it_reads(tmp_path):
    same = [
        own(),
        own(mine="# a comment\n" + OWN),
        own(change="mine.UNUSED = [3]"),
    ]
    others = [
        own(mine=OWN.replace("WIDTH * bonus", "2 * WIDTH * bonus")),
        own(helper="def bonus():\n    return 2.0\n"),
        own(helper="def bonus(size=1.0):\n    return size\n"),
        own(change="mine.WIDTH = 3.0"),
        own(change="mine.Mine.width = lambda self: 1.0"),
    ]
    (first,) = run_python_anew([own()], tmp_path)
    said = run_python_anew([*same, *others], tmp_path)  # in another process
    assert said[: len(same)] == [first] * len(same)
    assert first not in said[len(same) :]


@pytest.mark.heavy
def test_our_names_that_a_users_file_uses_count(copied_package):
    mine = OWN + "\nclass Other(cb.UCB1):\n    pass\n\nMine = Other\n"
    used, unused = (f"corebandit/policies/arms/{name}.py" for name in ("ucb1", "klucb"))
    texts = {name: (copied_package / name).read_text() for name in (used, unused)}
    files, script = own(mine)
    steps = [
        (files, script),
        ({used: f"{texts[used]}\n# edited\n"}, script),
        ({used: texts[used], unused: f"{texts[unused]}\n# edited\n"}, script),
    ]
    first, with_used, with_unused = run_python_anew(steps, copied_package)
    assert with_used != first == with_unused


READ = [  # a module that changes, and a class that reads it when it runs
    ("K = VALUE\n", "import given\nclass Mine:\n    def f(self):\n        return given.K\n"),
    ("K = VALUE\n", "class Mine:\n    def f(self):\n        from given import K\n        return K\n"),
    (
        "import numba\n@numba.njit\ndef g(x=VALUE):\n    return x\n",
        "from given import g\nclass Mine:\n    def f(self):\n        return g()\n",
    ),
    (
        "def make(c):\n    def inner():\n        return c\n    return inner\ng = make(VALUE)\n",
        "from given import g\nclass Mine:\n    def f(self):\n        return g()\n",
    ),
    (
        "class Base:\n    def f(self):\n        return VALUE\n",
        "import importlib\nBase = importlib.import_module('given').Base\nclass Mine(Base):\n    pass\n",
    ),
    (
        "def g():\n    return VALUE\n",
        "from given import g\nclass Mine:\n    f = property(lambda self: [g() for _ in range(3)])\n",
    ),
    # called like a module of Python's own
    ("def g():\n    return VALUE\n", "from graphlib import g\nclass Mine:\n    def f(self):\n        return g()\n"),
]
FINGERPRINTS_OF_ALL = """
from importlib import import_module
from corebandit.compiled.sources import fingerprint
print(*(fingerprint([import_module(f"mine_{{index}}").Mine]) for index in range({n})))
"""


@pytest.mark.heavy
def test_whatever_a_users_code_reads_is_seen(tmp_path):
    steps = []
    for value in ("1.0", "2.0", "2.0"):
        texts = {}
        for index, (module, use) in enumerate(READ):
            name = "graphlib" if "graphlib" in use else f"given_{index}"
            texts[f"{name}.py"] = module.replace("VALUE", value)
            texts[f"mine_{index}.py"] = use.replace("given", name)
        steps.append((texts, FINGERPRINTS_OF_ALL.format(n=len(READ))))
    before, after = (said.split() for said in run_python_anew(steps[:2], tmp_path))
    assert [READ[index] for index in range(len(READ)) if before[index] == after[index]] == []
    (again,) = run_python_anew(steps[2:], tmp_path)  # in another process
    assert again.split() == after


def test_classes_made_within_a_function_are_told_apart_by_what_they_hold():
    def make(width):
        class Made:
            def f(self):
                return width

        return Made

    assert fingerprint([make(1.0)]) == fingerprint([make(1.0)]) != fingerprint([make(2.0)])


def test_whether_a_users_class_is_marked_as_allocating_nothing_counts():
    def make(marked: bool) -> list[type]:
        class Made(NamedTuple):
            number: float

        class Derived(Made):
            pass

        return [allocating_nothing(Made) if marked else Made, Derived]

    unmarked, again, marked = ([fingerprint([cls]) for cls in make(marked)] for marked in (False, False, True))
    assert unmarked == again
    assert not set(unmarked) & set(marked)


def test_what_holds_an_object_that_nobody_can_take_apart_has_no_fingerprint():
    lock = threading.Lock()

    def use():
        return lock

    with pytest.raises(UnknownSource):
        fingerprint([use])


def test_a_file_that_changes_after_it_was_imported_changes_nothing(tmp_path):
    script = """
import pathlib
import corebandit.compiled.sources as sources
path = pathlib.Path("late.py")
path.write_text("def one():\\n    return 1\\n")
import late
first = sources.fingerprint([late.one])
path.write_text("def one():\\n    return 2\\n")
print(sources.fingerprint([late.one]) == first)
"""
    assert run_python(script, tmp_path) == "True"


@pytest.mark.heavy
def test_a_source_of_ours_that_has_changed_since_is_unknown(copied_package):
    script = """
import os, pathlib, corebandit as cb
import corebandit.compiled.sources as sources
path = pathlib.Path(cb.__file__).parent / "policies" / "arms" / "ucb1.py"
date = path.stat()
path.write_text(path.read_text() + "\\n# edited\\n")
os.utime(path, ns=(date.st_atime_ns, date.st_mtime_ns))
try:
    print(sources.fingerprint([cb.UCB1]))
except sources.UnknownSource:
    print("unknown")
"""
    assert run_python(script, copied_package) == "unknown"
