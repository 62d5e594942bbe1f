"""Play on an NVIDIA GPU, one thread a run: for studies of thousands of runs.

The chunks of one policy on one problem are played together, as many runs at a time as the GPU has memory for, beside
those of others. Streams, samplers and policies are those of the processor, so runs agree up to rounding. What cannot be
compiled for a GPU, threads play.

A thread that nobody waits for talks to the device: any call of the driver may wait for what is played there, and
Ctrl-C shall be heard.
"""

import dataclasses
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
from corebandit.contracts.recipe import AnyPolicy
from corebandit.experiments.chunks import Chunk, Runs
from corebandit.experiments.engines.batches import Batch, Instances, Piece, Table, parts_of, together
from corebandit.experiments.engines.compile_ahead import Game, can_travel, compiling_ahead, described, is_possible
from corebandit.experiments.engines.player import Stopped, play_chunk
from corebandit.experiments.engines.threads import Threads
from corebandit.experiments.memory_need import in_words
from corebandit.games.stacked import NotAlike

RUNS_PER_CHUNK = 1000  # enough that files and bookkeeping cost little beside the play
SHARE = 0.85  # of the free memory that is used
MOST_AT_ONCE = device.QUEUES  # batches on the device: a few thousand runs of one policy leave most of it idle
MOST_HELPERS = 12  # processes that compile, each of which takes some of the GPU's memory
BLINK = 0.002  # seconds; so often it is asked whether it is done
GLANCE = 0.1  # seconds; so often the main thread looks up, since some libraries keep signals from waking it

Finish = Callable[[int, Runs], None]
Flying = list[tuple[Batch, list[Piece]]]


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

    def runs_per_chunk(self, policy: AnyPolicy) -> int:
        """Return how many runs make a chunk."""
        return RUNS_PER_CHUNK if policy.runs_compiled else self._threads.runs_per_chunk(policy)

    def play(self, chunks: Sequence[Chunk], finish: Finish) -> None:
        """Play all chunks, and hand over each when the batches that it is in are done."""
        others: list[int] = []
        errors: list[BaseException] = []
        desk = _Desk(chunks, finish)

        def play_on_device() -> None:
            try:
                with device.Holding() as memory:
                    others.extend(self._play_on_device(chunks, desk, memory))
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
        self._play_by_threads(chunks, others, finish)

    def _play_by_threads(self, chunks: Sequence[Chunk], places: Sequence[int], finish: Finish) -> None:
        """Play these chunks in pieces that threads can share."""
        pieces, small = [], []
        for place in places:
            chunk = chunks[place]
            size = self._threads.runs_per_chunk(chunk.policy)
            for first in range(chunk.first, chunk.last, size):
                pieces.append(place)
                small.append(dataclasses.replace(chunk, first=first, last=min(first + size, chunk.last)))
        parts: dict[int, dict[int, Runs]] = {place: {} for place in places}
        lock = threading.Lock()

        def finish_piece(number: int, runs: Runs) -> None:
            place = pieces[number]
            with lock:
                parts[place][small[number].first] = runs._replace(engine="threads")
                is_whole = sum(len(part.regret) for part in parts[place].values()) == chunks[place].shape[0]
            if is_whole:
                finish(place, together([part for _, part in sorted(parts[place].items())]))

        if small:
            self._threads.play(small, finish_piece)

    def _play_on_device(self, chunks: Sequence[Chunk], desk: "_Desk", memory: device.Holding) -> list[int]:
        """Play what the device can, and return the places of the other chunks."""
        tables, others = _tables(chunks)
        for table, _ in tables:
            self._check_memory(table)
        self._tell_memory([table for table, _ in tables])
        helpers = min(self._threads.jobs - 1, MOST_HELPERS)
        missing = _to_compile(tables) if is_possible(helpers) else []
        memory.give_back()
        rehearsed, rehearsals = [], []
        with compiling_ahead(missing, helpers, "cuda"):
            for table, places in tables:
                desk.check_open()
                try:
                    rehearsals.append(table.rehearse(device.Queue()))
                    rehearsed.append((table, places))
                except Unsuitable as error:
                    self._say(f"{table.chunk.label} cannot be compiled for the GPU, so threads play it: {error}")
                    others += places
        while rehearsals:
            rehearsals.pop().wait()
        memory.give_back()
        for table, places in rehearsed:
            waiting = [Piece(place, chunks[place].first, chunks[place].last) for place in places]
            self._begin(table, waiting, desk, memory)
            desk.hand_over_what_is_done()
        desk.wait_for_all()
        return sorted(others)

    def _begin(self, table: Table, waiting: list[Piece], desk: "_Desk", memory: device.Holding) -> None:
        """Begin all runs of a policy on a problem, as many at a time as there is memory for."""
        need = table.bytes_of_a_run()
        while waiting:
            desk.check_open()
            if len(desk.flying) >= MOST_AT_ONCE:
                desk.wait_for_one()
            wanted = sum(piece.last - piece.first for piece in waiting)
            if (most := _room_for(need)) < wanted:
                desk.wait_for_all()
                memory.give_back()
                most = _room_for(need)
            batch = _cut(waiting, max(1, most))
            runs = np.concatenate([np.arange(piece.first, piece.last) for piece in batch])
            desk.flying.append((table.begin(device.Queue(), runs), batch))

    def _tell_memory(self, tables: Sequence[Table]) -> None:
        """Say what bounds how much is played at a time."""
        if tables:
            largest = max(tables, key=Table.bytes_of_a_run)
            need, free = largest.bytes_of_a_run(), device.free_memory()
            self._say(
                f"The GPU has {in_words(free)} of memory free. {largest.chunk.label} on {largest.chunk.problem.label} "
                f"needs most, {in_words(need)} a run: up to {_room_for(need):,} runs at a time."
            )

    def _check_memory(self, table: Table) -> None:
        need, free = table.bytes_of_a_run(), device.free_memory()
        if _room_for(need) < 1:
            raise BadInput(
                f"{table.chunk.label} needs {in_words(need)} of the GPU's memory for one run of "
                f"{table.chunk.horizon:,} rounds, and {in_words(free)} are free: take fewer rounds or, if the policy "
                "has one, a pool_size"
            )


