"""Chunks and runs as data: what is sent to another process or machine, and what is kept in files.

A chunk travels as JSON, runs as bytes that carry a digest.
"""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from corebandit.catalogue import policy_from, problem_from
from corebandit.contracts.atomic_files import sealed, unsealed
from corebandit.contracts.errors import DamagedFile
from corebandit.experiments.chunks import Chunk, Runs

UNREADABLE = (OSError, ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile)
MEASURE = "measure "  # begins the names of measures


def chunk_to_dict(chunk: Chunk) -> dict[str, Any]:
    """Return a chunk, ready for JSON."""
    return {
        "problem": chunk.problem.describe(),
        "policy": chunk.policy.describe(),
        "label": chunk.label,
        "rounds": list(chunk.checkpoints),
        "seed": chunk.seed,
        "regret": chunk.regret,
        "runs": [chunk.first, chunk.last],
    }


def chunk_from_dict(content: Mapping[str, Any]) -> Chunk:
    """Return the chunk that was sent; its problem and its policy must be `catalogue.is_listed`."""
    problem, policy = problem_from(content["problem"]), policy_from(content["policy"])
    rounds, (first, last) = tuple(content["rounds"]), content["runs"]
    return Chunk(problem, policy, content["label"], rounds, content["seed"], content["regret"], first, last)


def runs_to_bytes(key: str, runs: Runs) -> bytes:
    """Return the runs of a chunk, with its key."""
    content = io.BytesIO()
    arrays: dict[str, Any] = {f"{MEASURE}{name}": values for name, values in runs.measures.items()}
    np.savez(content, regret=runs.regret, cpu_seconds=np.array(runs.cpu_seconds), key=np.array(key), **arrays)
    return sealed(content.getvalue())


def runs_from_bytes(key: str, shape: tuple[int, int], content: bytes) -> Runs:
    """Return the runs of a chunk of this key and shape, or raise DamagedFile if these are not."""
    try:
        with np.load(io.BytesIO(unsealed(content)), allow_pickle=False) as saved:
            regret, seconds, own_key = saved["regret"], float(saved["cpu_seconds"]), str(saved["key"])
            measures = {name.removeprefix(MEASURE): saved[name] for name in saved if name.startswith(MEASURE)}
    except UNREADABLE as error:
        raise DamagedFile(f"these are no runs of a chunk, or damaged ones: {error}") from error
    if own_key != key:
        raise DamagedFile("these are runs of another chunk")
    if not _is_sound(regret, shape) or not np.isfinite(regret).all():
        raise DamagedFile("these are not the regrets of a chunk")
    if not all(_is_sound(values, shape[:1]) for values in measures.values()):
        raise DamagedFile("these are not the measures of a chunk")
    return Runs(regret, seconds, measures)


def _is_sound(values: Any, shape: tuple[int, ...]) -> bool:
    return bool(values.shape == shape and values.dtype == np.float64)
