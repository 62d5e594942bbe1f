"""Agents that lose nothing: what `ask` and `tell` return is on disk.

Everything that changes an agent is an event. It is done in memory first and then written; whoever asked waits for the
disk outside the agent's lock, so threads wait together. From time to time all that makes the agent is copied and kept
as a snapshot, by a thread of its own. To open an agent is to read the last snapshot and to do again what came after it.
"""

import contextlib
import json
import os
import threading
import warnings
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Self, TypeVar, cast

from corebandit.agents.agent import Agent
from corebandit.agents.events import CHANGE
from corebandit.agents.live_agent import LiveAgent
from corebandit.agents.log import frame_of_events
from corebandit.agents.patient_json import patient_json_with_digest
from corebandit.agents.ranking_agent import RankingAgent
from corebandit.agents.settings import Clock
from corebandit.agents.stores.store import Snapshot, Store
from corebandit.contracts.errors import BadInput, CannotWrite
from corebandit.contracts.public_names import is_ours
from corebandit.contracts.recipe import AnyPolicy
from corebandit.contracts.validate import shortened

CLOSED = "it was closed"
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def _kept(method: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Let a method return only when what it did is on disk; threads wait for that together, outside its lock."""

    @wraps(method)
    def call(*given: Given.args, **named: Given.kwargs) -> Returned:
        agent, is_refused = cast("Durable", given[0]), True
        try:
            with agent._lock:
                agent._check_usable()
                is_refused = False
                try:
                    return method(*given, **named)
                except BaseException:
                    agent._distrust_what_is_half_done()  # before anyone else has the lock
                    raise
        finally:
            if not is_refused:
                agent._sync()

    return call


def _noted(learn: Callable[Given, None]) -> Callable[Given, None]:
    """Let an agent know that it learns: a policy that fails on its way may leave some of it, and nothing is written."""

    @wraps(learn)
    def call(*given: Given.args, **named: Given.kwargs) -> None:
        cast("Durable", given[0])._is_learning = True
        learn(*given, **named)

    return call


class Durable(LiveAgent[Any, Any]):
    """What durable agents have besides deciding: a store, which is told everything."""

    _store: Store
    _name: str
    _began_with = 0  # options, of those that it has
    _failure = ""  # why it must be opened again
    _snapshots: threading.Thread | None = None
    _is_learning = False  # something that is not written down yet

    def _attach(
        self, store: Store, name: str, n_events: int, snapshot_every: int, keep_log: bool, shut: Callable[..., None]
    ) -> None:
        self._store, self._name, self._n_events = store, name, n_events
        self._snapshot_every, self._keep_log = snapshot_every, keep_log
        self._keeping = threading.Lock()  # one snapshot at a time
        self._journal = self._take
        self._written, self._is_learning = self._mark(), False
        self._let_go = weakref.finalize(self, shut, waits=False)  # if nobody closes it

    def _take(self, event: list[Any]) -> None:
        """Write down what happened; called in its order, under the agent's lock."""
        text = json.dumps(event, separators=(",", ":"))
        self._n_events += 1
        self._store.write(self._name, self._n_events, text)
        self._written, self._is_learning = self._mark(), False
        if self._n_events % self._snapshot_every == 0 and (self._snapshots is None or not self._snapshots.is_alive()):
            content, n_events = self._content(), self._n_events
            self._snapshots = threading.Thread(target=self._keep_snapshot, args=(content, n_events), daemon=True)
            with contextlib.suppress(RuntimeError):  # there can be no more threads: another time
                self._snapshots.start()

    def _mark(self) -> tuple[Any, ...]:
        """Return what every change of the agent changes some of."""
        desk, ledger = self._desk, self._ledger
        return desk.n_observations, desk.rng.words.tobytes(), len(ledger.waiting), self._options.n_on_offer

    def _distrust_what_is_half_done(self) -> None:
        """Refuse all further calls if something was changed and not written down."""
        # A policy of ours that fails while it prepares has changed nothing.
        has_failed = self._desk.is_preparing and not is_ours(type(self.policy).__module__)
        self._desk.is_preparing = False
        if self._is_learning or has_failed or self._mark() != self._written:
            self._failure = self._failure or "it was interrupted, and memory may be ahead of the disk"

    def _sync(self) -> None:
        try:
            self._store.sync()
        except BaseException as error:
            self._failure = self._failure or str(error) or "it was interrupted while it waited for the disk"
            raise

    def _keep_snapshot(self, content: dict[str, Any], n_events: int) -> None:
        try:
            with self._keeping:
                self._store.sync()  # no snapshot is ahead of its events
                self._store.keep(self._name, Snapshot(n_events, patient_json_with_digest(content)))
                if not self._keep_log:
                    self._store.trim(self._name)
        except (BadInput, OSError) as error:
            warnings.warn(f"no snapshot of agent {self._name!r} was kept, so it opens slowly: {error}", stacklevel=2)

    def _content(self) -> dict[str, Any]:
        return {**super()._content(), "began_with": self._began_with}

    def _keep_first_snapshot(self) -> None:
        """Keep what the agent begins with: without it nothing that comes can be done again."""
        self._began_with = len(self._options.names or ())
        self._store.keep(self._name, Snapshot(0, patient_json_with_digest(self._content())))

    def _keep_changed(self) -> None:
        """Keep what became of the agent by a change, and that there was one, both or neither."""
        with self._lock:
            self._n_events += 1
            event = [CHANGE, self._clock(), self.policy.describe(), self.settings.describe()]
            snapshot = Snapshot(self._n_events, patient_json_with_digest(self._content()))
            self._store.keep(self._name, snapshot, json.dumps(event, separators=(",", ":")))

    def _check_usable(self) -> None:
        if self._failure:
            raise CannotWrite(f"agent {shortened(self._name)} must be opened again: {self._failure}")

    def _become_another(self) -> None:
        super()._become_another()
        if self._failure == CLOSED:
            return
        self._let_go.detach()
        self._journal = None
        self._failure = "this process was forked from the one that writes it; let that one decide"

    def __copy__(self) -> Self:
        """Refuse: an agent that is kept in one place is one agent."""
        raise BadInput("a durable agent is not copied: to_dict() says all that makes it, and Agent.from_dict() a twin")

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: AnyPolicy | None = None, *, clock: Clock | None = None) -> Self:
        """Refuse: what was loaded would be written nowhere."""
        raise BadInput("a durable agent is opened and not loaded: Agent.load(path) makes one that lives in memory")

    @classmethod
    def from_dict(cls, data: dict[str, Any], policy: AnyPolicy | None = None, *, clock: Clock | None = None) -> Self:
        """Refuse: what comes of it would be written nowhere."""
        raise BadInput("a durable agent is opened: Agent.from_dict(data) makes a twin that lives in memory")

    def snapshot(self) -> None:
        """Keep all that makes the agent now, so that it opens quickly; that happens by itself too."""
        with self._lock:
            self._check_usable()
            content, n_events = self._content(), self._n_events
        self._keep_snapshot(content, n_events)

    def close(self) -> None:
        """Keep a snapshot, and let others open the agent. Without it nothing is lost."""
        with self._lock:  # whoever comes later is refused
            if self._failure == CLOSED or not self._let_go.alive:
                return
            content, n_events = None if self._failure else self._content(), self._n_events
            self._failure, self._journal = CLOSED, None
        try:
            if self._snapshots is not None and self._snapshots.ident:
                self._snapshots.join()
            if content is not None:
                self._keep_snapshot(content, n_events)
        finally:
            self._shut()

    def _shut(self) -> None:
        """Let others open the agent, and its file, unless that was done."""
        if (left := self._let_go.detach()) is not None:
            left[1]()

    def __enter__(self) -> Self:
        """Return the agent, for a `with`."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def log(self) -> Any:
        """Return all decisions as a polars frame: `read_log` says more."""
        self._check_usable()
        self._store.sync()
        return frame_of_events(self._store.events(self._name))


class DurableAgent(Durable, Agent):
    """An `Agent` that `open_agent` opened: what it returns is on disk."""

    _learn = _noted(Agent._learn)
    ask = _kept(Agent.ask)
    ask_many = _kept(Agent.ask_many)
    observe_many = _kept(Agent.observe_many)
    tell = _kept(Agent.tell)
    observe = _kept(Agent.observe)
    forget = _kept(Agent.forget)
    expire = _kept(Agent.expire)
    add_arm = _kept(Agent.add_arm)
    retire_arm = _kept(Agent.retire_arm)


class DurableRankingAgent(Durable, RankingAgent):
    """A `RankingAgent` that `open_ranking_agent` opened: what it returns is on disk."""

    _learn = _noted(RankingAgent._learn)
    ask = _kept(RankingAgent.ask)
    tell = _kept(RankingAgent.tell)
    observe = _kept(RankingAgent.observe)
    forget = _kept(RankingAgent.forget)
    expire = _kept(RankingAgent.expire)
    add_item = _kept(RankingAgent.add_item)
    retire_item = _kept(RankingAgent.retire_item)
