"""Which sources decide what a class or a function does: its own file and, following imports, all that it stands on.

Machine code and stored results are kept under a fingerprint of exactly these. An edit below invalidates, an edit beside
does not. Three kinds of modules are told apart:

* ours: the file counts, and what it imports of ours;
* a library's (installed, or Python's own): its version counts;
* the user's: the file counts, what it imports, and the values of the globals that its functions read, since numba
  freezes them into machine code.
"""

import ast
import hashlib
import importlib.util
import re
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

OURS = __name__.partition(".")[0]
PACKAGE = Path(__file__).parents[__name__.count(".") - 1]
INSTALLED = {Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")}
BEGAN = time.time()  # what has changed since may not be what was imported

# Ours are imported as `from corebandit.room.module import name`; a test compares this with the syntax tree.
IMPORT = re.compile(rf"^ *from ({OURS}(?:\.\w+)*) import ", re.MULTILINE)


class UnknownSource(Exception):
    """What a module does cannot be known from files: it was typed in by hand, or its file has changed since."""


def fingerprint(definitions: Iterable[Any]) -> str:
    """Identify the sources that decide what classes and functions do, or raise UnknownSource."""
    found: dict[str, str] = {}
    waiting = {definition.__module__ for definition in definitions}
    while waiting:
        module = waiting.pop()
        if module not in found:
            found[module], imports = _source(module)
            waiting.update(imports)
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


def modules_below(*modules: str) -> set[str]:
    """Return the modules of ours that these stand on, themselves included."""
    found: set[str] = set()
    waiting = set(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.update(_own(module)[1])
    return found


def _source(module: str) -> tuple[str, Iterable[str]]:
    """Return what identifies the source of a module, and the modules it imports."""
    top = module.partition(".")[0]
    if top == OURS:
        return _own(module)
    if top in sys.stdlib_module_names and module != "__main__":
        return "", ()  # as the version of Python says
    loaded = sys.modules.get(module)
    path = _file_of(module, loaded)
    if path is None:
        return "", ()
    version = getattr(sys.modules.get(top), "__version__", None)
    if version is not None and any(path.is_relative_to(folder) for folder in INSTALLED):
        return str(version), ()
    if path.suffix != ".py":
        return hashlib.sha256(path.read_bytes()).hexdigest(), ()
    return _users(module, loaded, path)


@cache
def _own(module: str) -> tuple[str, frozenset[str]]:
    """Return the digest and the imports of a module of this package."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not path.is_file() or path.stat().st_mtime > BEGAN:
        raise UnknownSource(module)
    text = path.read_bytes()
    return hashlib.sha256(text).hexdigest(), frozenset(IMPORT.findall(text.decode()))


def _users(module: str, loaded: ModuleType | None, path: Path) -> tuple[str, set[str]]:
    """Return the digest of a user's module, with the globals that its functions read, and what it imports."""
    text = path.read_bytes()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise UnknownSource(module) from error
    if path.stat().st_mtime > BEGAN and not _is_what_was_imported(text, loaded):
        raise UnknownSource(module)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    read = {node.id for function in functions for node in ast.walk(function) if isinstance(node, ast.Name)}
    values = {name: value for name, value in vars(loaded).items() if name in read} if loaded else {}
    frozen = sorted((name, _constant(value)) for name, value in values.items())
    digest = hashlib.sha256(text + repr(frozen).encode()).hexdigest()
    return digest, {name for name in _imports(loaded, tree) if name != module}


def _is_what_was_imported(text: bytes, loaded: ModuleType | None) -> bool:
    """Tell whether all functions of a loaded module, and of its classes, are as its file has them now."""
    waiting, codes = [compile(text, "", "exec", dont_inherit=True)], set()
    while waiting:
        code = waiting.pop()
        codes.add(code)
        waiting += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    own = (
        [value for value in vars(loaded).values() if getattr(value, "__module__", None) == loaded.__name__]
        if loaded
        else []
    )
    members = [member for value in own if isinstance(value, type) for member in vars(value).values()]
    return all(function.__code__ in codes for function in (*own, *members) if isinstance(function, FunctionType))


def _imports(loaded: ModuleType | None, tree: ast.AST) -> Iterator[str]:
    """Yield the modules that a user's module imports, and the homes of our public names that it uses."""
    package = getattr(loaded, "__package__", None) or ""
    used: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield from _existing(name.name)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            yield from _existing(base)
            for name in node.names:
                yield from _existing(f"{base}.{name.name}")
                used.add(name.name)
        elif isinstance(node, ast.Attribute):
            used.add(node.attr)
    homes = getattr(sys.modules.get(OURS), "HOMES", {})
    yield from (homes[name] for name in used if name in homes)


def _existing(module: str) -> Iterator[str]:
    """Yield a module that can be found, unless it is our package itself, which only lists names."""
    if module in sys.modules:
        loaded = sys.modules[module]
        own = getattr(loaded, "__name__", module)  # one that has moved is known by its new name
        if own not in (OURS, "__main__"):
            yield own
        return
    parent = module.rpartition(".")[0]
    if not parent or hasattr(sys.modules.get(parent), "__path__"):
        try:
            is_there = importlib.util.find_spec(module) is not None
        except (ImportError, ValueError):
            is_there = False
        if is_there:
            yield module


def _constant(value: Any) -> str:
    """Return what machine code may hold of a global: numbers, text and arrays, to the last bit."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_constant, value))}]"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return repr(value)
    return ""


def _file_of(module: str, loaded: ModuleType | None) -> Path | None:
    """Return the file of a module, or None for a folder of modules that has none."""
    file = getattr(loaded, "__file__", None)
    if loaded is None:
        spec = importlib.util.find_spec(module)
        file = spec.origin if spec else None
    elif file is None and hasattr(loaded, "__path__"):
        return None
    if file is None or not Path(file).is_file():
        raise UnknownSource(module)
    return Path(file).resolve()
