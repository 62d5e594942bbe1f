"""The beginning of a round: decisions counted, and what a policy is told and does before it is asked."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from corebandit.agents.steps import begin_decision, prepare_decision
from corebandit.contracts.state import IntArray
from corebandit.parts.rounds import UNKNOWN
from corebandit.randomness.stream import Stream

Round = tuple[int, int, IntArray]  # decisions made, left, and pending of each arm


class Rounds:
    """Decisions counted, and by option those that are pending, if anybody `wants_pending`.

    >>> rounds = Rounds()
    >>> rounds.wants_pending = True
    >>> for option in (0, 2, 2):
    ...     rounds.enter(option)
    >>> rounds.close(2)
    >>> rounds.decided, rounds.pending_of(4).tolist()
    (3, [1, 0, 1, 0])
    """

    wants_pending = False

    def __init__(self) -> None:
        self.decided = 0
        self._pending: IntArray = np.zeros(0, np.int64)

    def enter(self, options: Any) -> None:
        """Count a decision for an option, or for several at once."""
        self.decided += 1
        if self.wants_pending:
            self._count(options, 1)

    def enter_many(self, choices: Sequence[Any]) -> None:
        """Count decisions, each of which begins with its option."""
        if self.wants_pending:
            for choice in choices:
                self.enter(choice[0])
        else:
            self.decided += len(choices)

    def close(self, options: Any) -> None:
        """Let a decision be pending no longer."""
        if self.wants_pending:
            self._count(options, -1)

    def pending_of(self, n_options: int) -> IntArray:
        """Return how many decisions for each of so many options are pending, to be read only."""
        if self._pending.size < n_options:
            self._pending = np.pad(self._pending, (0, n_options - self._pending.size))
        return self._pending[:n_options]

    def _count(self, options: Any, times: int) -> None:
        self.pending_of(int(np.max(options)) + 1)
        self._pending[options] += times


class Beginning:
    """The optional methods `begin_round` and `prepare` of states such as this one, ready to be called."""

    def __init__(self, function: Callable[..., Callable[..., Any]], state: Any, n_arms: int, rng: Stream) -> None:
        self.is_told, self.prepares = hasattr(state, "begin_round"), hasattr(state, "prepare")
        self._tell: Callable[..., Any] = bool  # of nothing
        self._prepare: Callable[..., Any] = bool
        if self.is_told:
            self._tell = function(begin_decision, state, 0, UNKNOWN, np.zeros(n_arms, np.int64))
        if self.prepares:
            self._prepare = function(prepare_decision, state, rng)

    def tell(self, state: Any, coming: Round) -> None:
        """Tell a state of the coming round."""
        if self.is_told:
            self._tell(state, *coming)

    def begin(self, state: Any, coming: Round, rng: Stream) -> bool:
        """Tell a state of the coming round and let it prepare, and tell whether that may have changed anything."""
        self.tell(state, coming)
        if not self.prepares:
            return False
        changed = self._prepare(state, rng)
        return changed is None or bool(changed)  # one that does not say has
