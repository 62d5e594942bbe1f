"""Results in a folder: a Parquet file of regrets, notes, and a JSON file of the experiments that made them."""

import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from corebandit.contracts.atomic_files import digest_of, fits_its_digest, json_with_digest, make_folder, write_whole
from corebandit.contracts.errors import BadInput, DamagedFile
from corebandit.experiments.curve import Curve
from corebandit.experiments.frames import FRAME, NAMES
from corebandit.experiments.parcels import check_notes
from corebandit.games.notes import Notes

UNREADABLE = (
    *(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError, EOFError),
    *(zipfile.BadZipFile, zlib.error, pl.exceptions.PolarsError),
)
RESULTS, EXPERIMENTS, NOTES = "results.parquet", "experiments.json", "notes.npz"


def write_result(
    folder: Path, experiments: Sequence[Mapping[str, Any]], curves: Sequence[Curve], frame: pl.DataFrame
) -> None:
    """Write descriptions of experiments, their curves and the frame that shows these."""
    make_folder(folder)
    table = io.BytesIO()
    frame.write_parquet(table)
    write_whole(folder / RESULTS, table.getvalue())
    measured = [
        {**curve.names, "values": {name: values.tolist() for name, values in curve.measures.items()}}
        for curve in curves
        if curve.measures
    ]
    notes = _notes_to_bytes(curves)
    write_whole(folder / NOTES, notes)
    description = {
        "experiments": experiments,
        "cpu_seconds": [_facts(curve) for curve in curves],
        **({"measures": measured} if measured else {}),
        RESULTS: digest_of(table.getvalue()),
        NOTES: digest_of(notes),
    }
    write_whole(folder / EXPERIMENTS, json_with_digest(description, indent=1))


def _facts(curve: Curve) -> dict[str, Any]:
    """Return what is known of a curve besides its numbers."""
    facts = {**curve.names, "title": curve.title, "cpu_seconds": curve.cpu_seconds}
    return {**facts, "engine": curve.engine} if curve.engine else facts


def read_result(folder: Path) -> tuple[list[dict[str, Any]], list[Curve]]:
    """Return the descriptions of experiments and the curves that a folder holds."""
    for name in (RESULTS, EXPERIMENTS):
        if not (folder / name).is_file():
            raise BadInput(f"{folder} holds no result, as result.save writes it: there is no {name}")
    try:
        table, text = (folder / RESULTS).read_bytes(), (folder / EXPERIMENTS).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{folder / EXPERIMENTS} is damaged: {error}") from error
    try:
        description = json.loads(text)
        is_whole = "digest" not in description or (  # 0.4 wrote none
            fits_its_digest(description) and description[RESULTS] == digest_of(table)
        )
        notes = _notes_of(folder, description)
        frame = pl.read_parquet(io.BytesIO(table))
        if not is_whole or dict(frame.schema) != FRAME:
            raise DamagedFile("its content does not fit its digest")
        return description["experiments"], list(_curves(frame, description, notes))
    except UNREADABLE as error:
        raise DamagedFile(f"{folder} holds a result that is damaged: {str(error).partition(chr(10))[0]}") from error


def _notes_to_bytes(curves: Sequence[Curve]) -> bytes:
    """Return the notes of all curves by their places; means that several share are written once."""
    arrays: dict[str, Any] = {}
    first: dict[str, int] = {}
    for place, curve in enumerate(curves):
        for name, values in curve.notes._asdict().items() if curve.notes else ():
            original = first.setdefault(digest_of(values.tobytes()), place) if name == "means" else place
            arrays[f"{place} {name}"] = values if original == place else np.array(original)
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


def _notes_of(folder: Path, description: Mapping[str, Any]) -> dict[int, Notes]:
    """Return the notes by the places of curves; earlier versions wrote none."""
    if NOTES not in description:
        return {}
    content = (folder / NOTES).read_bytes()
    if digest_of(content) != description[NOTES]:
        raise DamagedFile(f"{NOTES} does not fit its digest")
    with np.load(io.BytesIO(content), allow_pickle=False) as saved:
        arrays = {name: saved[name] for name in saved}
    noted = {}
    for place in sorted({int(name.partition(" ")[0]) for name in arrays}):
        own = {name: arrays[f"{place} {name}"] for name in Notes._fields}
        if own["means"].ndim == 0:
            own["means"] = arrays[f"{own['means']} means"]
        noted[place] = Notes(**own)
    return noted


def _curves(frame: pl.DataFrame, description: Mapping[str, Any], noted: Mapping[int, Notes]) -> Iterator[Curve]:
    """Yield the curves that were saved as a frame and a description."""
    titles = {(one["name"], one.get("part", ""), one["label"]): one["title"] for one in description["experiments"]}
    known = {tuple(row[name] for name in NAMES): row for row in description["cpu_seconds"]}
    measured = {tuple(row[name] for name in NAMES): row["values"] for row in description.get("measures", ())}
    for place, (key, rows) in enumerate(frame.group_by(*NAMES, maintain_order=True)):
        experiment, part, problem, policy = (str(name) for name in key)
        rounds = rows["round"].unique(maintain_order=True).to_numpy()
        regret = rows["regret"].to_numpy().reshape(-1, rounds.size)
        places = np.repeat(np.arange(len(regret)), rounds.size), np.tile(rounds, len(regret))
        if not all(map(np.array_equal, places, (rows["run"].to_numpy(), rows["round"].to_numpy()))):
            raise DamagedFile(f"the rows of {policy} are not run after run, round after round")
        measures = {name: np.array(values, np.float64) for name, values in measured.get(key, {}).items()}
        if any(values.shape != (len(regret),) for values in measures.values()):
            raise DamagedFile(f"the measures of {policy} are not one of each run")
        title = str(known[key].get("title", titles[experiment, part, problem]))
        if notes := noted.get(place):
            check_notes(notes, regret.shape)
        seconds, engine = float(known[key]["cpu_seconds"]), str(known[key].get("engine", ""))
        yield Curve(experiment, problem, policy, title, rounds, regret, seconds, measures, notes, engine, part)
