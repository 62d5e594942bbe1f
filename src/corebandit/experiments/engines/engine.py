"""What an engine is: it is told which runs are missing, and hands over runs."""

from collections.abc import Callable, Sequence
from typing import Protocol

from corebandit.experiments.task import Runs, Wanted

Finish = Callable[[int, int, Runs], None]


class Engine(Protocol):
    """Someone who plays runs.

    An engine knows nothing of folders, progress or results: whoever asked it to play keeps what comes out. It may play
    in any order and in pieces of any size, several at a time or many as one batch, here or, since tasks are data,
    elsewhere.
    """

    @property
    def environment(self) -> str:
        """Return what decides how its numbers are rounded: engines that round differently must say different things.

        Runs are kept under it, so what one engine has finished is never taken for another's.
        """
        ...

    def play(self, wanted: Sequence[Wanted], finish: Finish) -> None:
        """Play all that is wanted and call `finish` as soon as runs are there, as many as are finished together.

        It is given the place among those wanted, the number of the first run, and the runs. It keeps them, and may be
        called from any thread, so that nothing finished is lost. After an error or Ctrl-C nothing further is begun.
        """
        ...
