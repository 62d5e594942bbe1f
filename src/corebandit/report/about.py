"""How a result was made: by which command, when, by which versions, and how long it took."""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Optional

from corebandit import __version__
from corebandit.compiled.sources import PACKAGE
from corebandit.contracts.atomic_files import make_folder, write_whole

LIBRARIES = ("numba", "numpy", "polars", "matplotlib")
ABOUT = "about.json"


@cache
def source_hash() -> str:
    """Return a short hash of the package's sources, which an edit changes; version control may not be at hand."""
    content = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        content.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode() + path.read_bytes())
    return content.hexdigest()[:12]


def versions() -> dict[str, str]:
    """Return the versions of what plays and draws."""
    return {"Python": platform.python_version(), **{library: version(library) for library in LIBRARIES}}


@dataclass(frozen=True)
class About:
    """What a page says of how its numbers were made; unless said otherwise they were made now, by what is installed.

    `figures` are the names of the pictures that were drawn beside it.
    """

    title: str = ""
    command: str = ""
    seconds: float | None = None
    made: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())
    version: str = __version__
    sources: str = field(default_factory=source_hash)
    versions: Mapping[str, str] = field(default_factory=versions)
    figures: Sequence[str] = ()

    def write(self, folder: Path) -> None:
        """Write it to a folder; it goes on to say which pictures are there, if it says of none itself."""
        before = About.read(folder)
        figures = self.figures or (before.figures if before else ())
        make_folder(folder)
        write_whole(folder / ABOUT, json.dumps({**asdict(self), "figures": figures}, indent=1) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Optional["About"]:
        """Return what a folder says, or None if it does not, or not in these words."""
        try:
            return cls(**json.loads((folder / ABOUT).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
