"""Logistic bandits: the mean reward is 1 / (1 + exp(-x' theta))."""

from dataclasses import dataclass

from corebandit.contracts.recipe import UNIT_INTERVAL, Problem
from corebandit.problems.arms import BERNOULLI
from corebandit.problems.linear import LinearArms, check_basis, random_features, random_theta
from corebandit.randomness.stream import Stream

THETA_LENGTH = 1.5


@dataclass(frozen=True)
class LogisticBandit(Problem):
    """Random arms with fixed features that pay 0 or 1, with means 1 / (1 + exp(-x' theta)).

    Features are those of `LinearBandit`; theta is uniform on the sphere of radius 1.5, and 0 for the constant.

    >>> LogisticBandit(n_arms=20).label
    'logistic(n_arms=20)'
    """

    name = "logistic"
    n_arms: int = 50
    n_features: int = 10

    def __post_init__(self) -> None:
        check_basis(self.n_arms, self.n_features)

    def draw(self, rng: Stream) -> LinearArms:
        """Return a random instance."""
        features = random_features(self.n_arms, self.n_features, rng)
        theta = random_theta(self.n_features, THETA_LENGTH, rng)
        theta[-1] = 0.0
        return LinearArms(features, theta, BERNOULLI, 0.0, is_contextual=False, is_logistic=True)

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return UNIT_INTERVAL
