"""Play on an NVIDIA GPU, one thread a run: for studies of thousands of runs.

The runs of one policy on one problem are played together, as many at a time as the GPU has memory for, beside those of
others, and handed over together. Streams, samplers and policies are those of the processor, so runs agree up to
rounding. What cannot be compiled for a GPU, threads play.

A thread that nobody waits for talks to the device: any call of the driver may wait for what is played there, and
Ctrl-C shall be heard.
"""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corebandit.compiled.cuda import device
from corebandit.compiled.cuda.kernels import Unsuitable
from corebandit.compiled.sources import fingerprint
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import digest
from corebandit.experiments.engines.batches import Batch, Instances, Table
from corebandit.experiments.engines.compile_ahead import Game, can_travel, compiling_ahead, described, is_possible
from corebandit.experiments.engines.engine import Finish
from corebandit.experiments.engines.player import Stopped, play_runs
from corebandit.experiments.engines.threads import Threads
from corebandit.experiments.memory_need import in_words
from corebandit.experiments.task import Runs, Task, Wanted
from corebandit.games.stacked import NotAlike

SHARE = 0.85  # of the free memory that is used
MOST_AT_ONCE = device.QUEUES  # batches on the device: a few thousand runs of one policy leave most of it idle
MOST_HELPERS = 12  # processes that compile, each of which takes some of the GPU's memory
BLINK = 0.002  # seconds; so often it is asked whether it is done
GLANCE = 0.1  # seconds; so often the main thread looks up, since some libraries keep signals from waking it


class Cuda:
    """An engine that plays on the GPU of this machine; what it cannot play, `jobs` threads do.

    `say` hears, before anything is played, what the runs need of its memory.
    """

    def __init__(self, jobs: int | None = None, say: Callable[[str], None] = lambda sentence: None) -> None:
        if reason := device.why_not():
            raise BadInput(f"the engine cuda cannot be used: {reason}")
        self._threads, self._say = Threads(jobs), say

    @property
    def environment(self) -> str:
        """Return the libraries, the GPU and what of ours plays on it, and those that play what it cannot."""
        return f"cuda {device.environment()} {fingerprint([Cuda])} {self._threads.environment}"

    def play(self, wanted: Sequence[Wanted], finish: Finish) -> None:
        """Play all that is wanted, and hand over each batch when it is done."""
        others: list[int] = []
        errors: list[BaseException] = []
        desk = _Desk(wanted, finish)

        def play_on_device() -> None:
            try:
                with device.Holding() as memory:
                    others.extend(self._play_on_device(wanted, desk, memory))
            except BaseException as error:  # whoever waits raises it
                errors.append(error)

        worker = threading.Thread(target=play_on_device, daemon=True)
        worker.start()
        try:
            while worker.is_alive():
                worker.join(GLANCE)
        finally:
            desk.is_closed = True
        if errors:
            raise errors[0]
        self._threads.play(
            [wanted[place] for place in others],
            lambda place, first, runs: finish(others[place], first, runs._replace(engine="threads")),
        )

    def _play_on_device(self, wanted: Sequence[Wanted], desk: "_Desk", memory: device.Holding) -> list[int]:
        """Play what the device can, and return the places of the rest."""
        tables, others = _tables(wanted)
        for table in tables.values():
            self._check_memory(table)
        self._tell_memory(list(tables.values()))
        helpers = min(self._threads.jobs - 1, MOST_HELPERS)
        missing = _to_compile(list(tables.values())) if is_possible(helpers) else []
        memory.give_back()
        rehearsed, rehearsals = {}, []
        with compiling_ahead(missing, helpers, "cuda"):
            for place, table in tables.items():
                desk.check_open()
                try:
                    rehearsals.append(table.rehearse(device.Queue()))
                    rehearsed[place] = table
                except Unsuitable as error:
                    self._say(f"{table.task.label} cannot be compiled for the GPU, so threads play it: {error}")
                    others.append(place)
        while rehearsals:
            rehearsals.pop().wait()
        memory.give_back()
        for place, table in rehearsed.items():
            self._begin(table, place, desk, memory)
            desk.hand_over_what_is_done()
        desk.wait_for_all()
        return sorted(others)

    def _begin(self, table: Table, place: int, desk: "_Desk", memory: device.Holding) -> None:
        """Begin all runs of a policy on a problem, as many at a time as there is memory for."""
        need, (_, first, last) = table.bytes_of_a_run(), desk.wanted[place]
        while first < last:
            desk.check_open()
            if len(desk.flying) >= MOST_AT_ONCE:
                desk.wait_for_one()
            if (most := _room_for(need)) < last - first:
                desk.wait_for_all()
                memory.give_back()
                most = _room_for(need)
            runs = np.arange(first, min(first + max(1, most), last))
            desk.flying.append((table.begin(device.Queue(), runs), place, first))
            first += len(runs)

    def _tell_memory(self, tables: Sequence[Table]) -> None:
        """Say what bounds how much is played at a time."""
        if tables:
            largest = max(tables, key=Table.bytes_of_a_run)
            need, free = largest.bytes_of_a_run(), device.free_memory()
            self._say(
                f"The GPU has {in_words(free)} of memory free. {largest.task.label} on {largest.task.problem.label} "
                f"needs most, {in_words(need)} a run: up to {_room_for(need):,} runs at a time."
            )

    def _check_memory(self, table: Table) -> None:
        need, free = table.bytes_of_a_run(), device.free_memory()
        if _room_for(need) < 1:
            raise BadInput(
                f"{table.task.label} needs {in_words(need)} of the GPU's memory for one run of "
                f"{table.task.horizon:,} rounds, and {in_words(free)} are free: take fewer rounds or, if the policy "
                "has one, a pool_size"
            )


