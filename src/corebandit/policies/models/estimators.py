"""Estimators as people bring them: any object with fit(X, y) and predict(X).

Here they are checked, copied, named and described. No library of estimators is imported unless the user's object, or
the path that the user gave, comes from it.
"""

import copy
import copyreg
import inspect
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import digest
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import shortened
from corebandit.policies.models.named_estimators import estimator_from


@dataclass(eq=False)
class RidgeRegression:
    """Ridge regression with a constant that is not shrunk: an estimator that needs no other library."""

    lam: float = 1e-3
    theta: NDArray[Any] = field(init=False, repr=False)  # (d,)
    centre: NDArray[Any] = field(init=False, repr=False)  # (d,) mean row
    mean: float = field(init=False, repr=False)  # of the rewards

    def fit(self, X: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None) -> "RidgeRegression":
        """Fit to rows `(n, d)` and rewards `(n,)`, each counting as often as its weight says."""
        self.centre = np.average(X, axis=0, weights=sample_weight)
        self.mean = float(np.average(y, weights=sample_weight))
        rows = X - self.centre
        weighted = rows if sample_weight is None else rows * sample_weight[:, None]
        self.theta = np.linalg.solve(weighted.T @ rows + self.lam * np.eye(X.shape[1]), weighted.T @ (y - self.mean))
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the estimated reward of each row."""
        predicted: FloatArray = self.mean + (X - self.centre) @ self.theta
        return predicted


# Checking and copying ---------------------------------------------------------------------------------------------


def checked_estimator(estimator: Any) -> Any:
    """Return an unfitted copy of an estimator, or of the one that a path names, or say why it is none."""
    if isinstance(estimator, str):
        estimator = estimator_from(estimator)
    if isinstance(estimator, type):
        raise BadInput(f"estimator must be an object such as {estimator.__name__}(...), not the class itself")
    missing = [name for name in ("fit", "predict") if not callable(getattr(estimator, name, None))]
    if missing:
        raise BadInput(
            f"estimator must have fit(X, y) and predict(X), but {type(estimator).__name__} has no {missing[0]}: "
            f"{shortened(estimator)}"
        )
    if is_classifier(estimator) and not callable(getattr(estimator, "predict_proba", None)):
        raise BadInput(
            f"estimator must predict rewards or their probabilities, so take a regressor, or a classifier that has "
            f"predict_proba, which {spelled(estimator)} has not"
        )
    try:
        return unfitted_copy(estimator)
    except Exception as error:
        raise BadInput(f"estimator must be one that can be copied, but {spelled(estimator)} cannot: {error}") from error


def is_classifier(estimator: Any) -> bool:
    """Tell whether an estimator predicts classes, as scikit-learn's say of themselves."""
    try:
        tags = estimator.__sklearn_tags__()
    except Exception:  # not scikit-learn's, or of a version without tags
        return getattr(estimator, "_estimator_type", None) == "classifier"
    return bool(tags.estimator_type == "classifier")


def unfitted_copy(estimator: Any) -> Any:
    """Return a copy of an estimator that was never fitted; of one that knows its parameters, they alone are copied."""
    if not _has_parameters(estimator):
        return copy.deepcopy(estimator)
    try:
        from sklearn.base import clone
    except ImportError:
        return copy.deepcopy(estimator)
    return clone(estimator)


def free_random_states(estimator: Any) -> list[str]:
    """Return the names of all parameters called random_state, however deep, that are None."""
    if not _has_parameters(estimator) or not hasattr(estimator, "set_params"):
        return []
    parameters = estimator.get_params(deep=True)
    return sorted(name for name, value in parameters.items() if _is_random_state(name) and value is None)


def _is_random_state(name: str) -> bool:
    return name.rpartition("__")[2] == "random_state"


