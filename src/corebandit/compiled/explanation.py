"""What numba says when it cannot compile, in a sentence with file and line."""

import re
from pathlib import Path

from corebandit.compiled.sources import PACKAGE

# What names the cause, in numba's words, best first; the rest of its pages says who called whom.
CAUSES = (
    r"Untyped global name '[^']+': [^\n]+",
    r"Unknown attribute '[^']+' of type [^\n]+",
    r"Use of unsupported [^\n]+",
    r"The use of a [^\n]+",
    r"Cannot determine Numba type of [^\n]+",
    r"Cannot unify [^\n]+",
    r"Invalid use of [^\n]+",
    r"No implementation of function [^\n]+",
)
PLACE = re.compile(r'File "([^"]+)", line (\d+)')
LONGEST = 200
HINT = (
    "compiled code knows numbers, arrays, math and much of NumPy; to play in plain Python, let the policy say "
    "runs_compiled = False"
)


def explained(message: str) -> str:
    """Return why something cannot be compiled, as the end of a sentence of which it is the subject."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message)
    causes = [found.group(0) for cause in CAUSES for found in re.finditer(cause, plain)]
    cause = [*causes, *filter(str.strip, plain.splitlines()), "numba does not say why"][0]
    places = [(path, line) for path, line in PLACE.findall(plain) if PACKAGE not in Path(path).resolve().parents]
    where = f" ({places[-1][0]}, line {places[-1][1]})" if places else ""
    return f"cannot be compiled: {cause.strip()[:LONGEST]}{where}; {HINT}"
