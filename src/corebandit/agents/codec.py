"""What a saved agent's file is made of: a recipe, arms and arrays as JSON. Nothing in it is ever executed."""

import base64
import json
import os
import zlib
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corebandit.catalogue import in_todays_words, policy_named
from corebandit.contracts.atomic_files import fits_its_digest, json_with_digest, remove_leftovers, write_whole
from corebandit.contracts.errors import BadInput, DamagedFile
from corebandit.contracts.recipe import AnyPolicy
from corebandit.contracts.validate import check_count, shortened

FORMAT = 5  # the one that is written and read
LONGEST_MODEL = 1000  # characters of a model that an error shows: it is to be made again from them
AT_ONCE = 3 << 16  # bytes that are encoded while no other thread can run
MOST_BITS = 4096  # of an arm that is a number: Python reads back some more
# What restoring nonsense raises.
DAMAGED = (ValueError, LookupError, TypeError, AttributeError, OverflowError, MemoryError, RecursionError, zlib.error)


class Source(NamedTuple):
    """Where the content of an agent comes from, as errors name it."""

    name: str  # a path, or data
    method: str  # which reads it
    argument: str  # what that method calls it
    readers: Mapping[str, str]  # of each kind of agent, by how its options are listed


def write_content(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write what makes an agent to a file, whole or not at all, with a digest."""
    write_whole(path, json_with_digest(content))
    target = Path(path).resolve()
    remove_leftovers(target.parent, target.name)


def read_content(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what makes an agent, as a file has it."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError, MemoryError) as error:
        raise DamagedFile(f"{os.fspath(path)} is not a saved agent, or damaged") from error
    return _checked(os.fspath(path), content, is_file=True)


def copied_content(data: Any) -> dict[str, Any]:
    """Return a copy of what makes an agent, as JSON would bring it back."""
    if not isinstance(data, dict):
        raise BadInput(f"data must be a dict that to_dict() returned, not {shortened(data)}")
    try:
        content = json.loads(json.dumps(data))
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        raise BadInput(f"data must be what to_dict() returned, which is plain JSON: {error}") from error
    return _checked("data", content, is_file=False)


def _checked(name: str, content: Any, *, is_file: bool) -> dict[str, Any]:
    """Return what makes an agent if it has a policy, is of a format that this version reads, and fits its digest."""
    if not isinstance(content, dict) or "format" not in content or "policy" not in content:
        raise DamagedFile(f"{name} is not a saved agent, or damaged")
    version = content["format"]
    if version != FORMAT:
        raise DamagedFile(f"{name} has format {shortened(version)}; this version reads format {FORMAT}")
    if (is_file or "digest" in content) and not fits_its_digest(content):
        raise DamagedFile(f"{name} is damaged: its content does not fit its digest")
    return content


def policy_from_json(description: Any, given: AnyPolicy | None, source: Source) -> AnyPolicy:
    """Return the policy that was saved: the one given, or one of the package's."""
    description = in_todays_words(description, given)
    if given is not None:
        if not isinstance(given, AnyPolicy):
            hint = ": say EstimatorCORe(...) around it" if hasattr(given, "fit") else ""
            raise BadInput(f"policy must be a recipe such as CORe(), not {shortened(given)}{hint}")
        if not given.is_described_by(description):
            different = "; ".join(_differences("", description, given.describe()))
            if isinstance(description, dict) and description.get("name") != given.name:
                different = f"it was {description.get('name')}, not {given.name}"
            way_out = "an agent without a journal cannot learn again: make another, and let it observe_many(past data)"
            if source.method == "open_agent":
                way_out = "to change it, open the agent with change=True: it then learns again from its journal"
            raise BadInput(f"policy must be the one that was saved, but {different}; {way_out}")
        return given
    if not isinstance(description, dict) or "name" not in description:
        raise BadInput(f"the saved policy must be a table with a name, not {description!r}")
    name = description["name"]
    parameters = {key: value for key, value in description.items() if key != "name"}
    cls = policy_named(name)
    call = f"{source.method}({source.argument}, policy={name}(...))"
    if cls is None:
        raise BadInput(f"the saved policy {name!r} is not part of corebandit: {call} needs it")
    if not cls.can_be_rebuilt:
        raise BadInput(
            f"the saved policy {name!r} is made around an object, which no file holds: {call} needs it as it was, "
            f"{shortened(parameters, LONGEST_MODEL)}"
        )
    try:
        return cls(**parameters)
    except TypeError as error:
        raise BadInput(f"the saved policy {name!r} does not fit this version: {error}") from error


def _differences(where: str, saved: Any, given: Any) -> Iterator[str]:
    """Say where two descriptions differ: refit was 'geometric', is 1."""
    if isinstance(saved, dict) and isinstance(given, dict):
        for key in dict.fromkeys([*saved, *given]):
            if key != "versions":
                yield from _differences(f"{where}.{key}".lstrip("."), saved.get(key), given.get(key))
    elif isinstance(saved, list) and isinstance(given, list) and len(saved) == len(given):
        for index, (one, other) in enumerate(zip(saved, given, strict=True)):
            yield from _differences(f"{where}[{index}]", one, other)
    elif saved != given:
        yield f"{where} was {shortened(saved)}, is {shortened(given)}"


def arm_to_json(arm: Any) -> Any:
    """Return the arm as JSON, or say why it cannot be saved."""
    if isinstance(arm, int) and arm.bit_length() > MOST_BITS:
        raise BadInput(f"cannot save arm {shortened(arm)}: numbers must have at most {MOST_BITS} bits")
    if arm is None or isinstance(arm, str | bool | int | float):
        return arm
    if isinstance(arm, tuple):
        return {"tuple": [arm_to_json(part) for part in arm]}
    raise BadInput(
        f"cannot save arm {shortened(arm)}: only strings, numbers, booleans, None and tuples of these can be saved"
    )


def arm_from_json(arm: Any) -> Hashable:
    """Return the arm that was saved."""
    return tuple(arm_from_json(part) for part in arm["tuple"]) if isinstance(arm, dict) else arm


def in_json(content: Any) -> Any:
    """Return content with every array in it as JSON.

    What takes time to make is a function that is called now, or an iterator: `patient_json` makes no list of it.
    """
    if callable(content):
        return in_json(content())
    if isinstance(content, Iterator):
        content = list(content)
    if isinstance(content, np.ndarray):
        return array_to_json(content)
    if isinstance(content, dict):
        return {key: in_json(value) for key, value in content.items()}
    is_list = isinstance(content, list) and any(isinstance(part, np.ndarray | dict) for part in content)
    return [in_json(part) for part in content] if is_list else content


def array_to_json(array: Any) -> dict[str, Any]:
    """Return the array as JSON, to the last bit."""
    packed = memoryview(zlib.compress(array.tobytes()))
    parts = [base64.b64encode(packed[start : start + AT_ONCE]) for start in range(0, len(packed), AT_ONCE)]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "zlib": b"".join(parts).decode()}


def array_from_json(saved: dict[str, Any]) -> Any:
    """Return an array of numbers that was saved, in the kind that features have."""
    array = np.empty([check_count("shape", length, at_least=0) for length in saved["shape"]])
    fill_from_json(array, saved)
    return array


def fill_from_json(array: Any, saved: dict[str, Any]) -> None:
    """Fill `array` with the one that was saved, which must be of its kind, whatever its data would expand to."""
    if [saved["dtype"], saved["shape"]] != [str(array.dtype), list(array.shape)]:
        raise DamagedFile(f"an array of {saved['dtype']} {saved['shape']} should be {array.dtype} {list(array.shape)}")
    unpacked = zlib.decompressobj().decompress(base64.b64decode(saved["zlib"]), max_length=array.nbytes + 1)
    if len(unpacked) != array.nbytes:
        raise DamagedFile(f"an array of {array.nbytes} bytes has other data")
    array[...] = np.frombuffer(unpacked, array.dtype).reshape(array.shape)
