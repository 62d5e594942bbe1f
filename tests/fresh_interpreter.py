"""Scripts in an interpreter of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
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


ANEW = """
import contextlib, importlib, io, json, os, pathlib, sys

folder, said = pathlib.Path.cwd(), []
for texts, script in json.loads(pathlib.Path("steps.json").read_text()):
    for name, text in texts.items():
        path = folder / name
        date = path.stat() if path.exists() else None
        path.write_text(text)
        if date:  # even if the clock does not show the edit
            os.utime(path, ns=(date.st_atime_ns, date.st_mtime_ns))
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
    importlib.invalidate_caches()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(script, {"__name__": "__main__"})
    said.append(printed.getvalue().strip())
print(json.dumps(said))
"""


def run_python_anew(steps: Iterable[tuple[Mapping[str, str], str]], folder: Path) -> list[str]:
    """Run scripts in one fresh interpreter, each after it has written files below `folder`, which are then imported
    anew, as is all else there; return the output of each."""
    (folder / "steps.json").write_text(json.dumps(list(steps)))
    said: list[str] = json.loads(run_python(ANEW, folder))
    return said
