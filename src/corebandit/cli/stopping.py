"""Stop at once when told to: Ctrl-C and termination take effect within a second, whatever is being done."""

import _thread
import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from types import FrameType
from typing import Any

PATIENCE = 0.8  # seconds from a request until the process ends, orderly or not

_answered = threading.Event()  # somebody has said that the command was stopped
_of_children: dict[int, Any] = {}  # handlers of signals
_masks = threading.local()  # the signals that a thread blocked before it began to fork


class Terminated(KeyboardInterrupt):
    """The process was told to end: a kind of KeyboardInterrupt, since Python drops others while it compiles."""


class Request:
    """A signal that asks the process to end, if there was one."""

    def __init__(self) -> None:
        self.signal = 0
        self.is_too_late = False  # all is done

    @property
    def exit_code(self) -> int:
        """Return the code of a process that was stopped; 0 if nobody asked for that."""
        return 128 + self.signal if self.signal else 0

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Raise an exception wherever the main thread is, once: what is being done about it is not disturbed."""
        if self.signal or self.is_too_late:
            return
        self.signal = number
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


@contextlib.contextmanager
def stopping_when_told() -> Iterator[Request]:
    """Let a request to end the process be as orderly as Ctrl-C, and insist on both.

    An exception alone is not enough: Python drops those that are raised in callbacks, such as weak references', and
    anyone may catch them. So the system tells a thread of its own, too, which ends the process when nothing else does.
    """
    request = Request()
    _answered.clear()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # Whoever starts a command in the background of a script lets it ignore the Ctrl-C that is meant for others.
    ignored = [number for number, handler in before.items() if handler is signal.SIG_IGN]
    heard = [number for number, handler in before.items() if handler not in (signal.SIG_IGN, None)]
    for number in heard:
        signal.signal(number, request.hear)
    try:
        with contextlib.ExitStack() as stack:
            if sys.platform != "win32":
                stack.enter_context(_ignoring(ignored))  # in all threads that come after
                stack.enter_context(_insisting())
                stack.enter_context(_in_this_process_alone({number: before[number] for number in heard}))
            yield request
    finally:
        for number in heard:
            signal.signal(number, before[number])


@contextlib.contextmanager
def _in_this_process_alone(before: Mapping[int, Any]) -> Iterator[None]:
    """Let processes that are forked meanwhile hear signals as they would have before, and tell nobody here."""
    _of_children.update(before)
    try:
        yield
    finally:
        _of_children.clear()


def _hear_nothing() -> None:
    """Let signals wait while a process is made, which would tell its parent until it has let go."""
    if _of_children:
        _masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, _of_children)


def _hear_again() -> None:
    before, _masks.before = getattr(_masks, "before", None), None
    if before is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _let_go() -> None:
    """Let go of what a new process has from its parent: a pipe to the thread that ends the parent, and handlers."""
    try:
        if _of_children:
            signal.set_wakeup_fd(-1)
            for number, handler in _of_children.items():
                signal.signal(number, handler)
    finally:
        _hear_again()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hear_nothing, after_in_child=_let_go, after_in_parent=_hear_again)


@contextlib.contextmanager
def _ignoring(ignored: Collection[int]) -> Iterator[None]:
    """Go on ignoring signals, whatever handlers libraries install: polars does so for Ctrl-C when it is imported."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ignored)
    try:
        yield
    finally:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)  # and forget those that wait
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _insisting() -> Iterator[None]:
    source, told = os.pipe()
    os.set_blocking(told, False)
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    _thread.start_new_thread(_insist, (source,))  # not of `threading`, whose threads are waited for or left behind
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(told)


def _insist(source: int) -> None:
    """Wait for a request, and end the process if the command has not ended soon after."""
    code, deadline = 0, None
    while True:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not select.select([source], [], [], left)[0]:
            break
        number = os.read(source, 1)
        if not number:  # the command has ended
            os.close(source)
            return
        if deadline is None and number[0] in (signal.SIGINT, signal.SIGTERM):
            code, deadline = 128 + number[0], time.monotonic() + PATIENCE
    try:
        if not _answered.is_set() and select.select([], [2], [], 0)[1]:  # somebody may read it
            shown = b"\x1b[?25h" if os.isatty(2) else b""  # the cursor, which a bar hides
            os.write(2, shown + b"Stopped.\n")
    finally:
        os._exit(code)


def say_stopped(what_is_left: str) -> None:
    """Say that the command was stopped, and what that leaves behind."""
    _answered.set()
    with contextlib.suppress(OSError, ValueError):  # nobody reads it
        if sys.stderr is not None:
            print(f"Stopped. {what_is_left}", file=sys.stderr)


def end_at_once(code: int) -> None:
    """End the process without waiting for anything."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # nobody reads it
            stream.flush()
    os._exit(code)


def has_threads_at_work() -> bool:
    """Tell whether threads are still at work: nothing can interrupt compiled code, and nobody waits for it."""
    return any(thread.daemon for thread in threading.enumerate())
