"""Finished chunks in a folder, one file each, written whole or not at all.

Each file carries its own key and a digest. One that is damaged, of another shape, or that belongs to another key is as
good as none: the chunk is played again.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path

from corebandit.contracts.atomic_files import make_folder, remove_leftovers, write_whole
from corebandit.contracts.errors import DamagedFile
from corebandit.experiments.chunks import Runs
from corebandit.experiments.parcels import runs_from_bytes, runs_to_bytes

ENDING = ".chunk"


class ChunkStore:
    """The chunks of a folder."""

    def __init__(self, folder: Path) -> None:
        """Make the folder, or say why it cannot be written."""
        self.folder = folder
        self._made = [path for path in (folder, *folder.parents) if not path.exists()]
        make_folder(folder)
        remove_leftovers(folder)

    def find(self, key: str, shape: tuple[int, int]) -> Runs | None:
        """Return the runs of the chunk of this key, or None if they are not there, or not what they should be."""
        try:
            return runs_from_bytes(key, shape, self._path(key).read_bytes())
        except (OSError, DamagedFile):
            return None

    def keep(self, key: str, runs: Runs) -> None:
        """Write the runs of a chunk."""
        make_folder(self.folder)  # another run may have left nothing in it, and removed it
        write_whole(self._path(key), runs_to_bytes(key, runs))

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{ENDING}"

    def leave_nothing_empty(self) -> None:
        """Remove the folders made here if they hold nothing."""
        with contextlib.suppress(OSError):  # one holds something
            for path in self._made:
                path.rmdir()

    def forget(self, keys: Iterable[str]) -> None:
        """Forget the chunks of these keys, and no others: somebody may have waited long for those."""
        for key in keys:
            self._path(key).unlink(missing_ok=True)
