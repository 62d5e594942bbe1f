"""Ctrl-C and termination: the command says what is kept, and is gone though compiled code is still at work."""

import signal
import subprocess
import sys
import time

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
