"""Measure the first call of policies: how long compilation takes, or loading from disk what was compiled before.

Only a new process has a first call, so this module runs itself as a script.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from numba.core.event import install_recorder

from corebandit import BernoulliBandit
from corebandit.catalogue import arm_policies
from corebandit.games.kinds import ARMS
from corebandit.randomness.stream import stream
from measure import CpuSeconds, cpu_seconds


class FirstCall(NamedTuple):
    """What a first call took."""

    seconds: CpuSeconds
    compiled: int  # functions, each for its types of arguments


def first_calls(names: Sequence[str], cache_folder: str) -> FirstCall:
    """Call each policy for the first time in one new process; return the total."""
    command = [sys.executable, __file__, *names]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache_folder}
    finished = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    seconds, compiled = zip(*json.loads(finished.stdout), strict=True)
    return FirstCall(sum(seconds), sum(compiled))


def _first_call(name: str) -> FirstCall:
    """Compile the simulation of a policy, or load it from disk, by playing no round at all."""
    problem = BernoulliBandit().draw(stream(0, "instance"))
    arguments = ARMS.without_rounds(problem, arm_policies()[name](), horizon=100)
    with install_recorder("numba:compile") as compilations:
        seconds = cpu_seconds(lambda: ARMS.loop.compiled(*arguments))
    return FirstCall(seconds, sum(event.is_start for _, event in compilations.buffer))


if __name__ == "__main__":
    print(json.dumps([_first_call(name) for name in sys.argv[1:]]))
