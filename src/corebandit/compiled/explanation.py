"""What numba says when it cannot compile, in a sentence with file and line."""

import re
from pathlib import Path

from corebandit.compiled.sources import PACKAGE

# What names the cause, in numba's words, best first; the rest of its pages says who called whom.
CAUSES = (
    r"Untyped global name '[^']+': [^\n]+",
    r"Unknown attribute '[^']+' of type [^\n]+",
    r"Use of unsupported [^\n]+",
    r"(?<=UnsupportedError: )[^\n]+",
    r"The use of [^\n]+",
    r"Type of variable '[^']+' cannot be determined",
    r"Cannot determine Numba type of [^\n]+",
    r"Cannot unify [^\n]+",
    r"Invalid use of [^\n]+",
    r"No implementation of function (?!Function\(<function rounds_)[^\n]+",  # which is a loop of ours
)
FUNCTION = re.compile(r"Untyped global name '(\w+)': Cannot determine Numba type of <class 'function'>")
PLACE = re.compile(r'(?:File "|Raised from )([^"\s]+)(?:", line | \()(\d+)')
LONGEST = 200
SAYING_NOTHING = ("Failed in nopython", "No implementation of", "- Resolution", "There are", "- Of which", ">>> ")
HINT = (
    "compiled code knows numbers, arrays, math and much of NumPy; to play in plain Python, let the policy say "
    "runs_compiled = False"
)
NJIT_HINT = "mark {} with @numba.njit, or make it a method of the class that calls it"


def explained(error: Exception) -> str:
    """Return why something cannot be compiled, as the end of a sentence of which it is the subject."""
    said = str(error)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said if len(said.split()) > 1 else f"{type(error).__name__} {said}")
    causes = [found.group(0) for cause in CAUSES for found in re.finditer(cause, plain)]
    others = [line for line in plain.splitlines() if line.strip() and not line.strip().startswith(SAYING_NOTHING)]
    cause = [*causes, *others, "numba does not say why"][0].partition(" Raised from ")[0].rstrip(". ")
    places = [(path, line) for path, line in PLACE.findall(plain) if PACKAGE not in Path(path).resolve().parents]
    where = f" ({places[-1][0]}, line {places[-1][1]})" if places else ""
    function = FUNCTION.match(cause.strip())
    hint = NJIT_HINT.format(function.group(1)) if function else HINT
    return f"cannot be compiled: {cause.strip()[:LONGEST]}{where}; {hint}"