def _room_for(need: int) -> int:
    """Return how many runs that need so much there is memory for, besides one that their states are copied from."""
    return int(SHARE * device.free_memory()) // need - 1


def _to_compile(tables: Sequence[Table]) -> list[Game]:
    """Describe the games whose kernels no process has compiled, one for each kernel."""
    queue = device.Queue()
    missing: dict[Path, Game] = {}
    for table in tables:
        if can_travel(table.task) and (file := table.missing_file(queue)) is not None:
            missing.setdefault(file, described(table.task))
    return list(missing.values())


class _Desk:
    """What is being played, and who hands it over."""

    def __init__(self, wanted: Sequence[Wanted], finish: Finish) -> None:
        self.wanted = wanted
        self.flying: list[tuple[Batch, int, int]] = []  # with their places among those wanted, and their first runs
        self.is_closed = False
        self._finish = finish

    def check_open(self) -> None:
        """Raise Stopped if nobody waits for anything any more."""
        if self.is_closed:
            raise Stopped

    def wait_for_all(self) -> None:
        """Hand over all that is being played."""
        while self.flying:
            self.wait_for_one()

    def wait_for_one(self) -> None:
        """Hand over whatever is done first."""
        while not self.hand_over_what_is_done():
            self.check_open()
            time.sleep(BLINK)

    def hand_over_what_is_done(self) -> bool:
        """Hand over whatever is done, and tell whether anything was."""
        done = [number for number, (batch, *_) in enumerate(self.flying) if batch.is_done()]
        for number in reversed(done):
            batch, place, first = self.flying.pop(number)
            runs = batch.results()
            _check_all_played(self.wanted[place], first, runs)
            self._finish(place, first, runs)
        return bool(done)


def _check_all_played(wanted: Wanted, first: int, runs: Runs) -> None:
    """Raise what the processor says of a run that failed: on the device an error only ends the run."""
    failed = np.flatnonzero(~np.isfinite(runs.regret).all(axis=1))
    if failed.size:
        task, run = wanted.task, first + int(failed[0])
        play_runs(task, run, run + 1)
        raise BadInput(f"{task.label} fails on the GPU in run {run}, but not on the processor: play it with threads")


def _tables(wanted: Sequence[Wanted]) -> tuple[dict[int, Table], list[int]]:
    """Return what the device may play, by its places, and the places of the rest."""
    ranges: dict[Any, tuple[int, int]] = {}
    for task, first, last in wanted:
        lowest, highest = ranges.get(drawn_for := _drawn_for(task), (first, last))
        ranges[drawn_for] = min(first, lowest), max(last, highest)
    drawn: dict[Any, Instances] = {}
    tables, others = {}, []
    for place, (task, *_) in enumerate(wanted):
        try:
            if not task.policy.runs_compiled:
                raise Unsuitable("it runs in Python")
            if task.policy.looks_back:
                raise Unsuitable("it looks at all rewards in every round")
            if (drawn_for := _drawn_for(task)) not in drawn:
                drawn[drawn_for] = Instances(task.problem, task.seed, *ranges[drawn_for])
            tables[place] = Table(task, drawn[drawn_for])
        except (Unsuitable, NotAlike):
            others.append(place)
    return tables, others


def _drawn_for(task: Task) -> tuple[Any, ...]:
    """Return what is the same where runs meet the same problems."""
    return type(task.problem), digest(task.problem.describe()), task.seed
