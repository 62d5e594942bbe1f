"""Scripts in an interpreter of their own."""

import os
import subprocess
import sys
from pathlib import Path

from corebandit.compiled.sources import PACKAGE


def run_python(script: str, folder: Path, **environment: str) -> str:
    """Run `script`, or the file of that name, in a fresh interpreter that imports from `folder` first and caches below
    it; return its output."""
    settings = {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), str(PACKAGE.parent)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    finished = subprocess.run(
        [sys.executable, *([script] if script.endswith(".py") else ["-c", script])],
        cwd=folder,
        env={**os.environ, **settings, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()
