"""Stop at once when told to: Ctrl-C and termination take effect within a second, whatever is being done."""

import contextlib
import os
import signal
import sys
import threading
from types import FrameType


class Terminated(BaseException):
    """The process was told to end."""


def stop_on_termination() -> None:
    """Let a request to end the process be as orderly as Ctrl-C."""

    def end(number: int, frame: FrameType | None) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, end)


def leave_threads_behind(code: int) -> None:
    """End the process if threads are still at work: nothing can interrupt compiled code, and nobody waits for it."""
    if any(thread.daemon for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):  # nobody reads it
                stream.flush()
        os._exit(code)
