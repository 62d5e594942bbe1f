"""Many runs of one policy on one problem, played by a GPU in one go."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corebandit.compiled.cuda.device import Queue
from corebandit.compiled.cuda.kernels import Unsuitable, launch, missing_file, prepared
from corebandit.compiled.cuda.places import Local, RunFirst, RunLast, Shared
from corebandit.contracts.recipe import AnyPolicy, FeaturePolicy, Policy, Problem, RankingPolicy, digest
from corebandit.experiments.engines.player import gathered
from corebandit.experiments.task import Runs, Task
from corebandit.games.game import Purpose
from corebandit.games.kinds import game_of
from corebandit.games.notes import Notes, joined
from corebandit.games.rehearsal import check_means, truth_of
from corebandit.games.stacked import Leaf, Stacked, leaves_of, rebuilt, share_memory, stacked
from corebandit.parts.rounds import horizon_or_unknown
from corebandit.randomness.seeding import N_WORK, name_of, seed_run, seed_runs
from corebandit.randomness.stream import Stream

STARTS = (Policy.start_on, FeaturePolicy.start_on, RankingPolicy.start_on)  # which look at sizes alone
SMALL = 512  # numbers; an array of at most so many is a thread's own, which is cached nearby
WORD_BYTES = 32  # of a stream


class Instances:
    """What the runs of one problem play, drawn once for all policies."""

    def __init__(self, problem: Problem, seed: int, first: int, last: int) -> None:
        self.problem_id, self.seed, self.first = digest(problem.describe()), seed, first
        words = np.empty((last - first, 1, 4), np.uint64)
        name = name_of(seed, self.problem_id, "instance")
        seed_runs(name, np.arange(first, last), np.zeros(N_WORK, np.uint64), words)
        self.stacked: Stacked = stacked(problem, words[:, 0])

    def of(self, run: int) -> Any:
        """Return what one run plays."""
        leaves = iter(self.stacked.leaves)
        return rebuilt(self.stacked.example, lambda _: next(leaves).of(run - self.first))


class Table:
    """A policy and a problem, ready to be played in as many runs as there is room for."""

    def __init__(self, task: Task, instances: Instances) -> None:
        self.task, self.instances = task, instances
        example = instances.stacked.example
        self.game = game_of(example)
        capacity = self.game.n_observations(example, task.horizon)
        self.state = task.policy.start_on(example, task.told_horizon, capacity)
        self.notes = self.game.notes(example, task.rounds.size, task.horizon if task.actions else 0)
        self.room = (*self.game.room(example), *self.game.workroom(example))
        self.is_asked_afterwards = _says_something(task.policy)
        if type(task.policy).start_on not in STARTS:
            raise Unsuitable("it starts from what it sees of a problem, differently in every run")
        for what, values in (("state", self.state), ("problem", example)):
            for value in leaves_of(values):
                if not isinstance(value, np.ndarray | np.generic | bool | int | float):
                    raise Unsuitable(f"its {what} holds a {type(value).__name__}")
        if share_memory(self.state):
            raise Unsuitable("two arrays of its state are one")

    def bytes_of_a_run(self) -> int:
        """Return the memory that one run needs on the device."""
        own = [leaf.value for leaf in self.instances.stacked.leaves if not leaf.is_shared]
        total = sum(int(value.nbytes) // max(1, value.shape[-1]) for value in own)
        arrays = [value for value in leaves_of((*self.state, *self.room)) if isinstance(value, np.ndarray)]
        total += sum(array.nbytes for array in arrays if not self._is_small(array))
        streams = self.game.streams(self.instances.stacked.example)
        total += WORD_BYTES * sum(max(1, purpose.n_streams) for purpose in streams)
        return int(total + 8 * self.task.rounds.size + sum(array.nbytes for array in self.notes))

    def begin(self, queue: Queue, runs: NDArray[np.int64]) -> "Batch":
        """Begin to play these runs, or raise Unsuitable."""
        batch = Batch(self, queue, int(runs[0]), len(runs))
        function, tree = self._work(batch, runs)
        batch.tree = tree
        prepared(queue, function, tree)
        queue.begin()
        launch(queue, function, tree, len(runs))
        queue.end()
        return batch

    def compile(self, queue: Queue) -> None:
        """Compile what `begin` needs, or load it from disk."""
        prepared(queue, *self._work(self._batch_of_one(queue), self._first_run))

    def rehearse(self, queue: Queue) -> "Batch":
        """Begin one round of one run, or raise Unsuitable.

        The first time a kernel is started the driver may wait for all others: better while none takes long.
        """
        batch = self._batch_of_one(queue)
        function, batch.tree = self._work(batch, self._first_run, rounds=np.ones(1, np.int64))
        launch(queue, function, batch.tree, 1)
        queue.end()
        return batch

    def missing_file(self, queue: Queue) -> Path | None:
        """Return where on disk the kernel would be kept, if it could be and is not."""
        return missing_file(*self._work(self._batch_of_one(queue), self._first_run))

    @property
    def _first_run(self) -> NDArray[np.int64]:
        return np.array([self.instances.first])

    def _batch_of_one(self, queue: Queue) -> "Batch":
        return Batch(self, queue, self.instances.first, 1)

    def _work(
        self, batch: "Batch", runs: NDArray[np.int64], rounds: NDArray[np.int64] | None = None
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return the function to call, and what each run's thread calls it with."""
        queue, example = batch.queue, self.instances.stacked.example
        batch.state = rebuilt(self.state, lambda value: self._place(value, queue, len(runs)))
        which = runs - self.instances.first
        leaves = iter(self.instances.stacked.leaves)
        problem = rebuilt(example, lambda _: _placed_leaf(next(leaves), queue, which))
        numbers = queue.put(runs)
        streams = [self._streams(purpose, queue, numbers, len(runs)) for purpose in self.game.streams(example)]
        room = [self._place(value, queue, len(runs)) for value in self.room]
        until = Shared(queue.put(self.task.rounds if rounds is None else rounds))
        horizon, realised = Shared(horizon_or_unknown(self.task.told_horizon)), Shared(self.task.regret == "realised")
        results = (until, horizon, realised, RunFirst(batch.regret), rebuilt(Notes._make(batch.notes), RunFirst))
        return self.game.body, (batch.state, problem, *streams, *room, *results)

    def _streams(self, purpose: Purpose, queue: Queue, runs: Any, n_runs: int) -> Any:
        """Seed the streams of a purpose, and return where each run finds them."""
        words = queue.empty((n_runs, max(1, purpose.n_streams), 4), np.uint64)
        name = name_of(self.instances.seed, self.instances.problem_id, purpose.name)
        work = Local(Shared(queue.put(np.zeros(N_WORK, np.uint64))))
        named = rebuilt(name, lambda part: Shared(queue.put(part)))
        launch(queue, seed_run, (named, RunFirst(runs), work, RunFirst(words)), n_runs)
        if purpose.n_streams:
            return RunFirst(words)
        return rebuilt(Stream(words), lambda _: Local(RunFirst(words.reshape(n_runs, 4))))

    def _place(self, value: Any, queue: Queue, n_runs: int) -> Any:
        if not isinstance(value, np.ndarray):
            return Shared(value)
        if not value.flags.writeable:
            return Shared(queue.put(value))
        return Local(Shared(queue.put(value))) if self._is_small(value) else RunLast(queue.spread(value, n_runs))

    def _is_small(self, array: NDArray[Any]) -> bool:
        return 0 < array.size <= SMALL and not self.is_asked_afterwards


