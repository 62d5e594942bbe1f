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
    facts = {"cpu_seconds": np.array(runs.cpu_seconds), "key": np.array(key), "complaint": np.array(runs.complaint)}
    np.savez(content, regret=runs.regret, **{**facts, **arrays})
    return sealed(content.getvalue())


def runs_from_bytes(key: str, shape: tuple[int, int], content: bytes) -> Runs:
    """Return the runs of a chunk of this key and shape, or raise DamagedFile if these are not."""
    try:
        with np.load(io.BytesIO(unsealed(content)), allow_pickle=False) as saved:
            own_key, complaint = str(saved["key"]), str(saved["complaint"])
            measures = {name.removeprefix(MEASURE): saved[name] for name in saved if name.startswith(MEASURE)}
            runs = Runs(saved["regret"], float(saved["cpu_seconds"]), measures, complaint)
    except UNREADABLE as error:
        raise DamagedFile(f"these are no runs of a chunk, or damaged ones: {error}") from error
    if own_key != key:
        raise DamagedFile("these are runs of another chunk")
    check_runs(runs, shape)
    return runs


def check_runs(runs: Runs, shape: tuple[int, int]) -> None:
    """Raise DamagedFile unless these can be the runs of a chunk of this shape."""
    if not _is_sound(runs.regret, shape) or not np.isfinite(runs.regret).all():
        raise DamagedFile(f"regrets of a chunk must be finite numbers of the shape {shape}, not {_shape(runs.regret)}")
    for name, values in runs.measures.items():
        if not _is_sound(values, shape[:1]):
            raise DamagedFile(f"the measure {name} of a chunk must be of the shape {shape[:1]}, not {_shape(values)}")


def _is_sound(values: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(values, np.ndarray) and values.shape == shape and values.dtype == np.float64


def _shape(values: Any) -> str:
    return f"{values.dtype} {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__
