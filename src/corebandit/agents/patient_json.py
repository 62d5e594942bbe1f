"""JSON of much, piece by piece: whoever makes a long text in one call lets no other thread run meanwhile.

Nor are there lists of all that it is made of, which Python would soon look through for garbage, and all threads wait.
"""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from corebandit.agents.codec import array_to_json
from corebandit.contracts.atomic_files import digest_of

LONGEST_LIST = 50  # parts that are written in one call
LONGEST_TEXT = 1 << 16  # characters


def patient_json_with_digest(content: dict[str, Any]) -> str:
    """Return `json_with_digest(in_json(content))`, in sorted order.

    >>> patient_json_with_digest({"b": lambda: iter([1, 2]), "a": {}})[:-67]
    '{"a": {}, "b": [1, 2], "digest": "'
    """
    text = "".join(pieces(content))
    return f'{text[:-1]}, "digest": "{digest_of(text.encode())}"}}\n'


def pieces(content: Any) -> Iterator[str]:
    """Yield `json.dumps(in_json(content), sort_keys=True)` in pieces."""
    if callable(content):
        yield from pieces(content())
    elif isinstance(content, np.ndarray):
        yield from pieces(array_to_json(content))
    elif isinstance(content, dict):
        yield "{"
        for place, key in enumerate(sorted(content)):
            yield f"{', ' if place else ''}{json.dumps(key)}: "
            yield from pieces(content[key])
        yield "}"
    elif isinstance(content, list) and any(isinstance(part, dict | np.ndarray) for part in content):
        yield "["
        for place, part in enumerate(content):
            yield ", " if place else ""
            yield from pieces(part)
        yield "]"
    elif isinstance(content, list | Iterator):
        parts, separator = iter(content), ""
        yield "["
        while some := list(islice(parts, LONGEST_LIST)):
            yield separator + json.dumps(some, sort_keys=True)[1:-1]
            separator = ", "
        yield "]"
    elif isinstance(content, str) and len(content) > LONGEST_TEXT:
        yield '"'
        for start in range(0, len(content), LONGEST_TEXT):
            yield json.dumps(content[start : start + LONGEST_TEXT])[1:-1]
        yield '"'
    else:
        yield json.dumps(content, sort_keys=True)
