"""How much memory a policy's state takes in a run, told before anything of that size is made."""

import os
from pathlib import Path
from typing import Any

from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import AnyPolicy
from corebandit.contracts.state import arrays_of
from corebandit.games.kinds import game_of

FEW = 1024  # observations to tell from what each of them takes
SHARE = 16  # of the memory that may be asked for to see whether a state stops growing
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container
UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def check_memory(policy: AnyPolicy, problem: Any, horizon: int) -> None:
    """Raise a BadInput if a state with room for all observations of a run needs more memory than the machine has.

    A state grows in proportion to the observations, or stops at some size: what a few more take, all more take at most.
    """
    memory, wanted = machine_memory(), game_of(problem).n_observations(problem, horizon)

    def size(capacity: int) -> int:
        state = policy.start_on(problem, horizon, capacity)
        return sum(array.nbytes for array in arrays_of(state)) if isinstance(state, tuple) else 0

    def foretold(capacity: int) -> int:
        """Return what all observations take if further ones take as much as the last of `capacity` did."""
        half, full = size(capacity // 2), size(capacity)
        return full + (full - half) * (wanted - capacity) // (capacity - capacity // 2)

    if memory is None or wanted <= FEW or (need := foretold(FEW)) <= memory:
        return
    most = wanted * (memory // SHARE) // need  # observations that take at most a share of the memory
    if most > FEW and (need := foretold(most)) <= memory:
        return
    raise BadInput(
        f"horizon must be smaller for {policy.label}, which remembers every reward: {horizon:,} rounds need "
        f"{need:,} bytes ({in_words(need)}) of memory, and this machine has {memory:,} ({in_words(memory)})"
    )


def check_memory_of_actions(n_choices: int, runs: int) -> None:
    """Raise a BadInput if what was chosen in all runs, `n_choices` in each, needs more memory than the machine has."""
    memory, need = machine_memory(), 4 * n_choices * runs
    if memory is not None and need > memory:
        raise BadInput(
            f"actions of {runs:,} runs with {n_choices:,} choices each need {need:,} bytes ({in_words(need)}) of "
            f"memory, and this machine has {memory:,} ({in_words(memory)}): ask for them in fewer runs, or fewer rounds"
        )


def machine_memory() -> int | None:
    """Return the bytes of memory that a process may have at most, None if that cannot be told."""
    known = []
    if hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= set(os.sysconf_names):
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in LIMITS:
        try:
            known.append(int(Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such file, or it says max
            continue
    return min((n_bytes for n_bytes in known if n_bytes > 0), default=None)


def in_words(n_bytes: int) -> str:
    """Return a number of bytes as people say it.

    >>> in_words(999), in_words(1_500_000), in_words(32 * 10**12)
    ('999 bytes', '1.5 MB', '32 TB')
    """
    power = min((len(str(n_bytes)) - 1) // 3, len(UNITS) - 1)
    return f"{n_bytes / 1000**power:.3g} {UNITS[power]}"
