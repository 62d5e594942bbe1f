"""What a click model is: parameters for the documents of one query, and a user who clicks by them.

A model is a recipe with the parameters as tuples. Its *user* is a named tuple with the same fields as arrays, whose
methods run compiled. The documents may be those of one query or, while fitting, all (query, document) pairs of a log:
the same methods serve both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from corebandit.clicks.click_log import ClickLog
from corebandit.clicks.em import Estimate, Stopping, tally
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import Recipe
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_count, shortened

Shapes = Mapping[str, tuple[str, ...]]

PRIOR = 0.5  # the value of a parameter that nothing is known about


@dataclass(frozen=True)
class ClickModel(Recipe):
    """How users click on the documents of one query.

    `shapes` names the axes of every parameter, "document" or "rank"; `observes` tells what the clicks reveal: "all"
    positions, or those down to the "last_click" (all if there is none).
    """

    observes: ClassVar[str] = "last_click"
    user_class: ClassVar[type[Any]]
    shapes: ClassVar[Shapes]

    attraction: Sequence[float]

    def __post_init__(self) -> None:
        """Validate, and freeze the lists."""
        lengths: dict[str, tuple[str, int]] = {}
        for name, axes in self.shapes.items():
            values = _array(name, getattr(self, name), axes)
            for axis, length in zip(axes, values.shape, strict=True):
                first, expected = lengths.setdefault(axis, (name, length))
                if length != expected:
                    raise BadInput(f"{name} has {length} {axis}s, but {first} has {expected}")
            object.__setattr__(self, name, _frozen(values.tolist()))

    @property
    def n_documents(self) -> int:
        """Return the number of documents."""
        return len(self.attraction)

    @property
    def max_positions(self) -> int:
        """Return how many documents a ranking may show: all there are, or as many as there are known ranks."""
        ranks = [len(getattr(self, name)) for name, axes in self.shapes.items() if "rank" in axes]
        return min([self.n_documents, *ranks])

    def user(self) -> Any:
        """Return the parameters as arrays, with the methods that compiled code calls."""
        return self.user_class(*(np.array(getattr(self, name), dtype=float, ndmin=1) for name in self.shapes))

    def click_probabilities(self, ranking: Sequence[int] | IntArray) -> FloatArray:
        """Return the probability of a click at each position, `(n_positions,)`."""
        ranking = self.checked_ranking(ranking)
        probabilities = np.empty(ranking.size)
        self.user().fill_click_probabilities(ranking, probabilities)
        return probabilities

    def conditional_probabilities(
        self, ranking: Sequence[int] | IntArray, clicks: Sequence[int] | IntArray
    ) -> FloatArray:
        """Return the probability of a click at each position given the clicks above it, `(n_positions,)`."""
        ranking, clicked = self.checked_ranking(ranking), np.asarray(clicks)
        if clicked.shape != ranking.shape or not np.isin(clicked, (0, 1)).all():
            raise BadInput(
                f"clicks must be {ranking.size} numbers 0 or 1, one for each position, not {shortened(clicks)}"
            )
        probabilities = np.empty(ranking.size)
        self.user().fill_conditional_probabilities(ranking, clicked.astype(np.int64), probabilities)
        return probabilities

    def value(self, ranking: Sequence[int] | IntArray) -> float:
        """Return the expected number of clicks."""
        return float(self.user().value(self.checked_ranking(ranking)))

    def optimal(self, n_positions: int) -> IntArray:
        """Return the ranking of `n_positions` documents with the highest value."""
        raise NotImplementedError

    @classmethod
    def estimate(cls, log: ClickLog, stopping: Stopping) -> Estimate:
        """Estimate the parameters from a log, by maximum likelihood: a user whose documents are the log's pairs."""
        raise NotImplementedError

    @classmethod
    def can_count(cls) -> bool:
        """Tell whether the parameters can be estimated by counting."""
        return hasattr(cls.user_class, "count_session")

    @classmethod
    def count(cls, log: ClickLog) -> Estimate:
        """Estimate the parameters from a log by counting, in one pass."""
        return tally(cls.blank(log.n_pairs, log.n_positions), log)

    @classmethod
    def blank(cls, n_documents: int, n_positions: int) -> Any:
        """Return a user of whom nothing is known: every parameter is at its prior."""
        lengths = {"document": n_documents, "rank": n_positions}
        return cls.user_class(*(np.full([lengths[a] for a in axes] or [1], PRIOR) for axes in cls.shapes.values()))

    @classmethod
    def of_documents(cls, user: Any, documents: Sequence[int] | IntArray) -> Self:
        """Return the model for some documents of a user; a negative index stands for an unknown one, at its prior."""
        values = chosen(cls, user, documents)._asdict()
        return cls(**{name: values[name] if axes else values[name][0] for name, axes in cls.shapes.items()})

    def checked_positions(self, n_positions: int) -> int:
        """Return `n_positions`, or raise BadInput if so many cannot be shown."""
        check_count("n_positions", n_positions)
        if n_positions > self.max_positions:
            what = "documents" if self.max_positions == self.n_documents else "ranks"
            limit = f"at most {self.max_positions}, the number of {what}"
            raise BadInput(f"n_positions must be {limit}, not {n_positions}")
        return n_positions

    def checked_ranking(self, ranking: Sequence[int] | IntArray) -> IntArray:
        """Return the ranking as an array, or raise BadInput unless it shows different documents of the model."""
        shown = np.asarray(ranking)
        if shown.ndim != 1 or shown.dtype.kind not in "iu":
            raise BadInput(f"ranking must be a list of document indices, not {shortened(ranking)}")
        self.checked_positions(shown.size)
        wrong = shown[(shown < 0) | (shown >= self.n_documents)]
        if wrong.size:
            raise BadInput(f"ranking must show documents 0 to {self.n_documents - 1}, not {wrong[0]}")
        if np.unique(shown).size < shown.size:
            raise BadInput(f"ranking must show every document at most once, not {shown.tolist()}")
        return shown.astype(np.int64)


def chosen(model: type[ClickModel], user: Any, documents: Sequence[int] | IntArray) -> Any:
    """Return a user with only these documents; a negative index stands for an unknown one, at its prior."""
    documents = np.asarray(documents, dtype=np.int64)
    fields = []
    for name, axes in model.shapes.items():
        values = getattr(user, name)
        if "document" in axes:
            known = documents >= 0
            values = np.where(known, values[np.where(known, documents, 0)], PRIOR)
        fields.append(values)
    return model.user_class(*fields)


def _array(name: str, value: Any, axes: tuple[str, ...]) -> FloatArray:
    """Return a parameter as an array of probabilities, or raise BadInput that names what is wrong."""
    try:
        values = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        values = np.empty([0] * (len(axes) + 1))
    if values.ndim != len(axes) or 0 in values.shape:
        kind = " x ".join(f"{axis}s" for axis in axes)
        wanted = f"an array of numbers ({kind})" if len(axes) > 1 else f"a list of numbers, one for each {kind[:-1]}"
        raise BadInput(f"{name} must be {wanted if axes else 'a number in [0, 1]'}, not {shortened(value)}")
    wrong = np.argwhere(~((values >= 0) & (values <= 1)))
    if wrong.size or (not axes and not 0 <= values <= 1):
        where = tuple(int(i) for i in wrong[0]) if axes else ()
        place = ", ".join(f"{axis} {i}" for axis, i in zip(axes, where, strict=True))
        raise BadInput(f"{name}{' of ' * bool(place)}{place} must be in [0, 1], not {values[where]:g}")
    return values


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
