"""Runs as arrays by name, and as the bytes of a file that carry a digest."""

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corebandit.contracts.atomic_files import sealed, unsealed
from corebandit.contracts.errors import DamagedFile
from corebandit.experiments.task import Runs
from corebandit.games.notes import Notes

UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error)
MEASURE, NOTE = "measure ", "note "  # begin the names of measures and notes
FACTS = ("cpu_seconds", "complaint", "engine", "wall_seconds")


def to_arrays(runs: Runs) -> dict[str, NDArray[Any]]:
    """Return the arrays of runs by name."""
    notes = {} if runs.notes is None else {f"{NOTE}{name}": values for name, values in runs.notes._asdict().items()}
    return {"regret": runs.regret, **{f"{MEASURE}{name}": values for name, values in runs.measures.items()}, **notes}


def from_arrays(arrays: Mapping[str, NDArray[Any]], **facts: Any) -> Runs:
    """Return the runs that `to_arrays` made arrays of, with the facts that are known of them besides."""
    measures = {name.removeprefix(MEASURE): arrays[name] for name in arrays if name.startswith(MEASURE)}
    noted = {name.removeprefix(NOTE): arrays[name] for name in arrays if name.startswith(NOTE)}
    return Runs(arrays["regret"], measures=measures, notes=Notes(**noted) if noted else None, **facts)


def chunk_to_bytes(key: str, runs: Runs) -> bytes:
    """Return the runs of a chunk, with its key."""
    content, facts = io.BytesIO(), {name: getattr(runs, name) for name in FACTS}
    about = np.array(json.dumps({"key": key, **facts}))
    np.savez_compressed(content, allow_pickle=False, about=about, **to_arrays(runs))
    return sealed(content.getvalue())


def chunk_from_bytes(content: bytes) -> tuple[str, Runs]:
    """Return the key of a chunk and its runs, or raise DamagedFile."""
    try:
        with np.load(io.BytesIO(unsealed(content)), allow_pickle=False) as saved:
            about = json.loads(str(saved["about"]))
            key, facts = about["key"], {name: about[name] for name in FACTS}
            runs = from_arrays({name: saved[name] for name in saved if name != "about"}, **facts)
    except UNREADABLE as error:
        raise DamagedFile(f"these are no runs of a chunk, or damaged ones: {error}") from error
    return key, runs


def check_runs(runs: Runs, shape: tuple[int, int]) -> None:
    """Raise DamagedFile unless these can be so many runs with so many checkpoints."""
    if not _is_sound(runs.regret, shape) or not np.isfinite(runs.regret).all():
        raise DamagedFile(f"regrets must be finite numbers of the shape {shape}, not {_shape(runs.regret)}")
    for name, values in runs.measures.items():
        if not _is_sound(values, shape[:1]):
            raise DamagedFile(f"the measure {name} must be of the shape {shape[:1]}, not {_shape(values)}")
    if runs.notes is not None:
        check_notes(runs.notes, shape)


def check_notes(notes: Notes, shape: tuple[int, int]) -> None:
    """Raise DamagedFile unless notes can be those of runs of this shape, and fit each other."""
    n_runs, n_arms = shape[0], notes.pulls.shape[-1] if np.ndim(notes.pulls) else 0
    wanted = ((shape, "iu"), (shape, "f"), ((n_runs, n_arms), "iu"), ((n_runs, n_arms), "f"))
    for (wanted_shape, kinds), (name, values) in zip(wanted, notes._asdict().items(), strict=False):
        if not isinstance(values, np.ndarray) or values.shape != wanted_shape or values.dtype.kind not in kinds:
            raise DamagedFile(f"the note {name} must be of the shape {wanted_shape}, not {_shape(values)}")
    actions = notes.actions
    if (
        not isinstance(actions, np.ndarray)
        or actions.ndim != 3
        or len(actions) != n_runs
        or actions.dtype.kind not in "iu"
    ):
        raise DamagedFile(f"the actions must be of {n_runs} runs, rounds and positions, not {_shape(actions)}")


def _is_sound(values: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(values, np.ndarray) and values.shape == shape and values.dtype == np.float64


def _shape(values: Any) -> str:
    return f"{values.dtype} {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__
