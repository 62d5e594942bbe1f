"""Rules of the house that a machine can check."""

import ast
import pkgutil
import re
import subprocess
from pathlib import Path

import corebandit
from corebandit.catalogue import known_policies

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "corebandit"


def test_public_names_are_those_the_type_checker_sees():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    seen = {name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names}
    assert set(corebandit.__all__) == seen | {"__version__"}


def test_public_names_can_be_used():
    for name in corebandit.__all__:
        assert getattr(corebandit, name) is not None
    assert set(dir(corebandit)) == set(corebandit.__all__)


def test_no_public_name_is_hidden_by_a_module_of_the_same_name():
    assert not set(corebandit.__all__) & {module.name for module in pkgutil.iter_modules(corebandit.__path__)}


def test_every_policy_is_public():
    policies = known_policies()
    assert len({policy.__module__ for policy in policies.values()}) == len(policies)
    assert all(name == policy.__name__ for name, policy in policies.items()), "found by name alone"


def test_modules_fit_on_a_few_screens():
    too_long = {path.name: n for path in PACKAGE.rglob("*.py") if (n := len(path.read_text().splitlines())) > 350}
    assert not too_long


def test_the_readme_says_how_the_tests_are_run():
    command = re.search(r"^(pip install uv && uv run pytest)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert command
    assert command[1] in (ROOT / ".ci" / "run").read_text().splitlines()


def test_nothing_is_tracked_that_must_not_be():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in tracked if re.search(r"(uv\.lock|\.pkl|\.pickle)$", name)]
    assert not [name for name in tracked if (ROOT / name).exists() and (ROOT / name).stat().st_size > 200_000]
