"""Random instances: K arms whose means are uniform on an interval, as in the paper, and such that are harder."""

import math
from dataclasses import dataclass

import numpy as np

from corebandit.contracts.recipe import UNIT_INTERVAL, Problem
from corebandit.contracts.state import FloatArray, one_of
from corebandit.contracts.validate import check_count, check_number
from corebandit.problems.arms import (
    BERNOULLI,
    BETA,
    GAUSSIAN,
    PURCHASE,
    STUDENT_T,
    Arms,
    Bernoulli,
    Beta,
    Gaussian,
    Law,
    arms_of,
)
from corebandit.randomness.bits import Words
from corebandit.randomness.stream import Stream, uniforms


def _check_means(n_arms: int, low: float, high: float, *, at_least: float | None, at_most: float | None) -> None:
    check_count("n_arms", n_arms)
    check_number("low", low, at_least=at_least, at_most=at_most)
    check_number("high", high, at_least=low, at_most=at_most)


@dataclass(frozen=True)
class BernoulliBandit(Problem):
    """Arms that pay 0 or 1, with means uniform on [low, high].

    >>> BernoulliBandit(n_arms=5).label
    'bernoulli(n_arms=5)'
    """

    name = "bernoulli"
    n_arms: int = 10
    low: float = 0.25
    high: float = 0.75

    def __post_init__(self) -> None:
        _check_means(self.n_arms, self.low, self.high, at_least=0, at_most=1)

    def draw(self, rng: Stream) -> Arms:
        """Return a random instance."""
        return one_of(self.draw_many(rng.words[None]))

    def draw_many(self, words: Words) -> Arms:
        """Return random instances."""
        means = _uniform(self.low, self.high, self.n_arms, words)
        return _alike(BERNOULLI, means, np.zeros_like(means), means)

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return UNIT_INTERVAL


@dataclass(frozen=True)
class BetaBandit(Problem):
    """Arms that pay Beta(v mu, v (1 - mu)), with means mu uniform on [low, high].

    >>> BetaBandit(v=8.0).label
    'beta(v=8.0)'
    """

    name = "beta"
    n_arms: int = 10
    v: float = 4.0
    low: float = 0.25
    high: float = 0.75

    def __post_init__(self) -> None:
        _check_means(self.n_arms, self.low, self.high, at_least=1e-6, at_most=1 - 1e-6)
        check_number("v", self.v, above=0)

    def draw(self, rng: Stream) -> Arms:
        """Return a random instance."""
        return one_of(self.draw_many(rng.words[None]))

    def draw_many(self, words: Words) -> Arms:
        """Return random instances."""
        means = _uniform(self.low, self.high, self.n_arms, words)
        a, b = self.v * means, self.v * (1.0 - means)
        return _alike(BETA, a, b, a / (a + b))

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return UNIT_INTERVAL


@dataclass(frozen=True)
class GaussianBandit(Problem):
    """Arms that pay N(mu, sigma^2), with means mu uniform on [low, high].

    >>> GaussianBandit(sigma=0.2).label
    'gaussian(sigma=0.2)'
    """

    name = "gaussian"
    n_arms: int = 10
    sigma: float = 0.5
    low: float = 0.25
    high: float = 0.75

    def __post_init__(self) -> None:
        _check_means(self.n_arms, self.low, self.high, at_least=None, at_most=None)
        check_number("sigma", self.sigma, at_least=0)

    def draw(self, rng: Stream) -> Arms:
        """Return a random instance."""
        return one_of(self.draw_many(rng.words[None]))

    def draw_many(self, words: Words) -> Arms:
        """Return random instances."""
        means = _uniform(self.low, self.high, self.n_arms, words)
        return _alike(GAUSSIAN, means, np.full_like(means, self.sigma), means)


@dataclass(frozen=True)
class MixedBandit(Problem):
    """Arms that take turns to pay Bernoulli, beta and Gaussian rewards, each Gaussian arm with a noise of its own.

    Means are uniform on [low, high], the noise of the Gaussian arms is uniform on [least_sigma, most_sigma].

    >>> MixedBandit(n_arms=6).label
    'mixed(n_arms=6)'
    """

    name = "mixed"
    n_arms: int = 10
    v: float = 4.0
    least_sigma: float = 0.1
    most_sigma: float = 1.0
    low: float = 0.25
    high: float = 0.75

    def __post_init__(self) -> None:
        _check_means(self.n_arms, self.low, self.high, at_least=1e-6, at_most=1 - 1e-6)
        check_number("v", self.v, above=0)
        check_number("least_sigma", self.least_sigma, at_least=0)
        check_number("most_sigma", self.most_sigma, at_least=self.least_sigma)

    def draw(self, rng: Stream) -> Arms:
        """Return a random instance."""
        return arms_of([self._law(arm, _between(self.low, self.high, rng), rng) for arm in range(self.n_arms)])

    def _law(self, arm: int, mu: float, rng: Stream) -> Law:
        if arm % 3 == 0:
            return Bernoulli(mu)
        if arm % 3 == 1:
            return Beta(self.v * mu, self.v * (1.0 - mu))
        return Gaussian(mu, _between(self.least_sigma, self.most_sigma, rng))


