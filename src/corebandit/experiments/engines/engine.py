"""What an engine is: chunks go in, runs come out."""

from collections.abc import Callable, Sequence
from typing import Protocol

from corebandit.contracts.recipe import AnyPolicy
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

    def runs_per_chunk(self, policy: AnyPolicy) -> int:
        """Return how many runs of a policy make a chunk: what is played in one go, kept at once, lost at most."""
        ...

    def play(self, chunks: Sequence[Chunk], finish: Callable[[int, Runs], None]) -> None:
        """Play all chunks and call `finish` with the place of each and its runs, as soon as these are there.

        `finish` keeps them, and may be called from any thread, so that nothing finished is lost. After an error or
        Ctrl-C no further chunk is begun.
        """
        ...
