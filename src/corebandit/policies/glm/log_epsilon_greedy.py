r"""Epsilon-greedy choices from a logistic model, exploring less and less (the baseline of Kveton et al., UAI 2019).

    index = x' theta^, or with probability min(1, epsilon sqrt(n / t)) the same for all rows

theta^ is the penalised maximum-likelihood estimate. A run of n rounds explores about 2 epsilon n times. Without a
horizon n the probability stays epsilon, as in LinEpsilonGreedy.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.parts.epsilon import Epsilon, check_epsilon, new_epsilon
from corebandit.parts.glm import GLM, check_sigma0, new_glm
from corebandit.parts.ridge import predict
from corebandit.policies.glm.glm_policy import LogisticPolicy
from corebandit.randomness.stream import Stream


@allocating_nothing
class LogEpsilonGreedyState(NamedTuple):
    """What logistic epsilon-greedy has learnt."""

    model: GLM
    exploration: Epsilon

    def prepare(self, rng: Stream) -> bool:
        """Fit the model to all rewards, if any is new."""
        return self.model.fit_rewards()

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the linear predictor of each row, or, in a round of exploration, with zeros."""
        if not self.exploration.levels(rng, scores):
            predict(features, self.model.theta, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.model.learn(arm, x, reward, 1.0)
        self.exploration.count_reward()


@dataclass(frozen=True)
class LogEpsilonGreedy(LogisticPolicy):
    """Choose any row with probability epsilon sqrt(horizon / round), otherwise the best logistic estimate.

    Parameters
    ----------
    epsilon
        The probability in the last round, and in every round if nobody knows the horizon.
    sigma0
        Standard deviation of each entry of theta under its prior.

    >>> LogEpsilonGreedy(epsilon=0.1).label
    'LogEpsilonGreedy(epsilon=0.1)'
    """

    epsilon: float = 0.025
    sigma0: float = 1.0

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_sigma0(self.sigma0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LogEpsilonGreedyState:
        """Return a state that has seen nothing."""
        return LogEpsilonGreedyState(
            model=new_glm(n_arms, n_features, capacity, "logistic", self.sigma0),
            exploration=new_epsilon(self.epsilon, horizon),
        )
