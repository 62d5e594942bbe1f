"""Random instances as in the paper: K arms whose means are uniform on an interval."""

from dataclasses import dataclass

from corebandit.contracts.recipe import UNIT_INTERVAL, Problem
from corebandit.contracts.validate import check_count, check_number
from corebandit.problems.arms import Arms, Bernoulli, Beta, Gaussian, Law, arms_of
from corebandit.randomness.stream import Stream


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
        return arms_of([Bernoulli(_between(self.low, self.high, rng)) for _ in range(self.n_arms)])

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
        means = [_between(self.low, self.high, rng) for _ in range(self.n_arms)]
        return arms_of([Beta(self.v * mu, self.v * (1.0 - mu)) for mu in means])

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
        return arms_of([Gaussian(_between(self.low, self.high, rng), self.sigma) for _ in range(self.n_arms)])


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


def _between(low: float, high: float, rng: Stream) -> float:
    return low + (high - low) * rng.random()
