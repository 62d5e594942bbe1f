"""Click models of several queries in a JSON file: {query: {"CM": {"attraction": [...]}, "PBM": {...}}}.

A query may also have "documents", the names that belong to the models' documents, in their order.
"""

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

from corebandit.clicks.models import CLICK_MODELS, ClickModel
from corebandit.contracts.atomic_files import write_whole
from corebandit.contracts.errors import BadInput, DamagedFile
from corebandit.contracts.recipe import is_added_later
from corebandit.contracts.validate import LONGEST_VALUE, shortened, unknown

DOCUMENTS = "documents"
GZIP = b"\x1f\x8b"  # how a compressed file starts
LARGEST = 500_000_000  # bytes of a file, unpacked: all seven models of 100,000 queries with 10 documents take a third


def write_models(
    path: str | PathLike[str],
    models: Mapping[Any, Mapping[str, ClickModel]],
    documents: Mapping[Any, Sequence[Any]] | None = None,
) -> None:
    """Write the models of each query, by name, and the names of its documents; a file ending in .gz is compressed."""
    plain: dict[str, dict[str, Any]] = {}
    for query, of_query in models.items():
        described = {name: model.describe() for name, model in of_query.items()}
        plain[str(query)] = {} if documents is None else {DOCUMENTS: [str(name) for name in documents[query]]}
        plain[str(query)] |= {
            name: {key: value for key, value in parameters.items() if key != "name"}
            for name, parameters in described.items()
        }
    text = json.dumps(plain).encode()
    # mtime=0: the same models make the same file
    write_whole(path, gzip.compress(text, mtime=0) if Path(path).suffix == ".gz" else text)


def read_models(path: str | PathLike[str]) -> dict[str, dict[str, ClickModel]]:
    """Read the models of each query, by name."""
    return {
        query: {
            name: _model(f"{path}, query {query}", name, parameters)
            for name, parameters in of_query.items()
            if name != DOCUMENTS
        }
        for query, of_query in _plain(Path(path)).items()
    }


def read_documents(path: str | PathLike[str]) -> dict[str, list[str]]:
    """Read the names of the documents of each query, in the order of its models; queries without names are left out."""
    return {query: of_query[DOCUMENTS] for query, of_query in _plain(Path(path)).items() if DOCUMENTS in of_query}


def _plain(path: Path) -> dict[str, dict[str, Any]]:
    """Return what is in the file, or raise BadInput if that cannot be click models."""
    if not path.is_file():
        fault = "is a folder" if path.is_dir() else "does not exist"
        raise BadInput(f"{path} must be a JSON file of click models, and {fault}")
    try:
        plain = json.loads(_content(path))
    except UnicodeDecodeError:
        raise DamagedFile(f"{path} must be a JSON file of click models, and is no text") from None
    except RecursionError:
        raise DamagedFile(f"{path} must be a JSON file of click models, and is nested too deep") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise DamagedFile(f"{path} must be a JSON file of click models: {error}") from None
    if not isinstance(plain, dict) or not all(isinstance(of_query, dict) for of_query in plain.values()):
        raise BadInput(f'{path} must hold click models as {{query: {{"CM": {{"attraction": [...]}}, ...}}}}')
    return plain


def _content(path: Path) -> bytes:
    """Return the bytes of a file, unpacked; a small file may unpack to more than there is memory."""
    with path.open("rb") as file:
        is_compressed = file.read(len(GZIP)) == GZIP
        file.seek(0)
        content = (gzip.GzipFile(fileobj=file) if is_compressed else file).read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadInput(f"it holds more than {LARGEST:,} bytes{' unpacked' if is_compressed else ''}")
    return content


def _model(where: str, name: str, parameters: Any) -> ClickModel:
    try:
        if name not in CLICK_MODELS:
            raise unknown("click model", name, CLICK_MODELS)
        wanted = {field.name for field in fields(CLICK_MODELS[name]) if not is_added_later(field)}
        known = {field.name for field in fields(CLICK_MODELS[name])}
        if not isinstance(parameters, dict) or not wanted <= set(parameters) <= known:
            given = ", ".join(sorted(parameters)) if isinstance(parameters, dict) else shortened(parameters)
            raise BadInput(f"{name} needs {', '.join(sorted(wanted))}, not {given[:LONGEST_VALUE]}")
        return CLICK_MODELS[name](**parameters)
    except ValueError as error:
        raise BadInput(f"{where}: {error}") from None
