r"""EstimatorCORe: Capitalizing On Rewards around any estimator (Wang, Kveton and Karimzadehgan, UAI 2021, Section 3).

The paper's scheme says nothing about the estimator: perturb every past reward with a draw from the pool of all past
rewards, centred and mirrored, fit, and choose the best prediction:

    fit(X, Y + Z), Z_l drawn from {±alpha (Y_m - mean(Y))};   the row of the highest predict(x) is chosen

So the estimator is an object with `fit(X, y)` and `predict(X)`, and never sees anything else. To fit the whole history
anew in every round costs what a fit costs. There are three ways to pay less, and each has its price:

* `refit=m` or "geometric": between two fits the last one predicts. Its noise is frozen meanwhile, so the exploration of
  these rounds is not independent, and what they bring is learnt late.
* `aggregate=True`: equal rows are fitted once, with their mean reward and their number as `sample_weight`. The same fit
  where the loss is squared error, summed; not where weights mean something else, or rows are drawn or counted.
* `incremental=True`: each observation is fed to `partial_fit` once, with fresh noise. The noise of old observations is
  then frozen for good: an approximation, on the one problem it was measured on worse than no noise at all.

The warm-up is LinCORe's, the arm chosen least so far, ties at random, but lasts at least one round for each arm and not
for each feature: not every model needs so many rows. On ridge regression without a constant, with warm-up over and
every row seen, this is LinCORe(sampler="exact"), at a much higher price.
"""

import inspect
import json
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import UNIT_INTERVAL, FeaturePolicy, added_after_0_4
from corebandit.contracts.state import FloatArray, IntArray, IntScratch
from corebandit.contracts.validate import check_count, check_flag, shortened
from corebandit.parts.pool import SEEN, Pool, new_pool
from corebandit.parts.warm_up import check_noise, is_warming_up, known_log, rounds_per_log, whole_warm_up
from corebandit.policies.models.estimators import (
    RidgeRegression,
    checked_estimator,
    definitions,
    description,
    is_classifier,
    spelled,
    versions,
)
from corebandit.policies.models.fits import AggregatingModel, ClassifierModel, Fit, IncrementalModel, Model
from corebandit.randomness.stream import Stream

GEOMETRIC = "geometric"
GROWTH = 10  # a geometric schedule fits again when a tenth is new: seven or eight fits each time the history doubles
LARGEST_SEED = 2**31
FITTED, FIT_SEED, DECIDED = 0, 1, 2  # what `last_fit` holds where
DEFAULT = RidgeRegression()


@EntryPoint
def perturb(pool: Pool, first: int, alpha: float, n_first: int, extra: int, rng: Stream, targets: FloatArray) -> None:
    """Fill `targets` with the rewards from the `first` on, each with a draw from the pool added.

    The very first `n_first` have `extra` draws more.
    """
    pool.draw_each(rng, targets)
    for index in range(targets.size):
        if extra > 0 and first + index < n_first:
            targets[index] += pool.draw_sum(extra, rng)
        targets[index] = pool.values[first + index] + alpha * targets[index]


