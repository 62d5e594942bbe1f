"""Ctrl-C and termination: the command says what is kept, and is gone though compiled code is still at work."""

import os
import random
import select
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from corebandit.cli import main
from corebandit.cli.stopping import Request

COMMAND = [sys.executable, "-c", "from corebandit.cli import main; main()"]
COMPARE = [*COMMAND, "compare", "--problem", "bernoulli", "--policies", "UCB1", "--jobs", "1"]

# The same, leaving a mark when the loop is under way: the run before it has found all machine code.
MARKED = """
import pathlib, threading
import corebandit as cb
from corebandit.cli import main

cb.run(cb.Experiment(cb.BernoulliBandit(), [cb.UCB1()], horizon=20, runs=1), jobs=1)
start = cb.UCB1.start

def marked(self, *sizes):
    threading.Timer(0.3, pathlib.Path("begun").touch).start()
    return start(self, *sizes)

cb.UCB1.start = marked
main()
"""


def as_a_terminal_does():
    """Let a new process hear Ctrl-C, also where these tests run in the background, which has it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def stopped(command, folder, pattern, asked):
    """Start a command in a folder, stop it once a file of this name is there, and return how it ended."""
    deadline = time.monotonic() + 120.0
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(command, cwd=folder, preexec_fn=as_a_terminal_does, **pipes)
    try:
        while not list(folder.rglob(pattern)):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(asked)
        said, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    return process.returncode, said


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("asked", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.endurance)]
)
def test_a_command_that_is_stopped_says_so_and_keeps_what_was_finished(tmp_path, asked, code):
    command = [*COMPARE, "--horizon", "100000", "--runs", "10000", "--out", "out"]
    ended, said = stopped(command, tmp_path, "*.chunk", asked)
    assert ended == code, said
    assert "Stopped. What was finished is kept: the same command continues." in said
    assert list(tmp_path.rglob("*.chunk"))


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("asked", "code"), [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.endurance)]
)
def test_a_run_in_the_middle_of_an_endless_loop_is_left(tmp_path, asked, code):
    """Compiled code that would play for days ends with the process: `communicate` would wait in vain for it."""
    command = [sys.executable, "-c", MARKED, *COMPARE[len(COMMAND) :], "--horizon", str(10**13), "--runs", "2"]
    ended, said = stopped([*command, "--out", "out"], tmp_path, "begun", asked)
    assert ended == code, said
    assert "Traceback" not in said
    assert not list(tmp_path.rglob("*.chunk"))


DEAF = """
import pathlib, time
import corebandit as cb
from corebandit.cli import main

def deaf(self, *sizes):
    pathlib.Path("begun").touch()
    while True:
        try:
            time.sleep(10)
        except BaseException:
            pass

cb.UCB1.start = deaf
main()
"""


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("asked", "code"), [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.endurance)]
)
def test_a_request_that_somebody_drops_is_insisted_on(tmp_path, asked, code):
    """Python itself drops exceptions that are raised in callbacks, such as those of weak references."""
    command = [sys.executable, "-c", DEAF, *COMPARE[len(COMMAND) :], "--horizon", "100", "--runs", "2"]
    ended, said = stopped(command, tmp_path, "begun", asked)
    assert ended == code, said
    assert said.strip().endswith("Stopped.")


FORKING = """
import multiprocessing, time
import corebandit as cb
from corebandit.cli import main

def forking(self, *sizes):
    with multiprocessing.get_context("fork").Pool(2) as pool:  # which terminates its processes
        assert pool.map(abs, range(4)) == [0, 1, 2, 3]
    time.sleep(1.5)
    return start(self, *sizes)

start, cb.UCB1.start = cb.UCB1.start, forking
main()
"""


@pytest.mark.heavy
def test_processes_that_are_told_to_end_do_not_take_the_command_with_them(tmp_path):
    """A new process has from its parent the pipe to the thread that insists."""
    command = [sys.executable, "-c", FORKING, *COMPARE[len(COMMAND) :], "--horizon", "100", "--runs", "1"]
    ended = subprocess.run([*command, "--out", "out"], cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr.count("Stopped"), "Traceback" in ended.stderr) == (0, 0, False)


HASTY = """
import multiprocessing, time
import corebandit.cli as cli

