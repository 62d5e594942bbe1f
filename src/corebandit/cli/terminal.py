"""Output that every terminal can show: where its encoding lacks a character, another spelling stands in."""

import codecs
import os
import sys
from pathlib import Path
from typing import Any

HANDLER = "corebandit.plain"
PLAIN = {
    "…": "...",
    "±": "+/-",
    "×": "x",
    "·": ".",
    "−": "-",
    "–": "-",
    "—": "-",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "→": "->",
    "•": "*",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "√": "sqrt",
    "∞": "inf",
    "\N{NO-BREAK SPACE}": " ",
    "\N{NARROW NO-BREAK SPACE}": " ",
    "\N{THIN SPACE}": " ",
}


def spell_plainly(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for characters that cannot be encoded, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(
        PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode() for letter in missing
    ), error.end


def speak_plainly() -> None:
    """Let the standard streams spell what they cannot encode, instead of failing when all work is done."""
    codecs.register_error(HANDLER, spell_plainly)
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)  # not there where a test took the stream's place
        if reconfigure is not None:
            reconfigure(errors=HANDLER)


def as_text(argument: str) -> str:
    """Return an argument as text that can be written to any file, though the locale could not decode it."""
    return os.fsencode(argument).decode(errors="replace")


def check_spelled(path: Path) -> None:
    """Raise a BadInput if the locale could not decode a path: tables cannot be written there."""
    from corebandit.contracts.errors import BadInput

    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise BadInput(
            f"{as_text(str(path))} cannot be written to in this locale, which knows no such letters: set LC_ALL=C.UTF-8"
        ) from None
