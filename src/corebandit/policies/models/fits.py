"""Fits of a user's estimator to perturbed rewards: of all rows, of equal rows gathered, or fed one row after the other.

A model is kept in a state beside its arrays, and holds nothing that could not be made again from them: a state that is
given more room, or loaded, simply starts with a model that has not been fitted.
"""

from typing import Any, NamedTuple

import numpy as np

from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import shortened
from corebandit.policies.models.estimators import free_random_states, spelled, unfitted_copy


class Fit(NamedTuple):
    """What a fit is made of besides rows: their perturbed rewards, `(n,)`, a seed, and how many columns; None: all."""

    targets: FloatArray
    seed: int
    n_columns: int | None = None


class Model:
    """The current fit of an estimator, made anew by `learn`. Everything it is made of is in the state's arrays."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.is_apart = False  # whether someone else sees to it that it is fitted when it is time
        self.n_columns: int | None = None  # that the current fit knows, where others came since; None: all
        self.current: Any = None  # None: the last fit is not here, since the state was given more room, or loaded
        self._random_states = free_random_states(estimator)

    @property
    def name(self) -> str:
        """Return what the estimator is called in sentences."""
        return spelled(self.estimator)

    def unfitted(self, seed: int) -> Any:
        """Return a new estimator, whose random states are set if nobody has set them."""
        fresh = unfitted_copy(self.estimator)
        if self._random_states:
            seeds = np.random.SeedSequence(seed).generate_state(len(self._random_states))
            fresh.set_params(**dict(zip(self._random_states, (seeds // 2).tolist(), strict=True)))
        return fresh

    def learn(self, rows: FloatArray, targets: FloatArray, seed: int) -> None:
        """Fit to all rows `(n, d)` and their perturbed rewards `(n,)`."""
        self._call("fit", self.unfitted(seed), rows.copy(), targets.copy())

    def _call(self, method: str, estimator: Any, *data: FloatArray, **options: FloatArray) -> None:
        try:
            getattr(estimator, method)(*data, **options)
        except Exception as error:
            (n, d), targets = data[0].shape, data[1]
            rows = f"{n} row{'s' if n != 1 else ''} of {d} features"
            hint = ", some of them below 0" if targets.min() < 0 else ""
            raise BadInput(
                f"{self.name} failed in {method} with {rows} and their perturbed rewards{hint}: "
                f"{type(error).__name__}: {error}"
            ) from error
        self.current = estimator

    def predicted(self, features: FloatArray) -> Any:
        """Return what the current fit says of each row."""
        return self.current.predict(features)

    def predict(self, features: FloatArray) -> FloatArray:
        """Return one finite number for each row, or say what came instead."""
        n_rows = len(features)
        try:
            predicted = np.asarray(self.predicted(features[:, : self.n_columns].copy()))
        except Exception as error:
            raise BadInput(f"{self.name} failed in predict: {type(error).__name__}: {error}") from error
        if predicted.dtype.kind not in "fiub":
            raise BadInput(
                f"{self.name} must predict numbers, so take a regressor; it predicted {shortened(predicted.tolist())}"
            )
        if predicted.shape != (n_rows,):
            raise BadInput(
                f"{self.name} must predict one number a row, an array of shape ({n_rows},), not {predicted.shape}"
            )
        if not np.isfinite(predicted).all():
            raise BadInput(f"{self.name} must predict finite numbers, not {shortened(predicted.tolist())}")
        return predicted.astype(np.float64)


class AggregatingModel(Model):
    """Fits equal rows once, with their mean reward, weighted by their number."""

    def __init__(self, estimator: Any) -> None:
        super().__init__(estimator)
        self._groups: dict[bytes, int] = {}
        self._firsts: list[int] = []  # where each distinct row was first
        self._group_of = np.zeros(0, np.int64)  # of each row

    def learn(self, rows: FloatArray, targets: FloatArray, seed: int) -> None:
        """Fit to all distinct rows."""
        n_known = len(self._group_of)
        new = [self._group(index, row) for index, row in enumerate(rows[n_known:] + 0.0, n_known)]  # -0.0 is 0.0
        self._group_of = np.concatenate([self._group_of, np.array(new, np.int64)])
        group_of = self._group_of[: len(rows)]
        counts = np.bincount(group_of)
        means = np.bincount(group_of, targets) / counts
        distinct = rows[self._firsts[: len(counts)]]
        self._call("fit", self.unfitted(seed), distinct, means, sample_weight=counts.astype(np.float64))

    def _group(self, index: int, row: FloatArray) -> int:
        group = self._groups.setdefault(row.tobytes(), len(self._firsts))
        if group == len(self._firsts):
            self._firsts.append(index)
        return group


class IncrementalModel(Model):
    """Feeds each row to `partial_fit` once, one by one, so that it makes no difference when that happens."""

    n_fed = 0

    def learn(self, rows: FloatArray, targets: FloatArray, seed: int) -> None:
        """Feed what is new; all, if the last fit is not here."""
        if self.current is None:
            self.current, self.n_fed = self.unfitted(seed), 0
        for index in range(self.n_fed, len(rows)):
            self._call("partial_fit", self.current, rows[index : index + 1].copy(), targets[index : index + 1].copy())
        self.n_fed = len(rows)


class Constant:
    """What a classifier would say that has met one class alone, which most refuse to be fitted to."""

    def __init__(self, label: float) -> None:
        self.classes_ = np.array([1.0])
        self.label = label

    def predict_proba(self, features: FloatArray) -> FloatArray:
        """Return the probability of 1 for each row, `(n, 1)`."""
        return np.full((len(features), 1), self.label)


class ClassifierModel(Model):
    """Fits a classifier to rewards of 0 and 1, and predicts the probability of 1.

    A perturbed reward is no class. So it is cut to what lies between 0 and 1, and is 1 with that probability: what is
    expected of the labels of a row still rises with its mean reward, in a straight line, and their noise explores.
    """

    def learn(self, rows: FloatArray, targets: FloatArray, seed: int) -> None:
        """Fit to all rows and labels drawn from their perturbed rewards."""
        chances = np.clip(targets, 0.0, 1.0)
        labels = (np.random.default_rng(seed).random(chances.size) < chances).astype(np.float64)
        if labels.min() == labels.max():
            self.current = Constant(float(labels[0]))
        else:
            self._call("fit", self.unfitted(seed), rows.copy(), labels)

    def predicted(self, features: FloatArray) -> Any:
        """Return the probability of 1 for each row."""
        return self.current.predict_proba(features)[:, list(self.current.classes_).index(1)]