@dataclass(frozen=True)
class StudentTBandit(Problem):
    """Arms whose rewards have outliers, Student's t of 3 degrees of freedom; means are uniform on [low, high].

    >>> StudentTBandit(sigma=0.2).label
    'student_t(sigma=0.2)'
    """

    name = "student_t"
    n_arms: int = 10
    sigma: float = 0.5
    low: float = 0.25
    high: float = 0.75

    def __post_init__(self) -> None:
        _check_means(self.n_arms, self.low, self.high, at_least=None, at_most=None)
        check_number("sigma", self.sigma, at_least=0)

    def draw(self, rng: Stream) -> Arms:
        """Return a random instance."""
        return one_of(self.draw_many(rng.words[None]))

    def draw_many(self, words: Words) -> Arms:
        """Return random instances."""
        means = _uniform(self.low, self.high, self.n_arms, words)
        return _alike(STUDENT_T, means, np.full_like(means, self.sigma), means)


@dataclass(frozen=True)
class UnequalBandit(Problem):
    """Arms that pay N(mu, sigma^2), each with a noise of its own.

    Means are uniform on [low, high], logarithms of the noise between those of least_sigma and most_sigma.

    >>> UnequalBandit(n_arms=6).label
    'unequal(n_arms=6)'
    """

    name = "unequal"
    n_arms: int = 10
    least_sigma: float = 0.1
    most_sigma: float = 1.0
    low: float = 0.25
    high: float = 0.75

    def __post_init__(self) -> None:
        _check_means(self.n_arms, self.low, self.high, at_least=None, at_most=None)
        check_number("least_sigma", self.least_sigma, above=0)
        check_number("most_sigma", self.most_sigma, at_least=self.least_sigma)

    def draw(self, rng: Stream) -> Arms:
        """Return a random instance."""
        return one_of(self.draw_many(rng.words[None]))

    def draw_many(self, words: Words) -> Arms:
        """Return random instances."""
        means = _uniform(self.low, self.high, self.n_arms, words)
        logs = _uniform(math.log(self.least_sigma), math.log(self.most_sigma), self.n_arms, words)
        return _alike(GAUSSIAN, means, np.exp(logs), means)


@dataclass(frozen=True)
class PurchaseBandit(Problem):
    """Arms that mostly pay nothing, and now and then a heavy-tailed amount, as visitors of a shop do.

    How often is uniform on [low, high], the mean amount on [least, most].

    >>> PurchaseBandit(low=0.1, high=0.2).label
    'purchase(low=0.1, high=0.2)'
    """

    name = "purchase"
    n_arms: int = 10
    low: float = 0.02
    high: float = 0.05
    least: float = 10.0
    most: float = 30.0

    def __post_init__(self) -> None:
        _check_means(self.n_arms, self.low, self.high, at_least=0, at_most=1)
        check_number("least", self.least, above=0)
        check_number("most", self.most, at_least=self.least)

    def draw(self, rng: Stream) -> Arms:
        """Return a random instance."""
        return one_of(self.draw_many(rng.words[None]))

    def draw_many(self, words: Words) -> Arms:
        """Return random instances."""
        often = _uniform(self.low, self.high, self.n_arms, words)
        amounts = _uniform(self.least, self.most, self.n_arms, words)
        return _alike(PURCHASE, often, amounts, often * amounts)

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and no upper bound."""
        return 0.0, math.inf


def _uniform(low: float, high: float, count: int, words: Words) -> FloatArray:
    """Return numbers `(count, instances)` that are uniform on [low, high]."""
    drawn = np.empty((count, len(words)))
    uniforms(words, drawn)
    return low + (high - low) * drawn


def _alike(law: int, a: FloatArray, b: FloatArray, means: FloatArray) -> Arms:
    """Return arms of one law, with an axis for instances at the end."""
    return Arms(np.full(means.shape, law, np.int64), a, b, means)


def _between(low: float, high: float, rng: Stream) -> float:
    return low + (high - low) * rng.random()
