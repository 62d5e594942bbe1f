"""Classification as a bandit: one arm for each class, reward 1 for the right one and 0 for the others.

Each round shows one row of the data; rows come in random order, and in another one whenever all were shown. The
features of arm k are the row in the k-th of as many blocks as there are classes, and zeros elsewhere, so that every
class can have weights of its own (the neural bandit papers do the same).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.errors import BadInput
from corebandit.contracts.features import as_rows, check_finite
from corebandit.contracts.recipe import UNIT_INTERVAL, Problem
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_choice, check_flag, how_to_install
from corebandit.randomness.stream import Stream

DATA = ("digits", "breast_cancer", "wine")


@allocating_nothing
class ClassificationArms(NamedTuple):
    """Rows with labels, shown one by one."""

    rows: FloatArray  # (n_rows, d)
    labels: IntArray  # (n_rows,) classes, from 0
    order: IntArray  # (n_rows,) in which rows are shown, until all were
    shown: IntArray  # (1,) the row of this round
    n_classes: int

    @property
    def n_arms(self) -> int:
        """Return the number of classes."""
        return self.n_classes

    @property
    def n_features(self) -> int:
        """Return the number of features, of all blocks."""
        return int(self.rows.shape[1]) * self.n_classes

    def offer(self, current_round: int, rng: Stream, features: FloatArray) -> bool:
        """Show the next row, in the block of each arm, and tell that features are new."""
        place = (current_round - 1) % self.order.size
        if place == 0:
            self.shuffle(rng)
        self.shown[0] = self.order[place]
        d = self.rows.shape[1]
        for arm in range(features.shape[0]):
            for j in range(features.shape[1]):
                features[arm, j] = 0.0
            for j in range(d):
                features[arm, arm * d + j] = self.rows[self.shown[0], j]
        return True

    def shuffle(self, rng: Stream) -> None:
        """Put the rows in random order."""
        for last in range(self.order.size - 1, 0, -1):
            other = rng.integers(last + 1)
            self.order[last], self.order[other] = self.order[other], self.order[last]

    def mean(self, arm: int, x: FloatArray) -> float:
        """Return 1 for the class of the row that is shown, else 0."""
        return 1.0 if self.labels[self.shown[0]] == arm else 0.0

    def pull(self, arm: int, x: FloatArray, rng: Stream) -> float:
        """Return the reward, in which nothing is random."""
        return self.mean(arm, x)


def arms_of_rows(rows: FloatArray, labels: IntArray) -> ClassificationArms:
    """Return an instance that shows these rows `(n_rows, d)` of these classes `(n_rows,)`."""
    order = np.arange(labels.size)
    return ClassificationArms(rows, labels, order, np.zeros(1, np.int64), int(labels.max()) + 1)


def standardised(rows: FloatArray) -> FloatArray:
    """Return rows `(n_rows, d)` with columns of mean 0 and variance 1, and then of length 1; what is constant is 0."""
    columns = rows - rows.mean(axis=0)
    deviations = columns.std(axis=0)
    columns /= np.where(deviations > 0, deviations, 1.0)
    lengths = np.linalg.norm(columns, axis=1, keepdims=True)
    return np.ascontiguousarray(columns / np.where(lengths > 0, lengths, 1.0))


@cache
def _bundled(data: str) -> tuple[FloatArray, IntArray]:
    """Return rows and labels of one of scikit-learn's data sets."""
    try:
        from sklearn import datasets
    except ImportError:
        raise BadInput(
            f"classification(data={data!r}) needs scikit-learn, which brings the data: {how_to_install('scikit-learn')}"
        ) from None
    rows, labels = getattr(datasets, f"load_{data}")(return_X_y=True)
    return standardised(np.asarray(rows, dtype=np.float64)), np.asarray(labels, dtype=np.int64)


@dataclass(frozen=True)
class ClassificationBandit(Problem):
    """Say which class a row of a well-known data set is of; needs scikit-learn, which brings the data.

    Columns are standardised to mean 0 and variance 1, over the whole data set, and rows then divided by their length.

    Parameters
    ----------
    data
        "digits" (1,797 rows of 64 features, 10 classes), "breast_cancer" (569 rows of 30, 2 classes) or "wine" (178
        rows of 13, 3 classes).

    >>> ClassificationBandit("wine").label
    "classification(data='wine')"
    """

    name = "classification"
    data: str = "digits"

    def __post_init__(self) -> None:
        check_choice("data", self.data, DATA)

    def draw(self, rng: Stream | None) -> ClassificationArms:
        """Return an instance; its order is drawn while it is played."""
        return arms_of_rows(*_bundled(self.data))

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return UNIT_INTERVAL


@dataclass(frozen=True)
class FixedClassification(Problem):
    """Say which class a row of your own data is of.

    Parameters
    ----------
    rows
        `(n_rows, d)` features.
    labels
        `(n_rows,)` classes: whole numbers from 0, each of them there.
    standardise
        Whether columns are standardised and rows divided by their length, as `ClassificationBandit` does, or left as
        they are.

    >>> problem = FixedClassification([[1.0, 2.0], [2.0, 1.0], [0.0, 3.0]], labels=[0, 1, 0])
    >>> problem.draw(rng=None).n_features
    4
    """

    name = "fixed_classification"
    rows: Sequence[Sequence[float]]
    labels: Sequence[int]
    standardise: bool = True

    def __post_init__(self) -> None:
        """Validate, and freeze the numbers."""
        rows, labels = as_rows(self.rows), np.asarray(self.labels)
        check_finite("rows", rows)
        check_flag("standardise", self.standardise)
        if labels.shape != rows.shape[:1]:
            raise BadInput(f"labels must be {len(rows)}, one for each row, not of the shape {labels.shape}")
        found = np.unique(labels)
        if labels.dtype.kind not in "iu" or not np.array_equal(found, np.arange(found.size)):
            raise BadInput(f"labels must be whole numbers from 0, each of them there, not {found.tolist()}")
        object.__setattr__(self, "rows", tuple(map(tuple, rows.tolist())))
        object.__setattr__(self, "labels", tuple(labels.tolist()))

    @property
    def label(self) -> str:
        """Return the size of the data and a digest of its numbers."""
        rest = "" if self.standardise else ", standardise=False"
        return f"{self.name}({len(self.rows)} x {len(self.rows[0])}, {self._digest()[:8]}{rest})"

    def describe(self) -> dict[str, Any]:
        """Return the size of the data and a digest of its numbers, ready for JSON."""
        shape = [len(self.rows), len(self.rows[0])]
        return {"name": self.name, "shape": shape, "numbers": self._digest(), "standardise": self.standardise}

    def _digest(self) -> str:
        return hashlib.sha256(repr((self.rows, self.labels)).encode()).hexdigest()[:16]

    def draw(self, rng: Stream | None) -> ClassificationArms:
        """Return an instance; its order is drawn while it is played."""
        rows = np.array(self.rows)
        return arms_of_rows(standardised(rows) if self.standardise else rows, np.array(self.labels, np.int64))

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return UNIT_INTERVAL
