"""Tables that benchmarks keep in docs/results, from where scripts/fill_docs.py fills them into pages."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import corebandit

STORE = Path(__file__).parents[1] / "docs" / "results"


def store_table(name: str, head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Keep a table, with where it comes from: the benchmark of this name."""
    content = {"about": made_by(name), "head": list(head), "lines": [list(line) for line in lines]}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    (STORE / f"{name}.json").write_text(text, encoding="utf-8")


def made_by(name: str) -> dict[str, str]:
    """Say where numbers come from: the benchmark of this name, with these sources, today."""
    sources = hashlib.sha256()
    for path in sorted(Path(corebandit.__file__).parent.rglob("*.py")):
        sources.update(path.read_bytes())
    return {
        "made": f"{datetime.now(UTC):%Y-%m-%d}",
        "version": corebandit.__version__,
        "sources": sources.hexdigest()[:12],
        "command": f"python benchmarks/{name}.py",
    }
