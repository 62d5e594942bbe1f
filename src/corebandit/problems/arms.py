"""Arms of known laws, all laws in one class: whatever a problem mixes, a policy is compiled for it once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, kernel
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL, Problem, Recipe
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_number, shortened
from corebandit.randomness.bits import Words, uniform
from corebandit.randomness.samplers import beta, standard_exponential, standard_normal
from corebandit.randomness.stream import Stream

BERNOULLI, BETA, GAUSSIAN, UNIFORM, EXPONENTIAL, STUDENT_T, PURCHASE = range(7)


@kernel
def draw_reward(law: int, a: float, b: float, words: Words) -> float:
    """Draw from a law with the parameters a and b."""
    if law == BERNOULLI:
        return 1.0 if uniform(words) < a else 0.0
    if law == GAUSSIAN:
        return a + b * standard_normal(words)
    if law == BETA:
        return beta(words, a, b)
    if law == UNIFORM:
        return a + (b - a) * uniform(words)
    if law == EXPONENTIAL:
        return a * standard_exponential(words)
    if law == STUDENT_T:
        squares = 0.0
        for _ in range(3):
            squares += standard_normal(words) ** 2
        return a + b * standard_normal(words) / math.sqrt(squares)
    return b * math.exp(standard_normal(words) - 0.5) if uniform(words) < a else 0.0


@allocating_nothing
class Arms(NamedTuple):
    """Arms that pay independent rewards."""

    laws: IntArray  # (n_arms,)
    a: FloatArray  # (n_arms,) first parameter of each law
    b: FloatArray  # (n_arms,) second
    means: FloatArray  # (n_arms,)

    @property
    def n_arms(self) -> int:
        """Return the number of arms."""
        return self.means.size

    def pull(self, arm: int, rng: Stream) -> float:
        """Draw a reward of the arm."""
        return draw_reward(self.laws[arm], self.a[arm], self.b[arm], rng.words)

    def mean(self, arm: int) -> float:
        """Return the arm's mean reward."""
        return float(self.means[arm])

    def best_mean(self) -> float:
        """Return the highest mean."""
        best = self.means[0]
        for mean in self.means:
            best = max(best, mean)
        return float(best)


# The laws ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Law(Recipe):
    """How one arm pays."""

    code: ClassVar[int]

    @property
    def parameters(self) -> tuple[float, float]:
        """Return the two numbers that `draw_reward` takes."""
        raise NotImplementedError

    @property
    def mean(self) -> float:
        """Return the mean reward."""
        raise NotImplementedError

    @property
    def support(self) -> tuple[float, float]:
        """Return bounds that every reward keeps."""
        return REAL_LINE


@dataclass(frozen=True)
class Bernoulli(Law):
    """Pay 1 with probability p, else 0."""

    name, code = "bernoulli", BERNOULLI
    p: float

    def __post_init__(self) -> None:
        check_number("p", self.p, at_least=0, at_most=1)

    @property
    def parameters(self) -> tuple[float, float]:
        """Return p and nothing."""
        return self.p, 0.0

    @property
    def mean(self) -> float:
        """Return p."""
        return self.p

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return UNIT_INTERVAL


@dataclass(frozen=True)
class Beta(Law):
    """Pay a number in [0, 1] with mean a / (a + b)."""

    name, code = "beta", BETA
    a: float
    b: float

    def __post_init__(self) -> None:
        check_number("a", self.a, above=0)
        check_number("b", self.b, above=0)

    @property
    def parameters(self) -> tuple[float, float]:
        """Return a and b."""
        return self.a, self.b

    @property
    def mean(self) -> float:
        """Return a / (a + b)."""
        return self.a / (self.a + self.b)

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return UNIT_INTERVAL


@dataclass(frozen=True)
class Gaussian(Law):
    """Pay N(mu, sigma^2)."""

    name, code = "gaussian", GAUSSIAN
    mu: float
    sigma: float = 0.5

    def __post_init__(self) -> None:
        check_number("mu", self.mu)
        check_number("sigma", self.sigma, at_least=0)

    @property
    def parameters(self) -> tuple[float, float]:
        """Return mu and sigma."""
        return self.mu, self.sigma

    @property
    def mean(self) -> float:
        """Return mu."""
        return self.mu


