"""Name tasks by everything that decides their numbers, so that finished runs are found again and no others are."""

import hashlib
import os
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from corebandit.catalogue import is_listed
from corebandit.compiled.sources import UnknownSource, fingerprint
from corebandit.contracts.recipe import AnyPolicy, Problem, digest
from corebandit.experiments.engines.player import play_runs
from corebandit.experiments.task import Task, Wanted, drawn
from corebandit.games.kinds import game_of
from corebandit.randomness.stream import stream


def key_of(task: Task, environment: str) -> str:
    """Return the key of a task; `environment` is that of the engine which plays it."""
    return digest(
        {
            "code": _code_of(task.problem, task.policy, task.told_horizon),
            "environment": environment,
            "foreign versions": task.policy.outside_versions(),
            "problem": task.problem.describe(),
            "policy": task.policy.describe(),
            "rounds": task.checkpoints,
            "seed": task.seed,
            "regret": task.regret,
            "notes": [task.notes, task.actions],
            "horizon known": task.horizon_known,
        }
    )


def chunk_key(key: str, chunk: Wanted) -> str:
    """Return the key of a chunk, some runs of a task that has this key, which holds what is drawn for them.

    Problems may come from files: of ours the first instance tells, of others all of them do.
    """
    task, first, last = chunk
    problem_id = digest(task.problem.describe())
    runs = [first] if is_listed(task.problem) else range(first, last)
    instances = _contents([drawn(task.problem, problem_id, task.seed, run) for run in runs])
    return digest({"task": key, "runs": [first, last], "instances": instances})


def _code_of(problem: Problem, policy: AnyPolicy, horizon: int | None) -> str:
    """Identify what decides what happens in a run; where nobody can, by a name that never comes back."""
    instance = problem.draw(stream(0))
    state = policy.start_on(instance, horizon, 2)
    found = {play_runs, game_of(instance).loop.in_python, *policy.outside_code()}
    try:
        code = fingerprint(found.union(*map(_classes_in, (problem, instance, policy, state))))
    except UnknownSource:
        return os.urandom(16).hex()
    return f"{code} {_contents((state,))}"  # which may come from files


def _contents(values: Any) -> str:
    """Return a digest of the arrays, numbers and texts in nested tuples; of a model it takes the class alone."""
    content = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray) and value.dtype != object:
            said = f"{value.dtype} {value.shape}".encode() + np.ascontiguousarray(value).tobytes()
        elif isinstance(value, tuple):
            said = _contents(value).encode()
        elif value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
            said = f"{type(value).__name__} {value!r}".encode()
        else:
            said = type(value).__qualname__.encode()
        content.update(len(said).to_bytes(8, "little") + said)  # so that no two lists of values look alike
    return content.hexdigest()


def _classes_in(value: Any) -> set[type]:
    """Return the classes of all recipes and named tuples in a value, which may be one and may hold more."""
    if is_dataclass(value) and not isinstance(value, type):
        return {type(value)}.union(*(_classes_in(getattr(value, field.name, None)) for field in fields(value)))
    if isinstance(value, tuple | list):
        own = {type(value)} if hasattr(value, "_fields") else set()
        return own.union(*map(_classes_in, value))
    return set()
