"""Tables that benchmarks keep in docs/results, from where scripts/fill_docs.py fills them into pages."""

import json
from collections.abc import Sequence
from pathlib import Path

from corebandit.report.about import About

STORE = Path(__file__).parents[1] / "docs" / "results"


def store_table(name: str, head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Keep a table, with where it comes from: the benchmark of this name."""
    content = {"about": made_by(name), "head": list(head), "lines": [list(line) for line in lines]}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    (STORE / f"{name}.json").write_text(text, encoding="utf-8")


def made_by(name: str) -> dict[str, str]:
    """Say where numbers come from: the benchmark of this name, with these sources, today."""
    about = About(command=f"python benchmarks/{name}.py")
    return {key: getattr(about, key) for key in ("made", "version", "sources", "command")}
