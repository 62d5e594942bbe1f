"""What an agent chooses among: arms with names, which come and go, or rows of features that have none.

A policy knows every option by an index, from 0. Both classes here answer the same questions about it.
"""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from corebandit.contracts.errors import BadFeatures, BadInput, UnknownArm
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_count, shortened

MOST_ROWS = 100_000  # a policy may keep something for each
PLAIN_KINDS = "biufcUS"  # of NumPy's that Python has too; dates are others there


def plain_option(noun: str, given: Any) -> Hashable:
    """Return an option by whose name it can be found again: NumPy's numbers and strings as Python's, NaN refused."""
    is_plain = isinstance(given, np.generic) and given.dtype.kind in PLAIN_KINDS
    option: Hashable = given.item() if is_plain else given
    if type(option) is tuple:
        option = tuple(plain_option(noun, part) for part in option)
    try:
        hash(option)
    except TypeError:
        raise BadInput(
            f"{noun} must be hashable, such as a string, a number or a tuple, not {shortened(option)}"
        ) from None
    if option != option:
        raise BadInput(f"{noun} must be equal to itself, so that it can be told again, and {shortened(option)} is not")
    return option


def plain_options(name: str, noun: str, given: Any) -> list[Hashable]:
    """Return a list of options, each as `plain_option` has it, or say that it is none."""
    if isinstance(given, str):
        raise BadInput(f"{name} must be a list of {noun}s, such as [{given!r}], not the string {shortened(given)}")
    try:
        listed = list(given)
    except TypeError as error:
        raise BadInput(f"{name} must be a list of {noun}s, not {shortened(given)}") from error
    return [plain_option(noun, option) for option in listed]


class Named:
    """Arms with names, any hashables."""

    def __init__(self, arms: Iterable[Hashable], noun: str = "arm") -> None:
        self.noun = noun  # what errors call an option
        if isinstance(arms, str):
            raise BadInput(f"{noun}s must be a list of options, not the string {shortened(arms)}")
        try:
            given = list(arms)
        except TypeError as error:
            raise BadInput(f"{noun}s must be a list of options, not {shortened(arms)}") from error
        self.names = [plain_option(noun, arm) for arm in given]
        self._index = {arm: index for index, arm in enumerate(self.names)}
        if not self.names:
            raise BadInput(f"{noun}s must hold at least one option, not none")
        if len(self._index) < len(self.names):
            twice = next(arm for index, arm in enumerate(self.names) if self._index[arm] > index)
            raise BadInput(f"{noun}s must all be different, but {shortened(twice)} is there twice")
        self.retire([])

    def retire(self, indices: Iterable[int]) -> None:
        """Let exactly these arms be off offer."""
        self.retired = frozenset(indices)
        on_offer = [index for index in range(len(self.names)) if index not in self.retired]
        self._offered = np.array(on_offer, dtype=np.int64)

    def add(self, arm: Hashable) -> None:
        """Put a new arm on offer."""
        self._index[arm] = len(self.names)
        self.names.append(arm)
        self.retire(self.retired)

    @property
    def on_offer(self) -> list[Hashable]:
        """Return the names of the arms on offer."""
        return [self.names[index] for index in self._offered]

    @property
    def indices_on_offer(self) -> list[int]:
        """Return the indices of the arms on offer."""
        return [int(index) for index in self._offered]

    @property
    def n_on_offer(self) -> int:
        """Return how many arms are on offer."""
        return self._offered.size

    def name(self, index: int) -> Any:
        """Return what the arm is called."""
        return self.names[index]

    def index_of(self, arm: Hashable) -> int:
        """Return the arm's index, or say that there is no such arm."""
        try:
            return self._index[arm]
        except (KeyError, TypeError):
            known = ", ".join(map(shortened, self.names[:10])) + (", ..." if len(self.names) > 10 else "")
            raise UnknownArm(f"{self.noun} must be one of {known}, not {shortened(arm)}") from None

    def knows(self, arm: Hashable) -> bool:
        """Tell whether there is, or was, an arm of this name."""
        return arm in self._index

    def offered(self, arms: Iterable[Hashable] | None) -> IntArray:
        """Return the indices of the arms on offer: all that are not retired, or those named, in this order."""
        if arms is None:
            if self._offered.size == 0:
                raise BadInput(f"there is no {self.noun} to choose: all are retired; add one with add_{self.noun}")
            return self._offered
        if isinstance(arms, str):
            raise BadInput(f"arms must be a list of {self.noun}s, such as [{arms!r}], not the string {shortened(arms)}")
        if not isinstance(arms, Iterable):
            raise BadInput(f"arms must be a list of {self.noun}s, not {shortened(arms)}")
        offered = np.array([self.index_of(arm) for arm in arms], dtype=np.int64)
        for index in offered:
            if int(index) in self.retired:
                raise UnknownArm(f"arms must be on offer, but {shortened(self.names[index])} is retired")
        if offered.size == 0:
            raise BadInput("arms must name at least one arm, not none")
        return offered

    def placed(self, rows: FloatArray, arms: Iterable[Hashable] | None) -> tuple[FloatArray, IntArray]:
        """Return a table with each row at the index of its arm, and the indices on offer, ascending."""
        offered = self.offered(arms)
        if rows.shape[0] != offered.size:
            whose = "on offer" if arms is None else "in arms"
            raise BadFeatures(
                f"features must have one row for each arm {whose}, that is {offered.size}, not the shape {rows.shape}"
            )
        if arms is None and offered.size == len(self.names):
            return rows, offered
        if arms is not None and np.unique(offered).size < offered.size:
            times = np.bincount(offered)
            twice = next(index for index in offered if times[index] > 1)
            raise BadInput(f"arms must all be different, but {shortened(self.names[twice])} is there twice")
        # An arm that is not on offer takes the features of one that is, so nothing is scored that was not offered.
        source = np.zeros(len(self.names), dtype=np.int64)
        source[offered] = np.arange(offered.size)
        return rows.take(source, axis=0), np.sort(offered)


class Unnamed:
    """Rows of features without names; each is known by its place in the decision, from 0."""

    noun = "arm"
    retired: frozenset[int] = frozenset()
    names = None
    on_offer: tuple[Hashable, ...] = ()
    n_on_offer = 0

    def name(self, index: int) -> Any:
        """Return the index itself."""
        return index

    def index_of(self, arm: Any) -> int:
        """Return the index itself, or say what is wrong with it."""
        if check_count("arm", arm, at_least=0) >= MOST_ROWS:
            raise UnknownArm(f"arm must be the index of a row, below {MOST_ROWS:,}, not {shortened(arm)}")
        return int(arm)

    def placed(self, rows: FloatArray, arms: Iterable[Hashable] | None) -> tuple[FloatArray, IntArray]:
        """Return the rows, and the indices of all of them."""
        if arms is not None:
            raise BadInput("arms cannot be named: this agent was made without arms, so its options are rows")
        if rows.shape[0] > MOST_ROWS:
            raise BadFeatures(f"features must have at most {MOST_ROWS:,} rows, not {rows.shape[0]:,}")
        return rows, np.arange(rows.shape[0])
