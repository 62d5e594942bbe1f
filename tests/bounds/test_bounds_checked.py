"""Compiled code does not check indices, and one that is off corrupts memory. So run it once more with checks.

This takes longest of all tests: in a folder that comes first it runs beside the others.
"""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent
PARTS = ("pool", "history", "ridge", "groups", "atoms", "exchange")


def test_no_index_is_out_of_bounds():
    # The checks play every policy, alone and by an agent.
    names = ("checks/test_checks", *(f"parts/test_{name}" for name in PARTS))
    files = [str(TESTS / f"{name}.py") for name in names]
    # Of the checks only those of our own policies: what users get wrong is compiled afresh each time.
    chosen = "not test_checks or test_every"
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-m", "not heavy", "-k", chosen, *files]
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1"}
    done = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
