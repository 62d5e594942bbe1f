"""What becomes of agents when their process forks: the child's are others from then on.

A fork copies one thread alone, so locks that others hold stay locked for ever in the child, and what they were changing
is half changed. So every agent is held still while a process forks; the child's agents then get locks, ids and random
numbers of their own.
"""

import os
import threading
import weakref
from typing import Any

_forking = threading.RLock()  # one fork at a time, and no new agents meanwhile
_agents: "weakref.WeakSet[Any]" = weakref.WeakSet()
_held: list[Any] = []


def in_forks(agent: Any) -> None:
    """Take care of an agent in every fork to come."""
    with _forking:
        _agents.add(agent)


def _hold() -> None:
    _forking.acquire()
    for agent in list(_agents):
        agent._lock.acquire()
        _held.append(agent)


def _release() -> None:
    while _held:
        _held.pop()._lock.release()
    _forking.release()


def _renew() -> None:
    global _forking
    _forking = threading.RLock()
    while _held:
        _held.pop()._become_another()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_renew)
