"""A problem given as a Python class of your own."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.instances import OF_ARMS, OF_FEATURES
from corebandit.contracts.recipe import REAL_LINE, Problem, offers_features
from corebandit.contracts.validate import shortened


@dataclass(frozen=True, eq=False)
class Given(Problem):
    """One instance, the same in every run: a `NamedTuple` with `n_arms`, `pull`, `mean` and `best_mean`.

    One that offers features has `n_arms`, `n_features`, `offer`, `pull` and `mean` instead (see `Problem`).

    If it also has `support`, a pair of bounds that every reward keeps, policies for bounded rewards accept it.
    """

    name = "given"
    can_be_rebuilt = False
    instance: Any

    def __post_init__(self) -> None:
        members = OF_FEATURES if offers_features(self.instance) else OF_ARMS
        missing = [name for name in members if not hasattr(self.instance, name)]
        if missing or not isinstance(self.instance, tuple):
            wanted = f"; it lacks {', '.join(missing)}" if missing else ""
            raise BadInput(
                f"a problem must be a recipe such as BernoulliBandit(), or a NamedTuple with {', '.join(members)}, "
                f"not {shortened(self.instance)}{wanted}"
            )

        object.__setattr__(self, "instance", _copied(self.instance))  # whoever changes theirs changes no results

    def draw(self, rng: Any) -> Any:
        """Return a copy of the instance: one that changes as it is played begins anew in every run."""
        return _copied(self.instance)

    @property
    def support(self) -> tuple[float, float]:
        """Return what the instance says, or the real line."""
        low, high = getattr(self.instance, "support", REAL_LINE)
        return float(low), float(high)

    @property
    def label(self) -> str:
        """Return the name of the class."""
        return type(self.instance).__name__

    def describe(self) -> dict[str, Any]:
        """Return the class's name and its fields."""
        return {"name": self.name, "class": type(self.instance).__qualname__, **_fields(self.instance)}


def _copied(value: Any) -> Any:
    """Return named tuples with arrays of their own."""
    if isinstance(value, tuple):
        parts = map(_copied, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy() if isinstance(value, np.ndarray) else value


def _fields(instance: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, value in instance._asdict().items():
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            plain[name] = _fields(value)
        else:
            plain[name] = np.asarray(value).tolist()
    return plain
