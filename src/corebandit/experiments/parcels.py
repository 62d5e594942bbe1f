"""Chunks and runs as data: what is sent to another process or machine, and what is kept in files.

A chunk travels as JSON, runs as bytes that carry a digest.
"""

import io
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from corebandit.catalogue import in_todays_words, policy_from, problem_from
from corebandit.contracts.atomic_files import sealed, unsealed
from corebandit.contracts.errors import DamagedFile
from corebandit.experiments.chunks import Chunk, Runs
from corebandit.games.notes import Notes

UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error)
MEASURE, NOTE = "measure ", "note "  # begin the names of measures and notes


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
        **({"actions": True} if chunk.actions else {}),
    }


def chunk_from_dict(content: Mapping[str, Any]) -> Chunk:
    """Return the chunk that was sent; its problem and its policy must be `catalogue.is_listed`."""
    problem, policy = problem_from(content["problem"]), policy_from(in_todays_words(content["policy"]))
    rounds, (first, last) = tuple(content["rounds"]), content["runs"]
    names = (content["label"], rounds, content["seed"], content["regret"], first, last)
    return Chunk(problem, policy, *names, actions=content.get("actions", False))


def runs_to_bytes(key: str, runs: Runs) -> bytes:
    """Return the runs of a chunk, with its key."""
    content = io.BytesIO()
    arrays: dict[str, Any] = {f"{MEASURE}{name}": values for name, values in runs.measures.items()}
    if runs.notes is not None:
        arrays |= {f"{NOTE}{name}": values for name, values in runs.notes._asdict().items()}
    facts = {"cpu_seconds": np.array(runs.cpu_seconds), "key": np.array(key), "complaint": np.array(runs.complaint)}
    if runs.engine:
        facts["engine"] = np.array(runs.engine)
    np.savez_compressed(content, regret=runs.regret, **{**facts, **arrays})
    return sealed(content.getvalue())


def runs_from_bytes(key: str, shape: tuple[int, int], content: bytes) -> Runs:
    """Return the runs of a chunk of this key and shape, or raise DamagedFile if these are not."""
    try:
        with np.load(io.BytesIO(unsealed(content)), allow_pickle=False) as saved:
            own_key, complaint = str(saved["key"]), str(saved["complaint"])
            measures = {name.removeprefix(MEASURE): saved[name] for name in saved if name.startswith(MEASURE)}
            noted = {name.removeprefix(NOTE): saved[name] for name in saved if name.startswith(NOTE)}
            notes = Notes(**noted) if noted else None
            engine = str(saved["engine"]) if "engine" in saved else ""
            runs = Runs(saved["regret"], float(saved["cpu_seconds"]), measures, complaint, notes, engine)
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

    if runs.notes is not None:
        check_notes(runs.notes, shape)


def check_notes(notes: Notes, shape: tuple[int, int]) -> None:
    """Raise DamagedFile unless notes can be those of runs of this shape, and fit each other."""
    n_runs, n_arms = shape[0], notes.pulls.shape[-1] if np.ndim(notes.pulls) else 0
    wanted = ((shape, "iu"), (shape, "f"), ((n_runs, n_arms), "iu"), ((n_runs, n_arms), "f"))
    for (wanted_shape, kinds), (name, values) in zip(wanted, notes._asdict().items(), strict=False):
        if not isinstance(values, np.ndarray) or values.shape != wanted_shape or values.dtype.kind not in kinds:
            raise DamagedFile(f"the note {name} of a chunk must be of the shape {wanted_shape}, not {_shape(values)}")
    actions = notes.actions
    if (
        not isinstance(actions, np.ndarray)
        or actions.ndim != 3
        or len(actions) != n_runs
        or actions.dtype.kind not in "iu"
    ):
        raise DamagedFile(
            f"the actions of a chunk must be of {n_runs} runs, rounds and positions, not {_shape(actions)}"
        )


def _is_sound(values: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(values, np.ndarray) and values.shape == shape and values.dtype == np.float64


def _shape(values: Any) -> str:
    return f"{values.dtype} {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__