class Batch:
    """Runs that the device plays."""

    def __init__(self, table: Table, queue: Queue, first_run: int, n_runs: int) -> None:
        self.table, self.queue, self.n_runs = table, queue, n_runs
        self.regret = queue.filled((n_runs, table.task.rounds.size), np.nan)  # so that a run which failed shows
        self.notes = [queue.empty((n_runs, *array.shape), array.dtype) for array in table.notes]
        self.state: Any = None
        self.tree: Any = None  # kept until all is played, since the device works on it
        # Of a problem that is not ours, which may change unsaid; realised regret asks for no means.
        is_realised = table.task.regret == "realised"
        self.truth = None if is_realised else truth_of(table.instances.of(first_run), realised=False)

    def is_done(self) -> bool:
        """Tell whether all runs are played."""
        return self.queue.is_done()

    def wait(self) -> None:
        """Wait until all runs are played."""
        self.queue.wait()

    def results(self) -> Runs:
        """Return what came of it; regrets of a run that failed are NaN."""
        regret, notes = self.queue.get(self.regret), Notes._make(map(self.queue.get, self.notes))
        if self.truth is not None and np.isfinite(regret[0]).all():
            check_means(self.table.task.problem, [self.truth[0], *notes.means[0]], self.truth)
        policy, measured, complaint = self.table.task.policy, [], ""
        if self.table.is_asked_afterwards:
            for state in self._states():
                measured.append(policy.measures(state))
                complaint = complaint or policy.complaint(state)
        measures = gathered(self.table.task.label, measured) if measured else {}
        return Runs(regret, self.queue.seconds(), measures, complaint, joined([notes]), "cuda")

    def _states(self) -> list[Any]:
        """Return what the policy has learnt in each run."""
        values = [
            self.queue.get(place.source) if isinstance(place, RunLast) else value
            for place, value in zip(leaves_of(self.state), leaves_of(self.table.state), strict=True)
        ]
        is_own = [isinstance(place, RunLast) for place in leaves_of(self.state)]

        def state_of(run: int) -> Any:
            own = iter(value[..., run] if each else value for value, each in zip(values, is_own, strict=True))
            return rebuilt(self.table.state, lambda _: next(own))

        return [state_of(run) for run in range(self.n_runs)]


def _placed_leaf(leaf: Leaf, queue: Queue, which: NDArray[np.int64]) -> Any:
    """Return where runs find an array or a number of their instances."""
    if leaf.is_shared:
        return Shared(queue.put(leaf.value) if isinstance(leaf.value, np.ndarray) else leaf.value)
    return RunLast(queue.put(leaf.value[..., which]))


def _says_something(policy: AnyPolicy) -> bool:
    """Tell whether a policy has something to say of its state after a run."""
    return any(getattr(type(policy), name) is not getattr(AnyPolicy, name) for name in ("measures", "complaint"))
