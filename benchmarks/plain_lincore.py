"""LinCORe in plain NumPy: the Gram matrix, solved anew for every decision, and noise drawn from its normal limit.

It shares no line with the package, so it serves twice: as the speed to compare with, and as a second opinion on what
LinCORe's choices and regret should be.
"""

import math

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class PlainLinCORe:
    """LinCORe on rows of features, fixed for each arm or new in every decision.

    The N_i rewards of an arm whose features stay the same have noise A_i ~ N(0, alpha^2 N_i v) in total, v the variance
    of all rewards. With new features there are as many rows as rewards, and what comes of them is drawn at once, from
    N(0, alpha^2 v G); that the ridge in G has noise too makes no difference one could see.
    """

    def __init__(
        self,
        n_arms: int,
        n_features: int,
        horizon: int,
        rng: np.random.Generator,
        *,
        has_fixed_features: bool,
        alpha: float = 0.6,
        z: float = 0.6,
        warm_up: float = 4.0,
        lam: float = 1e-3,
    ) -> None:
        self.alpha, self.rng, self.has_fixed_features = alpha, rng, has_fixed_features
        self.last_of_warm_up = max(n_features, warm_up * math.log(horizon) / (z - 1.0 - math.log(z)) + 1.0)
        self.gram, self.target = lam * np.eye(n_features), np.zeros(n_features)
        self.counts = np.zeros(n_arms)
        self.n_rewards, self.sum, self.sum_of_squares = 0, 0.0, 0.0

    def choose(self, features: FloatArray) -> int:
        """Return the row of `features` `(n_arms, d)` to play."""
        if self.n_rewards + 1 <= self.last_of_warm_up:
            return self.n_rewards % len(features)
        theta = np.linalg.solve(self.gram, self.target + self._noise(features))
        return int(np.argmax(features @ theta))

    def _noise(self, features: FloatArray) -> FloatArray:
        """Draw what the noise of all past rewards adds to the right-hand side, `(d,)`."""
        mean = self.sum / self.n_rewards
        scale = self.alpha * math.sqrt(max(self.sum_of_squares / self.n_rewards - mean * mean, 0.0))
        if self.has_fixed_features:
            return scale * (np.sqrt(self.counts) * self.rng.standard_normal(self.counts.size)) @ features
        return scale * np.linalg.cholesky(self.gram) @ self.rng.standard_normal(self.target.size)

    def learn(self, arm: int, x: FloatArray, reward: float) -> None:
        """Learn from the reward of an arm with features `x` `(d,)`."""
        self.gram += np.outer(x, x)
        self.target += reward * x
        self.counts[arm] += 1.0
        self.n_rewards += 1
        self.sum += reward
        self.sum_of_squares += reward * reward


def play_plain_lincore(features: FloatArray, theta: FloatArray, horizon: int, rng: np.random.Generator) -> float:
    """Play LinCORe on Bernoulli arms with these features `(n_arms, d)` and return the expected regret."""
    means = features @ theta
    policy = PlainLinCORe(*features.shape, horizon, rng, has_fixed_features=True)
    regret = 0.0
    for _ in range(horizon):
        arm = policy.choose(features)
        policy.learn(arm, features[arm], float(rng.random() < means[arm]))
        regret += means.max() - means[arm]
    return float(regret)
