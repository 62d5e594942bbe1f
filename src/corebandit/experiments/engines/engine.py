"""What an engine is: chunks go in, runs come out."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from corebandit.experiments.chunks import Chunk, Runs


class Engine(Protocol):
    """Someone who plays chunks.

    An engine knows nothing of folders, progress or results: whoever asked it to play keeps what comes out. It may play
    chunks in any order, several at a time or many as one batch, here or, since chunks are data, elsewhere.
    """

    @property
    def environment(self) -> str:
        """Return what decides how its numbers are rounded: engines that round differently must say different things.

        It is part of the key of every chunk, so what one engine has finished is never taken for another's.
        """
        ...

    def play(self, chunks: Sequence[Chunk]) -> Iterator[tuple[int, Runs]]:
        """Yield the place of a chunk among `chunks` and its runs, as soon as they are finished.

        When the iterator is closed, after an error or Ctrl-C, no further chunk is begun.
        """
        ...