def app():
    for _ in range(30):
        process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(3,))
        process.start()
        process.terminate()
        process.join()
    time.sleep(1.0)

cli.app = app
cli.main()
"""


def test_a_process_that_is_told_to_end_before_it_has_begun_does_not_either(tmp_path):
    ended = subprocess.run([sys.executable, "-c", HASTY], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


ENDING = """
import os, signal
import corebandit.cli as cli

class Ended(SystemExit):
    @property
    def code(self):  # which is asked for when all is done, but nobody has noted it yet
        os.kill(os.getpid(), signal.SIGTERM)
        return 0

def app():
    raise Ended

cli.app = app
cli.main()
"""


def test_a_request_between_the_end_of_a_command_and_that_of_the_process_is_answered(tmp_path):
    ended = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (143, "")


@pytest.mark.heavy
def test_the_terminal_is_left_as_it_was(tmp_path):
    """Whether writing waits is a property that all who share a terminal share; a bar hides the cursor."""
    command = [sys.executable, "-c", DEAF, *COMPARE[len(COMMAND) :], "--horizon", "100", "--runs", "2"]
    seen, shared = os.openpty()
    process = subprocess.Popen(command, cwd=tmp_path, stderr=shared, preexec_fn=as_a_terminal_does)
    while not (tmp_path / "begun").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert os.get_blocking(shared)
    said = b""
    while select.select([seen], [], [], 0.0)[0]:  # a terminal hands over a few thousand bytes at a time
        said += os.read(seen, 100_000)
    assert said.count(b"\x1b[?25l") <= said.count(b"\x1b[?25h") == 1
    assert said.endswith(b"Stopped.\r\n")
    for end in (seen, shared):
        os.close(end)


def test_termination_is_of_a_kind_that_python_never_drops():
    """While it compiles, it asks for signals, and takes any other exception for "this cannot be folded"."""
    with pytest.raises(KeyboardInterrupt):
        Request().hear(signal.SIGTERM, None)


def test_a_command_leaves_signals_as_it_found_them(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["corebandit", "--version"])
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(SystemExit):
        main()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert signal.set_wakeup_fd(-1) == -1


@pytest.mark.heavy
def test_what_a_script_runs_in_the_background_ignores_the_ctrl_c_of_others(tmp_path):
    command = [*COMPARE, "--horizon", "1000", "--runs", "100", "--out", "out"]
    ignoring = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, **ignoring)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.002)  # often enough to meet the moments in which polars looks whether it was interrupted
    assert process.returncode == 0
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.endurance
def test_reproductions_stopped_at_ten_moments_end_with_the_same_results(tmp_path):
    """One that ends before it has been stopped ten times is followed by another, in a folder of its own."""

    def begun(out):
        command = [*COMMAND, "reproduce", "--quick", "--seed", "0", "--out", str(tmp_path / out)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, preexec_fn=as_a_terminal_does)

    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}  # nothing is compiled at first
    rng = random.Random(1)
    n_stopped, n_ended = 0, 0
    while n_stopped < 10:
        asked = (signal.SIGINT, signal.SIGTERM)[n_stopped % 2]
        process = begun(f"stopped {n_ended}")
        try:
            assert process.wait(timeout=rng.uniform(0.5, 30.0)) == 0
            n_ended += 1
            continue
        except subprocess.TimeoutExpired:
            process.send_signal(asked)
        began = time.monotonic()
        code = process.wait(timeout=30)
        if code == -asked:  # all is written, and Python, on its way out, has let go of signals: it must be whole
            n_ended += 1
            continue
        assert code == 128 + asked
        n_stopped += 1
        print(f"{asked.name}: gone in {time.monotonic() - began:.2f} s")
    outs = [f"stopped {number}" for number in range(n_ended + 1)]
    for out in (outs[-1], "whole"):
        assert begun(out).wait() == 0
    whole = pl.read_parquet(tmp_path / "whole" / "results.parquet")
    assert all(pl.read_parquet(tmp_path / out / "results.parquet").equals(whole) for out in outs)
