"""What a kind of game is: which problems are of it, who can play, what a run needs, and the loop that plays it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.contracts.state import IntArray
from corebandit.games.notes import Notes, new_notes
from corebandit.parts.rounds import UNKNOWN
from corebandit.randomness.stream import stream, streams

NO_ROUNDS = np.zeros(1, np.int64)

Identity = tuple[int, str, int]  # what the streams of a run are made from: seed, problem, run


class Purpose(NamedTuple):
    """What a stream of a run is for; several of one purpose are one array of words `(n_streams, 4)`."""

    name: str
    n_streams: int = 0  # 0: it is one `Stream`


class Game(ABC):
    """A kind of game. A new one is a file like its neighbours, and a line in `kinds.py`.

    `loop(state, problem, *needs, rounds, horizon, realised, regret, notes)` plays `rounds[-1]` rounds and fills
    `regret` with the total up to each of `rounds`, and `notes` with what else is worth keeping; `horizon` is what the
    policy is told of it. What it needs of a run are `streams` and `room`. Its inside is `body`, which takes after the
    needs a `workroom` too, so that it allocates nothing and can be compiled for any machine. On a processor the loop
    allocates that itself: a compiler knows then that nobody else writes there, which saves a tenth of the cheapest
    policies' time.
    """

    loop: EntryPoint
    body: Callable[..., None]

    @abstractmethod
    def suits(self, instance: Any) -> bool:
        """Tell whether an instance of a problem is of this kind."""

    @abstractmethod
    def refusal(self, policy: AnyPolicy, problem: Problem) -> str:
        """Say why a policy cannot play a problem of this kind, or nothing if it can."""

    @abstractmethod
    def streams(self, instance: Any) -> tuple[Purpose, ...]:
        """Return what a run needs streams for, in the order in which the loop takes them."""

    def room(self, instance: Any) -> tuple[Any, ...]:
        """Return the room that the loop takes after the streams."""
        return ()

    @abstractmethod
    def workroom(self, instance: Any) -> tuple[Any, ...]:
        """Return the room that the body takes after that."""

    def needs(self, instance: Any, identity: Identity) -> tuple[Any, ...]:
        """Return the streams of a run and the room that the loop needs."""
        made = (
            streams(purpose.n_streams, *identity, purpose.name)
            if purpose.n_streams
            else stream(*identity, purpose.name)
            for purpose in self.streams(instance)
        )
        return (*made, *self.room(instance))

    @abstractmethod
    def sizes(self, instance: Any) -> tuple[int, ...]:
        """Return what a policy's `warm_up_rounds` takes besides the horizon."""

    def choices(self, instance: Any) -> tuple[int, int]:
        """Return how many arms there are to choose among, and how many are chosen in a round."""
        return instance.n_arms, 1

    def notes(self, instance: Any, n_checkpoints: int, n_rounds: int = 0) -> Notes:
        """Return notes with nothing in them, with room for the actions of `n_rounds`."""
        n_arms, n_positions = self.choices(instance)
        return new_notes(n_checkpoints, n_arms, n_rounds, n_positions)

    def n_observations(self, instance: Any, horizon: int) -> int:
        """Return how many rewards a state must have room for."""
        return horizon

    def check(self, policy: AnyPolicy, problem: Problem) -> None:
        """Raise BadInput if a policy cannot play a problem of this kind."""
        if sentence := self.refusal(policy, problem):
            raise BadInput(sentence)

    def without_rounds(self, instance: Any, policy: AnyPolicy, horizon: int | None) -> tuple[Any, ...]:
        """Return arguments to play no round at all: calling the loop with them only compiles it."""
        state = policy.start_on(instance, horizon, 2)
        needs, notes = self.needs(instance, (0, "", 0)), self.notes(instance, 1)
        return (state, instance, *needs, NO_ROUNDS, UNKNOWN, False, np.zeros(1), notes)


def all_arms(n_arms: int) -> IntArray:
    """Return all arms, to be read only: whoever plays many runs may let them share it."""
    arms = np.arange(n_arms)
    arms.flags.writeable = False
    return arms


def nothing_pending(n_arms: int) -> IntArray:
    """Return that no decision waits for its reward, to be read only."""
    pending = np.zeros(n_arms, np.int64)
    pending.flags.writeable = False
    return pending


def no_rankings(policy: AnyPolicy, problem: Problem) -> str:
    """Say why a policy that ranks cannot play a problem of another kind."""
    wanted = "choose a problem that does, such as ranking, or a policy for arms, such as CORe"
    return f"{type(policy).__name__} ranks items, but {problem.label} shows no rankings: {wanted}"
