"""Estimators by name: `sklearn.linear_model:Ridge(alpha=2.0)`, or `mine.py:Mine()` in a file of the user's."""

import ast
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from corebandit.contracts.errors import BadInput
from corebandit.contracts.own_files import imported
from corebandit.contracts.validate import how_to_install, shortened


def estimator_from(path: str) -> Any:
    """Return the estimator that a path such as 'sklearn.linear_model:Ridge(alpha=2.0)' or 'mine.py:Mine()' names.

    In a file of the user's it may be a class, a function that returns an estimator, or an estimator; elsewhere only a
    class, so that a path calls nothing that is no estimator.
    """
    match = re.fullmatch(r"\s*([^:()'\"]+?)\s*:\s*([A-Za-z_]\w*)\s*(\(.*\))?\s*", path, re.DOTALL)
    if match is None:
        raise BadInput(
            "estimator must be written as 'sklearn.linear_model:Ridge(alpha=2.0)' or 'mine.py:Mine()', not "
            f"{shortened(path)}"
        )
    source, name, arguments = match.groups()
    positional, named = _literals(path, arguments or "()")
    is_own = source.endswith(".py")
    found: Any = getattr(_source(path, source), name, None)
    has_methods = hasattr(found, "fit") and hasattr(found, "predict")
    if not (has_methods and isinstance(found, type)) and not (is_own and (has_methods or callable(found))):
        wanted = "nothing" if is_own else "no class"
        raise BadInput(
            f"estimator {shortened(path)} cannot be made: {source} has {wanted} {shortened(name)} with fit and predict"
        )
    if has_methods and not isinstance(found, type):
        if arguments:
            raise BadInput(
                f"estimator {shortened(path)} cannot be made: {name} is one already, and takes no parameters"
            )
        return found
    try:
        return found(*positional, **named)
    except Exception as error:
        raise BadInput(f"estimator {shortened(path)} cannot be made: {error}") from error


def _source(path: str, source: str) -> Any:
    """Import the module, or the user's file, that an estimator comes from."""
    if source.endswith(".py"):
        return imported("estimator", Path(source))
    library = source.partition(".")[0]
    try:
        import_module(library)
        return import_module(source)
    except (ImportError, TypeError, ValueError) as error:
        if library == "sklearn" and getattr(error, "name", None) == library:
            hint = f"scikit-learn is not installed: {how_to_install('scikit-learn')}"
        else:
            file = f"{source.replace('.', '/')}.py"
            own = f"; a file of yours is written as '{file}:...'" if Path(file).is_file() else ""
            hint = f"the module {shortened(source)} cannot be imported: {error}{own}"
        raise BadInput(f"estimator {shortened(path)} cannot be made: {hint}") from error


def _literals(path: str, text: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a call; nothing in it is ever executed."""
    try:
        call = ast.parse(f"made{text}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        positional = [ast.literal_eval(node) for node in call.args]
        return positional, {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError):
        raise BadInput(
            f"estimator takes numbers, strings and lists of them as parameters, not {shortened(path)}; with others, "
            "make it in a file of yours"
        ) from None
