"""Agents that lose nothing: what `ask` and `tell` return is on disk.

Everything that changes an agent is an event. It is done in memory first and then written; whoever asked waits for the
disk outside the agent's lock, so threads wait together. From time to time all that makes the agent is copied and kept
as a snapshot, by a thread of its own. To open an agent is to read the last snapshot and to do again what came after it.
"""

import json
import threading
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Self, TypeVar, cast

from corebandit.agents.agent import Agent
from corebandit.agents.codec import in_json
from corebandit.agents.live_agent import LiveAgent
from corebandit.agents.log import frame_of_events
from corebandit.agents.ranking_agent import RankingAgent
from corebandit.agents.stores.opening import forget_stores, shut_store
from corebandit.agents.stores.sqlite import SqliteStore
from corebandit.agents.stores.store import Snapshot
from corebandit.contracts.atomic_files import json_with_digest
from corebandit.contracts.errors import BadInput, CannotWrite
from corebandit.contracts.validate import shortened

CLOSED = "it was closed"
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def _kept(method: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Let a method return only when what it did is on disk."""

    @wraps(method)
    def call(*given: Given.args, **named: Given.kwargs) -> Returned:
        agent = cast("Durable", given[0])
        agent._check_usable()
        try:
            try:
                return method(*given, **named)
            finally:
                agent._store.sync()
        except CannotWrite as error:
            agent._failure = str(error)
            raise
        except BadInput:
            raise  # nothing was half done
        except BaseException:
            agent._failure = "it was interrupted, and memory may be ahead of the disk"
            raise

    return call


class Durable(LiveAgent[Any, Any]):
    """What durable agents have besides deciding: a store, which is told everything."""

    _store: SqliteStore
    _name: str
    _failure = ""  # why it must be opened again
    _snapshots: threading.Thread | None = None

    def _attach(self, store: SqliteStore, name: str, n_events: int, snapshot_every: int, keep_log: bool) -> None:
        self._store, self._name, self._n_events = store, name, n_events
        self._snapshot_every, self._keep_log = snapshot_every, keep_log
        self._journal = self._take

    def _take(self, event: list[Any]) -> None:
        """Write down what happened; called in its order, under the agent's lock."""
        self._n_events += 1
        self._store.write(self._name, self._n_events, json.dumps(event, separators=(",", ":")))
        if self._n_events % self._snapshot_every == 0 and (self._snapshots is None or not self._snapshots.is_alive()):
            content, n_events = self._content(), self._n_events
            self._snapshots = threading.Thread(target=self._keep_snapshot, args=(content, n_events), daemon=True)
            self._snapshots.start()

    def _keep_snapshot(self, content: dict[str, Any], n_events: int) -> None:
        try:
            self._store.sync()  # no snapshot is ahead of its events
            self._store.keep(self._name, Snapshot(n_events, json_with_digest(in_json(content))))
            if not self._keep_log:
                self._store.trim(self._name)
        except (BadInput, OSError) as error:
            warnings.warn(
                f"no snapshot of agent {self._name!r} was kept, so it will open slowly: {error}", stacklevel=2
            )

    def _check_usable(self) -> None:
        if self._failure:
            raise BadInput(f"agent {shortened(self._name)} must be opened again: {self._failure}")

    def _become_another(self) -> None:
        super()._become_another()
        if self._failure == CLOSED:
            return
        self._journal = None
        self._failure = "this process was forked from the one that writes it; let that one decide"
        self._store.abandon()
        forget_stores()

    def __copy__(self) -> Self:
        """Refuse: an agent that is kept in one place is one agent."""
        raise BadInput("a durable agent is not copied: to_dict() says all that makes it, and Agent.from_dict() a twin")

    def snapshot(self) -> None:
        """Keep all that makes the agent now, so that it opens quickly; that happens by itself too."""
        self._check_usable()
        with self._lock:
            content, n_events = self._content(), self._n_events
        self._keep_snapshot(content, n_events)

    def close(self) -> None:
        """Keep a snapshot, and let others open the agent. Without it nothing is lost."""
        if self._failure == CLOSED:
            return
        if self._snapshots is not None:
            self._snapshots.join()
        if not self._failure:
            self.snapshot()
        self._failure, self._journal = CLOSED, None
        shut_store(self._store, self._name)

    def __enter__(self) -> Self:
        """Return the agent, for a `with`."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def log(self) -> Any:
        """Return all decisions as a polars frame: `read_log` says more."""
        self._store.sync()
        return frame_of_events(self._store.events(self._name))


class DurableAgent(Durable, Agent):
    """An `Agent` that `open_agent` opened: what it returns is on disk."""

    ask = _kept(Agent.ask)
    tell = _kept(Agent.tell)
    observe = _kept(Agent.observe)
    forget = _kept(Agent.forget)
    expire = _kept(Agent.expire)
    add_arm = _kept(Agent.add_arm)
    retire_arm = _kept(Agent.retire_arm)


class DurableRankingAgent(Durable, RankingAgent):
    """A `RankingAgent` that `open_ranking_agent` opened: what it returns is on disk."""

    ask = _kept(RankingAgent.ask)
    tell = _kept(RankingAgent.tell)
    observe = _kept(RankingAgent.observe)
    forget = _kept(RankingAgent.forget)
    expire = _kept(RankingAgent.expire)
    add_item = _kept(RankingAgent.add_item)
    retire_item = _kept(RankingAgent.retire_item)
