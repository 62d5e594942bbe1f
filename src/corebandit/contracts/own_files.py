"""Import a user's file by its path: `mine.py`, of which a spec such as `mine.py:Mine(c=2)` takes a part.

A file that is on another machine can be given as a text, which is then imported as if it were there.
"""

import importlib.util
import linecache
import sys
from pathlib import Path
from typing import Any

from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import digest
from corebandit.contracts.validate import shortened

PREFIX = "file_"  # of the names under which files are imported
LONGEST_PATH = 300  # characters that an error shows: it is to be found by them


def imported(what: str, path: Path) -> Any:
    """Import a user's file, once, under a name that hides nobody else's; `what` is to be found there."""
    text = "" if path.is_file() else text_of(str(path))
    name = f"{PREFIX}{path.stem}_{digest([str(path), text] if text else str(path.resolve()))}"
    if not path.is_file() and not text:
        raise BadInput(f"there is no file {shortened(str(path), LONGEST_PATH)} to read the {what} from")
    for known in (name, path.stem):  # the user may have imported it, too: then its classes are those
        if (module := sys.modules.get(known)) and _is_of(module, path):
            return module
    module_spec = importlib.util.spec_from_file_location(name, path)
    if module_spec is None or module_spec.loader is None:
        raise BadInput(f"{shortened(str(path), LONGEST_PATH)} is not a Python file")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    try:
        if text:
            exec(compile(text, str(path), "exec"), vars(module))
        else:
            module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        said = f"{type(error).__name__}: {error}{_hint(error, path)}"
        raise BadInput(f"{shortened(str(path), LONGEST_PATH)} cannot be imported: {said}") from error
    return module


def text_of(path: str) -> str:
    """Return the text of a user's file as it is now, or as it was given; an empty one if there is none."""
    linecache.checkcache(path)
    return "".join(linecache.getlines(path))


def give_text(path: str, text: str) -> None:
    """Let a file that is not here be imported from this text, which tracebacks show too."""
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path


def _hint(error: BaseException, path: Path) -> str:
    """Say how what lies beside a file is found: not by itself, since files of other folders may have the same names."""
    missing = error.name if isinstance(error, ModuleNotFoundError) and error.name else ""
    is_beside = missing and any((path.parent / beside).exists() for beside in (f"{missing}.py", missing))
    return f"; it is found if the folder of {path.name} is in PYTHONPATH" if is_beside else ""


def _is_of(module: Any, path: Path) -> bool:
    found = getattr(module, "__file__", None)
    return found is not None and Path(found).resolve() == path.resolve()


def is_own_file(module: str) -> bool:
    """Tell whether a module was imported from a user's file, by its path."""
    return module.startswith(PREFIX) and module in sys.modules


def file_of(cls: type) -> str | None:
    """Return the user's file that a class can be taken from again; None if there is no such file."""
    name, module = cls.__module__, sys.modules.get(cls.__module__)
    path = getattr(module, "__file__", None)
    if path is None or getattr(module, cls.__name__, None) is not cls:
        return None
    # A module of a package may need its neighbours, and a script would run again.
    is_alone = "." not in name and name != "__main__" and not hasattr(module, "__path__")
    return str(path) if is_own_file(name) or (is_alone and path.endswith(".py")) else None