def _room_for(need: int) -> int:
    """Return how many runs that need so much there is memory for, besides one that their states are copied from."""
    return int(SHARE * device.free_memory()) // need - 1


def _cut(waiting: list[Piece], most: int) -> list[Piece]:
    """Take pieces of at most so many runs off those that wait."""
    batch: list[Piece] = []
    while waiting and most > 0:
        piece = waiting.pop(0)
        if piece.last - piece.first > most:
            waiting.insert(0, piece._replace(first=piece.first + most))
            piece = piece._replace(last=piece.first + most)
        batch.append(piece)
        most -= piece.last - piece.first
    return batch


def _to_compile(tables: Sequence[tuple[Table, list[int]]]) -> list[Game]:
    """Describe the games whose kernels no process has compiled, one for each kernel."""
    queue = device.Queue()
    missing: dict[Path, Game] = {}
    for table, _ in tables:
        if can_travel(table.chunk) and (file := table.missing_file(queue)) is not None:
            missing.setdefault(file, described(table.chunk))
    return list(missing.values())


class _Desk:
    """What is being played, and what of each chunk is done."""

    def __init__(self, chunks: Sequence[Chunk], finish: Finish) -> None:
        self.flying: Flying = []
        self.is_closed = False
        self._chunks, self._finish = chunks, finish
        self._parts: dict[int, list[Runs]] = {}

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
        done = [number for number, (batch, _) in enumerate(self.flying) if batch.is_done()]
        for number in reversed(done):
            batch, pieces = self.flying.pop(number)
            self._hand_over(batch.results(), pieces)
        return bool(done)

    def _hand_over(self, runs: Runs, pieces: Sequence[Piece]) -> None:
        for piece, part in zip(pieces, parts_of(runs, [piece.last - piece.first for piece in pieces]), strict=True):
            chunk = self._chunks[piece.place]
            _check_all_played(chunk, piece, part)
            parts = self._parts.setdefault(piece.place, [])
            parts.append(part)
            if sum(len(part.regret) for part in parts) == chunk.shape[0]:
                self._finish(piece.place, together(self._parts.pop(piece.place)))


def _check_all_played(chunk: Chunk, piece: Piece, part: Runs) -> None:
    """Raise what the processor says of a run that failed: on the device an error only ends the run."""
    failed = np.flatnonzero(~np.isfinite(part.regret).all(axis=1))
    if failed.size:
        run = piece.first + int(failed[0])
        play_chunk(dataclasses.replace(chunk, first=run, last=run + 1))
        raise BadInput(f"{chunk.label} fails on the GPU in run {run}, but not on the processor: play it with threads")


def _tables(chunks: Sequence[Chunk]) -> tuple[list[tuple[Table, list[int]]], list[int]]:
    """Return each policy and problem that the device may play, with the places of its chunks, and the other places."""
    groups: dict[Any, list[int]] = {}
    for place, chunk in enumerate(chunks):
        same = (id(chunk.problem), id(chunk.policy), chunk.checkpoints, chunk.seed, chunk.regret, chunk.actions)
        groups.setdefault(same, []).append(place)
    ranges: dict[tuple[int, int], tuple[int, int]] = {}
    for chunk in chunks:
        first, last = ranges.get((id(chunk.problem), chunk.seed), (chunk.first, chunk.last))
        ranges[id(chunk.problem), chunk.seed] = min(first, chunk.first), max(last, chunk.last)
    drawn: dict[tuple[int, int], Instances] = {}
    tables, others = [], []
    for places in groups.values():
        chunk = chunks[places[0]]
        drawn_for = (id(chunk.problem), chunk.seed)
        try:
            if not chunk.policy.runs_compiled:
                raise Unsuitable("it runs in Python")
            if chunk.policy.looks_back:
                raise Unsuitable("it looks at all rewards in every round")
            if drawn_for not in drawn:
                drawn[drawn_for] = Instances(chunk.problem, chunk.seed, *ranges[drawn_for])
            tables.append((Table(chunk, drawn[drawn_for]), places))
        except (Unsuitable, NotAlike):
            others += places
    return tables, others