def _has_parameters(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


# Naming and describing --------------------------------------------------------------------------------------------


def spelled(estimator: Any) -> str:
    """Return an estimator's class and the parameters that are not at their defaults.

    >>> spelled(RidgeRegression(lam=2.0))
    'RidgeRegression(lam=2.0)'
    """
    parameters = estimator.get_params(deep=False) if _has_parameters(estimator) else getattr(estimator, "__dict__", {})
    try:
        defaults = {name: argument.default for name, argument in inspect.signature(type(estimator)).parameters.items()}
    except (TypeError, ValueError):
        defaults = {}
    changed = [
        f"{name}={_spelled_value(value)}"
        for name, value in parameters.items()
        if not name.startswith("_") and (name not in defaults or description(value) != description(defaults[name]))
    ]
    return f"{type(estimator).__name__}({', '.join(changed)})" if changed else type(estimator).__name__


def _spelled_value(value: Any) -> str:
    if isinstance(value, tuple | list):
        if len(value) in (2, 3) and isinstance(value[0], str) and _has_parameters(value[1]):  # a step and its name
            return _spelled_value(value[1])
        return "[" + ", ".join(map(_spelled_value, value)) + "]"
    if isinstance(value, np.generic):
        return repr(value.item())
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if _has_parameters(value) or hasattr(value, "fit"):
        return spelled(value)
    return str(getattr(value, "__name__", type(value).__name__))


def description(value: Any) -> Any:
    """Return what an estimator, or a parameter of one, is made of, ready for JSON."""
    return _Reading().of(value)


def definitions(estimator: Any) -> frozenset[Any]:
    """Return the classes and functions that an estimator is made of."""
    reading = _Reading()
    reading.of(estimator)
    return frozenset(reading.definitions)


def versions(estimator: Any) -> dict[str, str]:
    """Return the versions of the libraries that an estimator comes from."""
    libraries = {str(definition.__module__).partition(".")[0] for definition in definitions(estimator)}
    found = {library: _version(library) for library in sorted(libraries)}
    return {library: str(version) for library, version in found.items() if version is not None}


def _version(library: str) -> Any:
    return getattr(sys.modules.get(library), "__version__", None)


def _is_of_a_library(function: Any) -> bool:
    """Tell whether the version of a library says what a function does: its name must find it there."""
    found: Any = sys.modules.get(str(function.__module__))
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function and _version(function.__module__.partition(".")[0]) is not None


# What the class statement adds by itself and no number depends on.
NOT_CONTENTS = {"__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__"}
# Where descriptions find what has moved since 0.4: saved agents and stored results know it by that name.
NAMES_OF_0_4: dict[type, str] = {RidgeRegression: "corebandit.estimators.RidgeRegression"}


class _Reading:
    """Takes an object apart, down to what JSON has, and remembers the classes and functions it met."""

    def __init__(self) -> None:
        self.definitions: set[Any] = set()
        self._within: list[int] = []  # what is being taken apart, to see where an object holds itself

    def of(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else repr(float(value))
        if id(value) in self._within:
            return "itself"
        self._within.append(id(value))
        try:
            return self._parts(value)
        finally:
            self._within.pop()

    def _parts(self, value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray) and value.dtype != object:
            return self.of(value.tolist())
        if isinstance(value, tuple | list):
            return [self.of(item) for item in value]
        if isinstance(value, set | frozenset):
            return sorted((self.of(item) for item in value), key=repr)
        if isinstance(value, Mapping):
            return {str(key): self.of(item) for key, item in value.items()}
        if isinstance(value, bytes | bytearray):
            return value.hex()
        if isinstance(value, ModuleType):
            return value.__name__
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, MethodType):
            return {"method": self.of(value.__func__), "of": self.of(value.__self__)}
        if isinstance(value, staticmethod | classmethod):
            return self.of(value.__func__)
        if isinstance(value, property):
            return [self.of(accessor) for accessor in (value.fget, value.fset)]
        path = self.of(type(value))
        if _has_parameters(value):
            return {"class": path, "parameters": self.of(value.get_params(deep=False))}
        try:
            special = copyreg.dispatch_table.get(type(value))
            reduced: Any = special(value) if special else value.__reduce_ex__(2)
        except Exception:  # a lock, an open file: nothing that numbers depend on
            return {"class": path}
        if isinstance(reduced, str):  # a function that is not Python's, or one of Python's in a wrapper that is not
            named = [getattr(value, "__module__", None), reduced]
            wrapped = getattr(value, "__wrapped__", None)
            is_known = wrapped is None or _is_of_a_library(value)
            return {"class": path, "parameters": named if is_known else [*named, self.of(wrapped)]}
        made_by, arguments, *state = reduced[:3]
        is_ordinary = made_by.__name__ == "__newobj__" and len(arguments) == 1  # the class and nothing else
        return {"class": path, "parameters": self.of(state[0] if is_ordinary and state else [arguments, *state])}

    def _class(self, cls: type) -> str:
        """Name a class; one that was made within a function, perhaps several times, with its contents."""
        self.definitions.add(cls)
        path = NAMES_OF_0_4.get(cls, f"{cls.__module__}.{cls.__qualname__}")
        if "<locals>" not in cls.__qualname__:
            return path
        members = {name: self.of(member) for name, member in vars(cls).items() if name not in NOT_CONTENTS}
        return f"{path}:{digest([members, self.of(cls.__bases__)])}"

    def _function(self, function: FunctionType) -> str:
        """Name a function, with its contents: all lambdas of a module share a name, and so do a factory's closures."""
        self.definitions.add(function)
        path = f"{function.__module__}.{function.__qualname__}"
        if _is_of_a_library(function):
            return path
        contents = [
            self._code(function.__code__),
            self.of(function.__defaults__),
            self.of(function.__kwdefaults__),
            [self._cell(cell) for cell in function.__closure__ or ()],
            self.of(vars(function)),
        ]
        return f"{path}:{digest(contents)}"

    def _cell(self, cell: Any) -> Any:
        try:
            contents = cell.cell_contents
        except ValueError:  # nothing was assigned yet
            return []
        return [self.of(contents)]

    def _code(self, code: CodeType) -> list[Any]:
        counts = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]
        names = [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars]
        constants = [self._code(item) if isinstance(item, CodeType) else self.of(item) for item in code.co_consts]
        return [code.co_code.hex(), code.co_exceptiontable.hex(), counts, names, constants]
