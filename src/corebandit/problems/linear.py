"""Linear bandits: the mean reward is x' theta. Features stay the same, or are new in every round.

Logistic bandits (`logistic.py`) have the same arms with another mean, so a policy is compiled once for both.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corebandit.compiled.bridge import allocating_nothing, inlined, kernel
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL, Problem
from corebandit.contracts.state import FloatArray, one_of
from corebandit.contracts.validate import check_choice, check_count, check_number
from corebandit.problems.arms import BERNOULLI, BETA, GAUSSIAN, draw_reward
from corebandit.randomness.bits import Words
from corebandit.randomness.samplers import standard_normal
from corebandit.randomness.stream import Stream

REWARDS = {"bernoulli": BERNOULLI, "beta": BETA, "gaussian": GAUSSIAN}
LEAST_BETA_MEAN = 1e-6  # a beta law has no mean of 0 or 1
THETA_LENGTH = 0.5
MOST_IN_LABEL = 20
ROUNDING = 1e-12  # how far outside [0, 1] sums may put a mean that is 0 or 1: 0.3 - 3 * 0.1 < 0


@inlined
def draw_around(law: int, mean: float, spread: float, words: Words) -> float:
    """Draw a reward of this mean; `spread` is sigma of Gaussian rewards, v of beta rewards."""
    if law != BETA:
        return draw_reward(law, mean, spread, words)
    mean = min(max(mean, LEAST_BETA_MEAN), 1.0 - LEAST_BETA_MEAN)
    return draw_reward(BETA, spread * mean, spread * (1.0 - mean), words)


@allocating_nothing
class LinearArms(NamedTuple):
    """Arms with features, whose mean reward is linear in them, or a logistic function of that."""

    features: FloatArray  # (n_arms, d) of every round, or the room for them
    theta: FloatArray  # (d,)
    law: int
    spread: float  # sigma of Gaussian rewards, v of beta rewards
    is_contextual: bool  # new features in every round
    is_logistic: bool = False

    @property
    def n_arms(self) -> int:
        """Return the number of arms."""
        return int(self.features.shape[0])

    @property
    def n_features(self) -> int:
        """Return the number of features."""
        return self.theta.size

    def offer(self, current_round: int, rng: Stream, features: FloatArray) -> bool:
        """Fill `features` for the coming round, counted from 1, and tell whether they are new."""
        n_arms, d = features.shape
        if self.is_contextual:
            for arm in range(n_arms):
                random_row(features[arm], rng.words)
            return True
        if current_round > 1:
            return False
        for arm in range(n_arms):
            for j in range(d):
                features[arm, j] = self.features[arm, j]
        return True

    def mean(self, arm: int, x: FloatArray) -> float:
        """Return the mean reward of an arm with features `x`."""
        total = 0.0
        for j in range(x.size):
            total += x[j] * self.theta[j]
        return 1.0 / (1.0 + math.exp(-total)) if self.is_logistic else total

    def pull(self, arm: int, x: FloatArray, rng: Stream) -> float:
        """Draw a reward of an arm with features `x`."""
        return draw_around(self.law, self.mean(arm, x), self.spread, rng.words)


@kernel
def random_direction(direction: FloatArray, words: Words) -> None:
    """Fill `direction` with a point uniform on the unit sphere."""
    length = 0.0
    for j in range(direction.size):
        direction[j] = standard_normal(words)
        length += direction[j] * direction[j]
    length = math.sqrt(length)
    for j in range(direction.size):
        direction[j] /= length


@kernel
def random_row(row: FloatArray, words: Words) -> None:
    """Fill `row` with a point uniform on the unit sphere, and a constant 1 at the end."""
    random_direction(row[:-1], words)
    row[-1] = 1.0


@kernel
def _draw_linear(words: Words, features: NDArray[np.float64], thetas: FloatArray) -> None:
    """Fill `features` `(instances, n_arms, d)` and `thetas` `(instances, d)` with random rows."""
    for index in range(words.shape[0]):
        for arm in range(features.shape[1]):
            random_row(features[index, arm], words[index])
        random_row(thetas[index], words[index])


def check_basis(n_arms: int, n_features: int) -> None:
    """Raise BadInput unless there are arms enough for a basis."""
    check_count("n_features", n_features, at_least=2)
    if check_count("n_arms", n_arms) < n_features:
        raise BadInput(
            f"n_arms must be at least n_features, {n_features}, since the first arms are a basis, not {n_arms}"
        )


def random_features(n_arms: int, n_features: int, rng: Stream) -> FloatArray:
    """Return features `(n_arms, n_features)` of arms on the unit sphere, a basis first, with a constant at the end."""
    features = np.zeros((n_arms, n_features))
    for row in features:
        random_row(row, rng.words)
    features[:n_features] = np.eye(n_features)
    features[:, -1] = 1.0
    return features


def random_theta(n_features: int, length: float, rng: Stream) -> FloatArray:
    """Return theta `(n_features,)`, uniform on the sphere of this radius, and the radius again for the constant."""
    theta = np.zeros(n_features)
    random_row(theta, rng.words)
    return length * theta


@dataclass(frozen=True, kw_only=True)
class PaidByMean(Problem):
    """What problems share whose arms have a mean each: how rewards are paid."""

    rewards: str = "bernoulli"
    sigma: float = 0.5
    v: float = 4.0

    def __post_init__(self) -> None:
        check_choice("rewards", self.rewards, REWARDS)
        check_number("sigma", self.sigma, at_least=0)
        check_number("v", self.v, above=0)

    @property
    def spread(self) -> float:
        """Return what `draw_around` takes beside a mean."""
        return float(self.v if self.rewards == "beta" else self.sigma)

    @property
    def support(self) -> tuple[float, float]:
        """Return bounds that every reward keeps."""
        return REAL_LINE if self.rewards == "gaussian" else UNIT_INTERVAL


@dataclass(frozen=True, kw_only=True)
class LinearProblem(PaidByMean):
    """A problem whose means are linear in features."""

    def arms(self, features: FloatArray, theta: FloatArray, is_contextual: bool = False) -> LinearArms:
        """Return arms with these features `(n_arms, d)` and this theta `(d,)` that pay such rewards."""
        return LinearArms(features, theta, REWARDS[self.rewards], self.spread, is_contextual)


@dataclass(frozen=True)
class LinearBandit(LinearProblem):
    """Random arms with fixed features, as in the paper: means 0.5 + <x, theta>, between 0 and 1.

    Features are uniform on the unit sphere of the first d - 1 dimensions, the last one is constant; the first d arms
    are the basis vectors (plus the constant). theta is uniform on the sphere of radius 0.5, plus 0.5 for the constant.

    Parameters
    ----------
    n_arms, n_features
        How many, n_arms >= n_features.
    rewards
        "bernoulli", "beta" (Beta(v mu, v (1 - mu))) or "gaussian" (N(mu, sigma^2)).
    sigma, v
        Spread of Gaussian rewards; of beta rewards.

    >>> LinearBandit(rewards="gaussian", sigma=0.2).label
    "linear(rewards='gaussian', sigma=0.2)"
    """

    name = "linear"
    n_arms: int = 50
    n_features: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_basis(self.n_arms, self.n_features)

    def draw(self, rng: Stream) -> LinearArms:
        """Return a random instance."""
        return one_of(self.draw_many(rng.words[None]))

    def draw_many(self, words: Words) -> LinearArms:
        """Return random instances."""
        features = np.empty((len(words), self.n_arms, self.n_features))
        thetas = np.empty((len(words), self.n_features))
        _draw_linear(words, features, thetas)
        features[:, : self.n_features] = np.eye(self.n_features)
        features[:, :, -1] = 1.0
        return self.arms(np.moveaxis(features, 0, -1), np.moveaxis(THETA_LENGTH * thetas, 0, -1))


@dataclass(frozen=True)
class ContextualBandit(LinearProblem):
    """Arms whose features are new in every round; otherwise as `LinearBandit`.

    >>> ContextualBandit(n_arms=5).label
    'contextual(n_arms=5)'
    """

    name = "contextual"
    n_arms: int = 50
    n_features: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_features", self.n_features, at_least=2)
        check_count("n_arms", self.n_arms)

    def draw(self, rng: Stream) -> LinearArms:
        """Return a random instance."""
        features = np.zeros((self.n_arms, self.n_features))
        return self.arms(features, random_theta(self.n_features, THETA_LENGTH, rng), is_contextual=True)


@dataclass(frozen=True)
class FixedLinear(LinearProblem):
    """Arms with the features and the theta that you give.

    Parameters
    ----------
    features
        `(n_arms, d)`, one row for each arm; they must span all d dimensions.
    theta
        `(d,)`; the mean reward of a row x is x' theta, and must be between 0 and 1 unless rewards are Gaussian.

    >>> problem = FixedLinear([[1, 0], [0, 1], [1, 1]], theta=[0.2, 0.4])
    >>> problem.draw(rng=None).n_arms
    3
    """

    name = "fixed_linear"
    features: Sequence[Sequence[float]]
    theta: Sequence[float]

    def __post_init__(self) -> None:
        """Validate, and freeze the numbers."""
        super().__post_init__()
        features, theta = _numbers("features", self.features, 2), _numbers("theta", self.theta, 1)
        if theta.size != features.shape[1]:
            raise BadInput(f"theta must have {features.shape[1]} numbers, one for each feature, not {theta.size}")
        check_spanning(features)
        with np.errstate(over="ignore", invalid="ignore"):
            means = features @ theta
        if not np.isfinite(means).all():
            raise BadInput("the mean rewards x' theta must be finite, but features and theta are too large")
        if self.rewards != "gaussian" and (means.min() < -ROUNDING or means.max() > 1.0 + ROUNDING):
            arm = int(np.argmax(np.abs(means - 0.5)))
            raise BadInput(
                f"the mean rewards x' theta must be in [0, 1] for {self.rewards} rewards, but that of arm {arm} is "
                f"{means[arm]:g}"
            )
        object.__setattr__(self, "features", tuple(map(tuple, features.tolist())))
        object.__setattr__(self, "theta", tuple(theta.tolist()))

    @property
    def label(self) -> str:
        """Return the whole problem if it is small, else its size and a digest of its numbers."""
        if len(self.features) * len(self.theta) <= MOST_IN_LABEL:
            return super().label
        numbers = hashlib.sha256(repr((self.features, self.theta)).encode()).hexdigest()[:8]
        rest = f", rewards={self.rewards!r}, sigma={self.sigma:g}, v={self.v:g}"
        return f"{self.name}({len(self.features)} x {len(self.theta)}, {numbers}{rest})"

    def draw(self, rng: Stream | None) -> LinearArms:
        """Return the arms; nothing about them is random."""
        return self.arms(np.array(self.features), np.array(self.theta))


def check_spanning(features: FloatArray) -> None:
    """Raise BadInput unless the rows of `features` `(n_arms, d)` span all d dimensions, whatever their scales."""
    d = features.shape[1]
    for axis in (1, 0):
        largest = np.abs(features).max(axis=axis, keepdims=True)
        features = features / np.where(largest > 0, largest, 1.0)
    rank = int(np.linalg.matrix_rank(features))
    if rank < d:
        raise BadInput(
            f"features must span all {d} dimensions, but span {rank}: no rewards could ever tell what the rest is "
            "worth; drop columns that are zero or follow from others, or add arms"
        )


def _numbers(name: str, values: Sequence[object], n_axes: int) -> FloatArray:
    shape = "(n_arms, d)" if n_axes == 2 else "(d,)"
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{name} must be numbers of shape {shape}: {error}") from None
    if array.ndim != n_axes or array.size == 0:
        raise BadInput(f"{name} must have the shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise BadInput(f"{name} must be finite, but hold {array[~np.isfinite(array)][0]}")
    return array
