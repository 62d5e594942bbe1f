"""Runs that another machine has played, for instance one with a GPU and little else: kept there, handed over here."""

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from corebandit.contracts.atomic_files import write_whole
from corebandit.contracts.errors import BadInput, DamagedFile
from corebandit.contracts.recipe import AnyPolicy, digest
from corebandit.experiments.chunk_keys import code_of
from corebandit.experiments.chunks import Chunk, Runs
from corebandit.experiments.parcels import chunk_to_dict, runs_from_bytes, runs_to_bytes

ABOUT = "about.json"


def record(path: Path, chunks: Sequence[Chunk], runs: Sequence[Runs], environment: str) -> None:
    """Keep the runs of chunks in a file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        sizes: dict[str, int] = {}
        for chunk in chunks:
            sizes[chunk.policy.label] = max(sizes.get(chunk.policy.label, 0), chunk.last - chunk.first)
        archive.writestr(ABOUT, json.dumps({"environment": environment, "runs per chunk": sizes}))
        for chunk, played in zip(chunks, runs, strict=True):
            archive.writestr(name := _name(chunk), runs_to_bytes(name, played))
    write_whole(path, content.getvalue())


class Recorded:
    """An engine that hands over the runs of a file."""

    def __init__(self, path: Path) -> None:
        try:
            self._archive = zipfile.ZipFile(path)
            about = json.loads(self._archive.read(ABOUT))
            self._environment, self._sizes = str(about["environment"]), dict(about["runs per chunk"])
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise DamagedFile(f"{path} is no file of runs that a machine has played: {error}") from error
        self._path = path

    @property
    def environment(self) -> str:
        """Return that of the machine which played."""
        return self._environment

    def runs_per_chunk(self, policy: AnyPolicy) -> int:
        """Return how many runs made a chunk there."""
        return int(self._sizes.get(policy.label, 1))

    def play(self, chunks: Sequence[Chunk], finish: Callable[[int, Runs], None]) -> None:
        """Hand over the runs of all chunks."""
        for place, chunk in enumerate(chunks):
            name = _name(chunk)
            try:
                content = self._archive.read(name)
            except KeyError as error:
                raise BadInput(
                    f"{self._path} has no runs {chunk.first} to {chunk.last - 1} of {chunk.label} on "
                    f"{chunk.problem.label} with these settings, or another version played them: play them there again"
                ) from error
            finish(place, runs_from_bytes(name, chunk.shape, content))


def _name(chunk: Chunk) -> str:
    """Name a chunk by what it is and by the sources that decide what comes of it."""
    code = code_of(chunk.problem, chunk.policy, chunk.horizon)
    return digest({**chunk_to_dict(chunk), "label": "", "code": code})
