"""Name chunks by everything that decides their numbers, so that a finished one is found again and no other is."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from corebandit.catalogue import is_listed
from corebandit.compiled.sources import UnknownSource, fingerprint
from corebandit.contracts.recipe import AnyPolicy, Problem, digest
from corebandit.experiments.chunks import Chunk, drawn
from corebandit.experiments.engines.player import play_chunk
from corebandit.games.kinds import game_of
from corebandit.randomness.stream import stream


def chunk_keys(chunks: Sequence[Chunk], environment: str) -> list[str]:
    """Return a key for each chunk; `environment` is that of the engine which plays them."""
    codes: dict[tuple[int, int, int], str] = {}  # chunks share problems and policies
    problem_ids = {id(chunk.problem): digest(chunk.problem.describe()) for chunk in chunks}
    keys = []
    for chunk in chunks:
        played = (id(chunk.problem), id(chunk.policy), chunk.horizon)
        if played not in codes:
            codes[played] = code_of(chunk.problem, chunk.policy, chunk.horizon)
        keys.append(
            digest(
                {
                    "code": codes[played],
                    "environment": environment,
                    "foreign versions": chunk.policy.outside_versions(),
                    "problem": chunk.problem.describe(),
                    "policy": chunk.policy.describe(),
                    "rounds": chunk.checkpoints,
                    "seed": chunk.seed,
                    "regret": chunk.regret,
                    "runs": [chunk.first, chunk.last],
                    **({"actions": True} if chunk.actions else {}),
                    "instances": _instances(chunk, problem_ids[id(chunk.problem)]),
                }
            )
        )
    return keys


def _instances(chunk: Chunk, problem_id: str) -> str:
    """Identify what is drawn for the runs of a chunk, which may come from files: ours at the first, others at all."""
    runs = [chunk.first] if is_listed(chunk.problem) else range(chunk.first, chunk.last)
    return _contents([drawn(chunk.problem, problem_id, chunk.seed, run) for run in runs])


def code_of(problem: Problem, policy: AnyPolicy, horizon: int) -> str:
    """Identify what decides what happens in a run; where nobody can, by a name that never comes back."""
    instance = problem.draw(stream(0))
    state = policy.start_on(instance, horizon, 2)
    found = {play_chunk, game_of(instance).loop.in_python, *policy.outside_code()}
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