@dataclass(frozen=True)
class Uniform(Law):
    """Pay a number between low and high."""

    name, code = "uniform", UNIFORM
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        check_number("low", self.low)
        check_number("high", self.high, at_least=self.low)

    @property
    def parameters(self) -> tuple[float, float]:
        """Return low and high."""
        return self.low, self.high

    @property
    def mean(self) -> float:
        """Return the middle."""
        return 0.5 * (self.low + self.high)

    @property
    def support(self) -> tuple[float, float]:
        """Return low and high."""
        return self.low, self.high


@dataclass(frozen=True)
class Exponential(Law):
    """Pay an exponential reward of this mean: often little, sometimes much."""

    name, code = "exponential", EXPONENTIAL
    mu: float = 1.0

    def __post_init__(self) -> None:
        check_number("mu", self.mu, above=0)

    @property
    def parameters(self) -> tuple[float, float]:
        """Return the mean and nothing."""
        return self.mu, 0.0

    @property
    def mean(self) -> float:
        """Return mu."""
        return self.mu

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and no upper bound."""
        return 0.0, math.inf


@dataclass(frozen=True)
class StudentT(Law):
    """Pay mu on average, with standard deviation sigma and outliers: Student's t of 3 degrees of freedom.

    It is the heaviest tail among those of whole degrees that has a variance; its fourth moment is infinite.
    """

    name, code = "student_t", STUDENT_T
    mu: float
    sigma: float = 0.5

    def __post_init__(self) -> None:
        check_number("mu", self.mu)
        check_number("sigma", self.sigma, at_least=0)

    @property
    def parameters(self) -> tuple[float, float]:
        """Return mu and sigma."""
        return self.mu, self.sigma

    @property
    def mean(self) -> float:
        """Return mu."""
        return self.mu


@dataclass(frozen=True)
class Purchase(Law):
    """Pay nothing or, with probability p, an amount that is log-normal of this mean, its logarithm of variance 1."""

    name, code = "purchase", PURCHASE
    p: float
    amount: float = 1.0

    def __post_init__(self) -> None:
        check_number("p", self.p, at_least=0, at_most=1)
        check_number("amount", self.amount, above=0)

    @property
    def parameters(self) -> tuple[float, float]:
        """Return how often something is paid, and how much on average."""
        return self.p, self.amount

    @property
    def mean(self) -> float:
        """Return p times the amount."""
        return self.p * self.amount

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and no upper bound."""
        return 0.0, math.inf


LAWS = {law.name: law for law in (Bernoulli, Beta, Gaussian, Uniform, Exponential, StudentT, Purchase)}


def arms_of(laws: Sequence[Law]) -> Arms:
    """Return arms that pay by these laws."""
    parameters = np.array([law.parameters for law in laws], dtype=float).reshape(-1, 2)
    return Arms(
        laws=np.array([law.code for law in laws], dtype=np.int64),
        a=parameters[:, 0].copy(),
        b=parameters[:, 1].copy(),
        means=np.array([law.mean for law in laws], dtype=float),
    )


@dataclass(frozen=True)
class FixedArms(Problem):
    """Arms of given laws, mixed as you like.

    >>> FixedArms([Bernoulli(0.3), Gaussian(0.5, sigma=2.0)]).draw(rng=None).n_arms
    2
    """

    name = "arms"
    laws: Sequence[Law]

    def __post_init__(self) -> None:
        """Validate, and freeze the list."""
        object.__setattr__(self, "laws", tuple(self.laws))
        for law in self.laws:
            if not isinstance(law, Law):
                raise BadInput(
                    f"laws must be a list of laws such as Bernoulli(0.3) or Gaussian(0.5), not {shortened(law)}"
                )
        if not self.laws:
            raise BadInput("laws must name at least one arm, not none")

    def draw(self, rng: Stream | None) -> Arms:
        """Return the arms; nothing about them is random."""
        return arms_of(self.laws)

    @property
    def support(self) -> tuple[float, float]:
        """Return bounds that hold for every arm."""
        lows, highs = zip(*(law.support for law in self.laws), strict=True)
        return min(lows), max(highs)
