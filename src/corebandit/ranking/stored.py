"""Click models of several queries in a JSON file: {query: {"CM": {"attraction": [...]}, "PBM": {...}}}."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

from corebandit.ranking.models import CLICK_MODELS, ClickModel
from corebandit.validate import unknown


def write_models(path: str | PathLike[str], models: Mapping[Any, Mapping[str, ClickModel]]) -> None:
    """Write the models of each query, by name; a file that ends in .gz is compressed."""
    plain = {}
    for query, of_query in models.items():
        described = {name: model.describe() for name, model in of_query.items()}
        plain[str(query)] = {
            name: {key: value for key, value in parameters.items() if key != "name"}
            for name, parameters in described.items()
        }
    text = json.dumps(plain).encode()
    # mtime=0: the same models make the same file
    Path(path).write_bytes(gzip.compress(text, mtime=0) if Path(path).suffix == ".gz" else text)


def read_models(path: str | PathLike[str]) -> dict[str, dict[str, ClickModel]]:
    """Read the models of each query, by name."""
    content = Path(path).read_bytes()
    try:
        plain = json.loads(gzip.decompress(content) if Path(path).suffix == ".gz" else content)
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"{path} must be a JSON file of click models: {error}") from None
    if not isinstance(plain, dict) or not all(isinstance(of_query, dict) for of_query in plain.values()):
        raise ValueError(f'{path} must hold click models as {{query: {{"CM": {{"attraction": [...]}}, ...}}}}')
    return {
        query: {name: _model(f"{path}, query {query}", name, parameters) for name, parameters in of_query.items()}
        for query, of_query in plain.items()
    }


def _model(where: str, name: str, parameters: Any) -> ClickModel:
    try:
        if name not in CLICK_MODELS:
            raise unknown("click model", name, CLICK_MODELS)
        wanted = {field.name for field in fields(CLICK_MODELS[name])}
        if not isinstance(parameters, dict) or set(parameters) != wanted:
            given = ", ".join(sorted(parameters)) if isinstance(parameters, dict) else repr(parameters)
            raise ValueError(f"{name} needs {', '.join(sorted(wanted))}, not {given}")
        return CLICK_MODELS[name](**parameters)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
