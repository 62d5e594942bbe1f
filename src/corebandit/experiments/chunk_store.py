"""Finished runs in a folder: each file a chunk, runs of one task one after another, written whole or not at all.

Each file carries its own key and a digest. One that is damaged, of another shape, or that belongs to another key is as
good as none: its runs are played again.
"""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from corebandit.contracts.atomic_files import make_folder, remove_leftovers, write_whole
from corebandit.contracts.errors import DamagedFile
from corebandit.experiments.chunk_file import check_runs, chunk_from_bytes, chunk_to_bytes
from corebandit.experiments.keys import chunk_key
from corebandit.experiments.task import Runs, Wanted

ENDING = ".chunk"
NAME = re.compile(rf"(\w+)\.(\d+)-(\d+){ENDING}")  # the key of the task, the first run, one past the last


class ChunkStore:
    """The chunks of a folder."""

    def __init__(self, folder: Path) -> None:
        """Make the folder, or say why it cannot be written."""
        self.folder = folder
        self._made = [path for path in (folder, *folder.parents) if not path.exists()]
        make_folder(folder)
        remove_leftovers(folder)
        self._spans: dict[str, set[tuple[int, int]]] = {}
        for found in filter(None, (NAME.fullmatch(path.name) for path in folder.iterdir())):
            self._spans.setdefault(found[1], set()).add((int(found[2]), int(found[3])))

    def find(self, key: str, wanted: Wanted) -> Iterator[tuple[int, Runs]]:
        """Yield the chunks of a task of this key that hold any of the wanted runs, with the number of their first."""
        for chunk in self._chunks(key, wanted):
            try:
                own_key, runs = chunk_from_bytes(self._path(key, chunk).read_bytes())
                check_runs(runs, (chunk.last - chunk.first, len(wanted.task.checkpoints)))
            except (OSError, DamagedFile):
                continue
            if own_key == chunk_key(key, chunk):
                yield chunk.first, runs

    def keep(self, key: str, chunk: Wanted, runs: Runs) -> None:
        """Write the runs of a chunk."""
        make_folder(self.folder)  # another run may have left nothing in it, and removed it
        write_whole(self._path(key, chunk), chunk_to_bytes(chunk_key(key, chunk), runs))
        self._spans.setdefault(key, set()).add((chunk.first, chunk.last))

    def forget(self, key: str, wanted: Wanted) -> None:
        """Forget the chunks that hold any of these runs, and no others: somebody may have waited long for those."""
        for chunk in self._chunks(key, wanted):
            self._path(key, chunk).unlink(missing_ok=True)
            self._spans[key].remove((chunk.first, chunk.last))

    def _chunks(self, key: str, wanted: Wanted) -> list[Wanted]:
        spans = sorted(self._spans.get(key, ()))
        return [Wanted(wanted.task, *span) for span in spans if span[0] < wanted.last and span[1] > wanted.first]

    def _path(self, key: str, chunk: Wanted) -> Path:
        return self.folder / f"{key}.{chunk.first}-{chunk.last}{ENDING}"

    def leave_nothing_empty(self) -> None:
        """Remove the folders made here if they hold nothing."""
        with contextlib.suppress(OSError):  # one holds something
            for path in self._made:
                path.rmdir()
