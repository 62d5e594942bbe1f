"""Ctrl-C and termination: the command says what is kept, and is gone though compiled code is still at work."""

import os
import random
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

COMPARE = [
    "compare",
    "--problem",
    "gaussian",
    "--policies",
    "CORe(sampler=exact)",
    "--horizon",
    "10000",
    "--runs",
    "400",
]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("asked", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.endurance)]
)
def test_a_command_that_is_stopped_says_so_and_keeps_what_was_finished(tmp_path, asked, code):
    command = [
        sys.executable,
        "-c",
        "from corebandit.cli import main; main()",
        *COMPARE,
        "--out",
        str(tmp_path / "out"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not list(tmp_path.rglob("*.chunk")):
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    process.send_signal(asked)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == code, said
    assert "Stopped. What was finished is kept: the same command continues." in said
    assert list(tmp_path.rglob("*.chunk"))


@pytest.mark.heavy
@pytest.mark.parametrize(("asked", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_in_the_middle_of_an_endless_loop_is_left(tmp_path, asked, code):
    """Compiled code that would play for days ends with the process: `communicate` would wait in vain for it."""
    command = [sys.executable, "-c", "from corebandit.cli import main; main()", "compare", "--problem", "bernoulli"]
    endless = ["--policies", "UCB1,UniformRandom", "--horizon", str(10**13), "--runs", "2", "--out", str(tmp_path)]
    process = subprocess.Popen([*command, *endless], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(8.0)  # to import, and to find what is compiled; whatever it does then, it is to stop
    process.send_signal(asked)
    try:
        said, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == code, said
    assert "Traceback" not in said


@pytest.mark.endurance
def test_a_reproduction_stopped_at_ten_moments_ends_with_the_same_results(tmp_path):
    def command(out):
        program = [sys.executable, "-c", "from corebandit.cli import main; main()"]
        return [*program, "reproduce", "--quick", "--seed", "0", "--out", str(tmp_path / out)]

    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}  # nothing is compiled at first
    rng = random.Random(1)
    n_stopped = 0
    while n_stopped < 10:
        asked = (signal.SIGINT, signal.SIGTERM)[n_stopped % 2]
        process = subprocess.Popen(command("stopped"), env=environment, stdout=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.5, 30.0))
        assert process.poll() is None, "it ended before it was stopped ten times"
        process.send_signal(asked)
        began = time.monotonic()
        assert process.wait(timeout=30) == {signal.SIGINT: 130, signal.SIGTERM: 143}[asked]
        n_stopped += 1
        print(f"{asked.name}: gone in {time.monotonic() - began:.2f} s")
    for out in ("stopped", "whole"):
        subprocess.run(command(out), env=environment, stdout=subprocess.DEVNULL, check=True)
    stopped, whole = (pl.read_parquet(tmp_path / out / "results.parquet") for out in ("stopped", "whole"))
    assert stopped.equals(whole)
