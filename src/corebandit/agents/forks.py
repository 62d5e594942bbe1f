"""What becomes of agents when their process forks: the child's are others from then on.

A fork copies one thread alone, so locks that others hold stay locked for ever in the child, and what they were changing
is half changed. So every agent is held still while a process forks; the child's agents then get locks, ids and random
numbers of their own. What agents write to is held after them: an agent that is in use may wait for it.
"""

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

_forking = threading.RLock()  # one fork at a time, and no new agents meanwhile
_agents: "weakref.WeakSet[Any]" = weakref.WeakSet()
_held: list[Any] = []


class Care(NamedTuple):
    """What to do with something that agents use when their process forks."""

    hold: Callable[[], None]
    let_go: Callable[[], None]  # in the parent
    leave: Callable[[], None]  # in the child


_cares: list[Care] = []


def after_agents(care: Care) -> None:
    """Hold something in every fork to come, once all agents are held."""
    _cares.append(care)


def in_forks(agent: Any) -> None:
    """Take care of an agent in every fork to come."""
    with _forking:
        _agents.add(agent)


def _hold() -> None:
    _forking.acquire()
    for agent in list(_agents):
        agent._lock.acquire()
        _held.append(agent)
    for care in _cares:
        care.hold()


def _release() -> None:
    for care in reversed(_cares):
        care.let_go()
    while _held:
        _held.pop()._lock.release()
    _forking.release()


def _renew() -> None:
    global _forking
    _forking = threading.RLock()
    for care in _cares:
        care.leave()
    while _held:
        _held.pop()._become_another()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_renew)
