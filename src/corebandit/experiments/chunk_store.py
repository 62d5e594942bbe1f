"""Finished chunks in a folder, one file each, written whole or not at all.

Each file carries its own key and a digest. One that is damaged, of another shape, or that belongs to another key is as
good as none: the chunk is played again.
"""

import contextlib
import io
import zipfile
from pathlib import Path

import numpy as np

from corebandit.contracts.atomic_files import make_folder, remove_leftovers, sealed, unsealed, write_whole
from corebandit.experiments.chunks import Runs

ENDING = ".chunk"
UNREADABLE = (OSError, ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile)


class ChunkStore:
    """The chunks of a folder."""

    def __init__(self, folder: Path) -> None:
        """Make the folder, or say why it cannot be written."""
        self.folder = folder
        self._made = [path for path in (folder, *folder.parents) if not path.exists()]
        make_folder(folder)
        remove_leftovers(folder)

    def find(self, key: str, shape: tuple[int, int]) -> Runs | None:
        """Return the chunk of this key, or None if it is not there, or not what it should be."""
        try:
            content = unsealed((self.folder / f"{key}{ENDING}").read_bytes())
            with np.load(io.BytesIO(content), allow_pickle=False) as saved:
                regret, seconds, own_key = saved["regret"], float(saved["cpu_seconds"]), str(saved["key"])
        except UNREADABLE:
            return None
        is_right = own_key == key and regret.shape == shape and regret.dtype == np.float64
        return Runs(regret, seconds) if is_right and np.isfinite(regret).all() else None

    def keep(self, key: str, runs: Runs) -> None:
        """Write a chunk."""
        content = io.BytesIO()
        np.savez(content, regret=runs.regret, cpu_seconds=np.array(runs.cpu_seconds), key=np.array(key))
        write_whole(self.folder / f"{key}{ENDING}", sealed(content.getvalue()))

    def leave_nothing_empty(self) -> None:
        """Remove the folders made here if they hold nothing."""
        with contextlib.suppress(OSError):  # one holds something
            for path in self._made:
                path.rmdir()

    def clear(self) -> None:
        """Forget all chunks, those of version 0.4 too."""
        for path in (*self.folder.glob(f"*{ENDING}"), *self.folder.glob("*.npz")):
            path.unlink(missing_ok=True)
