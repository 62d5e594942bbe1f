"""Results in a folder: a JSON file of the experiments and of what is known of their runs, and the runs as arrays.

NumPy alone writes them and reads them, so that another machine can do the playing.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from corebandit.contracts.atomic_files import digest_of, fits_its_digest, json_with_digest, make_folder, write_whole
from corebandit.contracts.errors import BadInput, DamagedFile
from corebandit.experiments.chunk_file import check_runs, from_arrays, to_arrays
from corebandit.experiments.curve import Curve, curve_of, runs_of
from corebandit.experiments.task import together

UNREADABLE = (
    *(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError, EOFError),
    *(zipfile.BadZipFile, zlib.error),
)
EXPERIMENTS, RUNS = "experiments.json", "runs-{}-{}.npz"  # the latter by number and content
FACTS = ("cpu_seconds", "wall_seconds", "engine")
LARGEST = 15_000_000  # bytes of a file of runs, before they are compressed, if it holds several curves
MEANS = "note means"  # which policies on one problem share

Arrays = dict[str, NDArray[Any]]


def write_result(
    folder: Path,
    experiments: Sequence[Mapping[str, Any]],
    curves: Sequence[Curve],
    first_run: int = 0,
    kept_as: DTypeLike = np.float64,
) -> None:
    """Write descriptions of experiments and their curves, regrets as floats of this type."""
    make_folder(folder)
    files = {}
    for number, arrays in enumerate(_packed(curves, kept_as), start=1):
        content = io.BytesIO()
        np.savez_compressed(content, allow_pickle=False, **arrays)
        digest = digest_of(content.getvalue())
        files[name := RUNS.format(number, digest[:8])] = digest  # so none is replaced before all are there
        write_whole(folder / name, content.getvalue())
    known = [
        {"names": curve.names, "title": curve.title, **{fact: getattr(curve, fact) for fact in FACTS}}
        for curve in curves
    ]
    described = {"experiments": experiments, "curves": known, "first_run": first_run, "files": files}
    write_whole(folder / EXPERIMENTS, json_with_digest(described, indent=1))
    for left in folder.glob(RUNS.format("*", "*")):  # by a result that was here before
        if left.name not in files:
            left.unlink()


def read_result(folder: Path, *more: Path) -> tuple[list[dict[str, Any]], list[Curve]]:
    """Return the descriptions of experiments and the curves that folders hold, runs of the same curves joined."""
    experiments: list[dict[str, Any]] = []
    parts: dict[tuple[str, ...], list[tuple[int, Curve]]] = {}
    for each_folder in (folder, *more):
        described, curves, first_run = _read(each_folder)
        experiments = _merged(experiments, described, each_folder)
        for curve in curves:
            parts.setdefault(tuple(curve.names.values()), []).append((first_run, curve))
    return experiments, [_joined(each) for each in parts.values()]


def _merged(known: list[dict[str, Any]], more: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Return all experiments; those of one name must differ in the number of their runs alone, and have the larger."""
    places = {_place(each): place for place, each in enumerate(known)}
    merged = list(known)
    for each in more:
        if (place := places.get(_place(each))) is None:
            merged.append(each)
            continue
        for key in (*each, *merged[place]):
            if key != "runs" and each.get(key) != merged[place].get(key):
                raise BadInput(f"{folder} holds runs of another study: {key} of {each['name']} differs from before")
        merged[place] = {**each, "runs": max(each["runs"], merged[place]["runs"])}
    return merged


def _place(experiment: Mapping[str, Any]) -> tuple[str, ...]:
    return experiment["name"], experiment.get("part", ""), experiment["label"]


def _joined(parts: list[tuple[int, Curve]]) -> Curve:
    """Return the runs of one policy that were played in several parts."""
    parts.sort(key=lambda part: part[0])
    curves, expected = [curve for _, curve in parts], 0
    for first_run, curve in parts:
        name = curve.path
        if first_run != expected:
            what = f"lack the runs {expected} to {first_run - 1}" if first_run > expected else "have runs twice"
            raise BadInput(f"these folders {what} of {name}: Result.load takes all folders of a study, each once")
        if not np.array_equal(curve.rounds, curves[0].rounds):
            raise BadInput(f"the regrets of {name} were kept at other rounds in one folder than in another")
        expected += len(curve.regret)
    first = curves[0]
    runs = together(first.policy, [runs_of(curve) for curve in curves])
    return curve_of(first.names, first.title, first.rounds, runs) if len(curves) > 1 else first


def _packed(curves: Sequence[Curve], kept_as: DTypeLike) -> Iterator[Arrays]:
    """Yield what goes into one file after another: arrays, named by the place of their curve.

    Policies on one problem share the means of its arms: they are written once, and then their place is.
    """
    packed: Arrays = {}
    first: dict[str, int] = {}
    for place, curve in enumerate(curves):
        arrays = {"rounds": curve.rounds, **to_arrays(runs_of(curve)), "regret": curve.regret.astype(kept_as)}
        if MEANS in arrays:
            original = first.setdefault(digest_of(arrays[MEANS].tobytes()), place)
            arrays[MEANS] = arrays[MEANS] if original == place else np.array(original)
        if packed and sum(array.nbytes for array in (*packed.values(), *arrays.values())) > LARGEST:
            yield packed
            packed = {}
        packed |= {f"{place} {name}": array for name, array in arrays.items()}
    yield packed


def _read(folder: Path) -> tuple[list[dict[str, Any]], list[Curve], int]:
    """Return descriptions, curves, and the number of their first run."""
    if not (folder / EXPERIMENTS).is_file():
        raise BadInput(f"{folder} holds no result, as result.save writes it: there is no {EXPERIMENTS}")
    try:
        described = json.loads((folder / EXPERIMENTS).read_text(encoding="utf-8"))
        if not fits_its_digest(described):
            raise DamagedFile(f"{EXPERIMENTS} does not fit its digest")
        arrays: list[Arrays] = [{} for _ in described["curves"]]
        for name, digest in described["files"].items():
            content = (folder / name).read_bytes()
            if digest_of(content) != digest:
                raise DamagedFile(f"{name} does not fit its digest")
            with np.load(io.BytesIO(content), allow_pickle=False) as saved:
                for full in saved:
                    place, _, name = full.partition(" ")
                    arrays[int(place)][name] = saved[full]
        for own in arrays:
            if own.get(MEANS, np.zeros(1)).ndim == 0:
                own[MEANS] = arrays[int(own[MEANS])][MEANS]
        curves = [_curve(*pair) for pair in zip(described["curves"], arrays, strict=True)]
        return described["experiments"], curves, int(described["first_run"])
    except UNREADABLE as error:
        raise DamagedFile(f"{folder} holds a result that is damaged: {str(error).partition(chr(10))[0]}") from error


def _curve(known: Mapping[str, Any], arrays: Arrays) -> Curve:
    rounds, regret = arrays.pop("rounds"), arrays["regret"].astype(np.float64)
    runs = from_arrays({**arrays, "regret": regret}, **{fact: known[fact] for fact in FACTS})
    check_runs(runs, (len(regret), rounds.size))
    return curve_of(known["names"], known["title"], rounds, runs)
