"""Compiled code does not check indices, and one that is off corrupts memory. So run it once more with checks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
PARTS = [f"parts/test_{name}.py" for name in ("pool", "history", "ridge", "groups", "atoms", "exchange")]
ARMS = "checks/test_checks.py::test_every_policy_keeps_the_contract"
RANKINGS = "ranking/test_ranking_policies.py::test_every_ranking_policy_keeps_the_contract"
PROBLEMS = "checks/test_checks.py::test_every_problem_keeps_the_contract"
# One policy that chooses arms, and one that chooses by features.
SOME = [f"{ARMS}[{policy}]" for policy in ("CORe", "LinTS")]


def run_with_checked_indices(marked: str, tests: list[str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-m", marked, *(str(TESTS / test) for test in tests)]
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1"}
    done = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


@pytest.mark.heavy
def test_no_index_into_histories_is_out_of_bounds():
    run_with_checked_indices("quick", ["parts/test_history.py"])


@pytest.mark.thorough
def test_no_index_is_out_of_bounds():
    run_with_checked_indices("quick", [*SOME, *PARTS])


@pytest.mark.endurance
def test_no_index_of_any_policy_is_out_of_bounds():
    # The checks play every policy, alone and by an agent.
    run_with_checked_indices("not endurance", [ARMS, RANKINGS, PROBLEMS])