class EstimatorCOReState(NamedTuple):
    """What EstimatorCORe has learnt."""

    rows: FloatArray  # (capacity, d) the features of each observation
    pool: Pool  # keeps all rewards, in order
    targets: FloatArray  # (capacity,) the perturbed rewards of the last fit
    last_fit: IntArray  # (3,) how many observations it is of, its seed, decisions made before it
    n_decided: IntScratch  # (1,) decisions made before the coming one
    counts: FloatArray  # (n_arms,) how often each was chosen
    model: Model
    refit: int  # rounds from fit to fit; 0: geometric
    alpha: float
    warm_up: float  # warm-up rounds for each unit of the log horizon
    log_horizon: float  # negative: not known
    extra: int  # draws for each of the first observations, as many as there are arms, besides their own

    def begin_round(self, decided: int, left: int, pending: IntArray) -> None:
        """Note how many decisions were made: fits may be due because of these."""
        self.n_decided[0] = decided

    def prepare(self, rng: Stream) -> bool:
        """Fit the estimator if that is due, and tell whether it was; if it fails, nothing has changed."""
        n_observations, n_fitted = int(self.pool.tally[SEEN]), int(self.last_fit[FITTED])
        if self.leads(self.counts.size) or (self.model.is_apart and n_fitted > 0) or not self.is_due(n_observations):
            return False
        words = rng.words.copy()
        try:
            targets, seed = self.perturbed(n_observations, rng), self.next_seed(rng)
            self.model.learn(self.rows[:n_observations], targets, seed)
        except BaseException:
            self.model.current = None
            rng.words[:] = words
            raise
        self.targets[: targets.size] = targets
        self.last_fit[:] = targets.size, seed, self.n_decided[0]
        return True

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the estimator's predictions; a fit that is not here is made again from what it was."""
        if self.leads(scores.size) or self.last_fit[FITTED] == 0:
            scores[:] = -self.counts[: scores.size]
            return
        if self.model.current is None:
            n_fitted, seed, _ = self.last_fit.tolist()
            fit = Fit(self.targets[:n_fitted], seed, self.model.n_columns)
            if self.model.is_apart:
                self.model.current = self.fitted(fit, self.rows[:n_fitted])
            else:
                self.model.learn(self.rows[:n_fitted], fit.targets, seed)
        scores[:] = self.model.predict(features)

    def leads(self, n_rows: int) -> bool:
        """Tell whether the warm-up lasts, in which the arm chosen least so far is next."""
        return is_warming_up(int(self.pool.tally[SEEN]) + 1, n_rows, self.warm_up, self.log_horizon)

    def is_due(self, n_observations: int) -> bool:
        """Tell whether it is time to fit."""
        n_fitted, _, n_decided = self.last_fit.tolist()
        n_new = n_observations - n_fitted
        if n_fitted == 0 or isinstance(self.model, IncrementalModel):
            return bool(n_new > 0)
        return bool(max(n_new, self.n_decided[0] - n_decided) >= self.rounds_between())

    def rounds_between(self) -> int:
        """Return how many rounds after the last fit the next one is due."""
        return self.refit or max(1, int(self.last_fit[FITTED]) // GROWTH)

    def perturbed(self, n_observations: int, rng: Stream) -> FloatArray:
        """Return all rewards with fresh noise; the noise of what has been fed already stays."""
        n_kept = int(self.last_fit[FITTED]) if isinstance(self.model, IncrementalModel) else 0
        fresh = np.zeros(n_observations - n_kept)
        perturb.compiled(self.pool, n_kept, self.alpha, self.counts.size, self.extra, rng, fresh)
        return np.concatenate([self.targets[:n_kept], fresh])

    def next_seed(self, rng: Stream) -> int:
        """Return the seed of the next fit; an estimator that is fed on and on keeps its own."""
        is_going_on = isinstance(self.model, IncrementalModel) and self.last_fit[FITTED] > 0
        return int(self.last_fit[FIT_SEED]) if is_going_on else int(rng.integers(LARGEST_SEED))

    # Fits beside the decisions ------------------------------------------------------------------------------------

    def begin_fit(self, rng: Stream) -> Fit | None:
        """Return what the next fit is made of, if it is time and there is a model that answers meanwhile."""
        n_observations = int(self.pool.tally[SEEN])
        if self.model.current is None or not self.is_due(n_observations):
            return None
        return Fit(self.perturbed(n_observations, rng), self.next_seed(rng), self.rows.shape[1])

    def fitted(self, fit: Fit, rows: FloatArray) -> Any:
        """Return an estimator that was fitted; nothing of the state is touched."""
        model = type(self.model)(self.model.estimator)
        model.learn(rows[:, : fit.n_columns], fit.targets, fit.seed)
        return model.current

    def end_fit(self, fit: Fit, estimator: Any) -> None:
        """Let an estimator that was fitted answer from now on."""
        self.targets[: fit.targets.size] = fit.targets
        self.last_fit[:] = fit.targets.size, fit.seed, self.n_decided[0]
        self.model.current, self.model.n_columns = estimator, fit.n_columns

    def go_on_from(self, before: Self | None) -> None:
        """Leave it to others to fit again; go on with the model of a state with less room, or fewer columns."""
        self.model.is_apart = True
        if before is not None and before.last_fit[FITTED] > 0:
            self.model.current = before.model.current
            self.model.n_columns = before.model.n_columns or before.rows.shape[1]

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward; the estimator hears of it when it is fitted next."""
        self.rows[self.pool.tally[SEEN]] = x
        self.counts[arm] += 1.0
        self.pool.add(reward, rng)


@dataclass(frozen=True)
class EstimatorCORe(FeaturePolicy):
    """Perturb each past reward with rewards drawn from everything seen, and fit the estimator you bring.

    Parameters
    ----------
    estimator
        An object with `fit(X, y)` and `predict(X)`: a regressor or pipeline of scikit-learn, or of your own; or, for
        rewards of 0 and 1, a classifier with `predict_proba(X)`, whose labels are drawn from the perturbed rewards. It
        is copied and never changed. Or where to find one: `"sklearn.linear_model:Ridge(alpha=2.0)"`. Parameters called
        `random_state` that are None are set, anew for each fit, so that the seed decides everything.
    alpha
        Scale of the noise; 0 is greedy.
    z, warm_up
        As in `CORe`; the warm-up lasts at least one round for each arm.
    refit
        Fit after so many rounds (decisions or rewards, whichever are more), or "geometric": when a tenth is new. In
        between the last fit predicts, with its noise frozen.
    aggregate
        Fit equal rows once, with their mean reward and their number as `sample_weight`: the same for estimators that
        minimise a weighted sum of squared errors, and cheap where features do not change.
    incremental
        Feed each observation once to `partial_fit` instead of fitting all anew: an approximation, in which the noise of
        old observations stays as it was.

    extra
        Draws in the noise of each of the first observations, as many as there are arms, besides their own: with
        `warm_up=0`, which tries every arm once, in place of the warm-up.

    >>> EstimatorCORe(RidgeRegression(lam=2.0), refit=10).label
    'EstimatorCORe(RidgeRegression(lam=2.0), refit=10)'
    """

    runs_compiled: ClassVar[bool] = False
    can_be_rebuilt: ClassVar[bool] = False

    estimator: Any = DEFAULT
    alpha: float = 0.6
    z: float = 0.6
    warm_up: float = 4.0
    refit: int | str = 1
    aggregate: bool = False
    incremental: bool = False
    extra: int = added_after_0_4(0)

    def __post_init__(self) -> None:
        """Validate, and copy the estimator, so that nobody changes it."""
        object.__setattr__(self, "estimator", checked_estimator(self.estimator))
        check_noise(self.alpha, self.z, self.warm_up)
        check_count("extra", self.extra, at_least=0)
        if isinstance(self.refit, str):
            if self.refit != GEOMETRIC:
                raise BadInput(
                    f"refit must be a whole number of at least 1 or {GEOMETRIC!r}, not {shortened(self.refit)}"
                )
        else:
            check_count("refit", self.refit)
        check_flag("aggregate", self.aggregate)
        check_flag("incremental", self.incremental)
        if self.aggregate and "sample_weight" not in inspect.signature(self.estimator.fit).parameters:
            raise BadInput(f"aggregate needs an estimator whose fit takes sample_weight, not {self._spelled}")
        if self.incremental and not callable(getattr(self.estimator, "partial_fit", None)):
            raise BadInput(f"incremental needs an estimator that has partial_fit, not {self._spelled}")
        if is_classifier(self.estimator) and (self.aggregate or self.incremental):
            raise BadInput(f"aggregate and incremental are for regressors, not for the classifier {self._spelled}")
        if self.incremental and (self.aggregate or self.refit != 1):
            raise BadInput("incremental feeds each observation once, so it goes with neither aggregate nor refit")

    def __eq__(self, other: object) -> bool:
        """Tell whether the other does the same: estimators themselves compare by identity."""
        return type(other) is type(self) and self.describe() == other.describe()

    def __hash__(self) -> int:
        """Go with equality."""
        return hash(json.dumps(self.describe(), sort_keys=True))

    def describe(self) -> dict[str, Any]:
        """Return the name and all parameters, ready for JSON, the estimator's and its libraries' versions included."""
        estimator = {**description(self.estimator), "versions": versions(self.estimator)}
        return {**super().describe(), "estimator": estimator}

    def is_described_by(self, description: Any) -> bool:
        """Tell whether a description is of this policy; the versions of libraries may have moved on."""
        return bool(_without_versions(description) == _without_versions(self.describe()))

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for: classifiers know 0 and 1."""
        return UNIT_INTERVAL if is_classifier(self.estimator) else super().reward_range

    def outside_code(self) -> frozenset[Any]:
        """Return the classes and functions that the estimator is made of."""
        return definitions(self.estimator)

    @property
    def _spelled(self) -> str:
        return spelled(self.estimator)

    @property
    def label(self) -> str:
        """Return the name with the estimator and the parameters that are not at their defaults."""
        changed = [] if description(self.estimator) == description(DEFAULT) else [self._spelled]
        for field in fields(self)[1:]:
            if getattr(self, field.name) != field.default:
                changed.append(f"{field.name}={self._value(field)!r}")
        return f"{self.name}({', '.join(changed)})" if changed else self.name

    def warm_up_rounds(self, n_features: int, horizon: int) -> int:
        """Return how many rounds the warm-up lasts, if there are not more arms than that."""
        return whole_warm_up(1, horizon, self.z, self.warm_up)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> EstimatorCOReState:
        """Return a state that has seen nothing."""
        kind = IncrementalModel if self.incremental else AggregatingModel if self.aggregate else Model
        kind = ClassifierModel if is_classifier(self.estimator) else kind
        return EstimatorCOReState(
            rows=np.zeros((capacity, n_features)),
            pool=new_pool(capacity, "exact"),
            targets=np.zeros(capacity),
            last_fit=np.zeros(3, np.int64),
            n_decided=np.zeros(1, np.int64),
            counts=np.zeros(n_arms),
            model=kind(self.estimator),
            refit=0 if self.refit == GEOMETRIC else int(self.refit),
            alpha=float(self.alpha),
            warm_up=rounds_per_log(self.z, self.warm_up),
            log_horizon=known_log(horizon),
            extra=int(self.extra),
        )


def _without_versions(policy: Any) -> Any:
    estimator = policy.get("estimator") if isinstance(policy, dict) else None
    if not isinstance(estimator, dict):
        return policy
    return {**policy, "estimator": {name: value for name, value in estimator.items() if name != "versions"}}
