r"""GLM-TSL: Thompson sampling from a Laplace approximation (Kveton, Zaheer, Szepesvári, Li et al., AISTATS 2020).

    index = x' theta~,   theta~ ~ N(theta^, scale^2 H^-1),   H = I / sigma0^2 + sum of mu'(x_l' theta^) x_l x_l'

theta^ is the penalised maximum-likelihood estimate, the mode of the posterior under the prior N(0, sigma0^2 I), and H
the curvature there. With its Cholesky factor R, theta~ = theta^ + scale R^-1 g for d standard normals g. Nothing is
tried by force, the prior explores. With the identity link rewards are taken to have noise N(0, 1).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, Scratch
from corebandit.contracts.validate import check_number
from corebandit.parts.glm import GLM, check_glm, new_glm
from corebandit.parts.ridge import predict, solve_upper
from corebandit.policies.glm.glm_policy import GLMPolicy
from corebandit.randomness.stream import Stream


@allocating_nothing
class GLMTSLState(NamedTuple):
    """What GLM-TSL has learnt."""

    model: GLM
    drawn: Scratch  # (d,) a draw from the posterior
    scale: float

    def prepare(self, rng: Stream) -> bool:
        """Fit the model to all rewards, if any is new."""
        return self.model.fit_rewards()

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with each row's linear predictor under one draw from the posterior."""
        for j in range(self.drawn.size):
            self.drawn[j] = self.scale * rng.standard_normal()
        solve_upper(self.model.factor, self.drawn, self.drawn)
        for j in range(self.drawn.size):
            self.drawn[j] += self.model.theta[j]
        predict(features, self.drawn, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.model.learn(arm, x, reward, 1.0)


@dataclass(frozen=True)
class GLMTSL(GLMPolicy):
    """Choose by a draw from the posterior of a generalised linear model, approximated by a normal law.

    Parameters
    ----------
    link
        "logistic" for rewards in [0, 1], "poisson" for rewards of at least 0, "identity" for any.
    scale
        What the posterior's standard deviations are multiplied with.
    sigma0
        Standard deviation of each entry of theta under its prior.

    >>> GLMTSL(scale=0.5).label
    'GLMTSL(scale=0.5)'
    """

    scale: float = 1.0
    sigma0: float = 1.0

    def __post_init__(self) -> None:
        check_glm(self.link, self.sigma0)
        check_number("scale", self.scale, above=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> GLMTSLState:
        """Return a state that has seen nothing."""
        model = new_glm(n_arms, n_features, capacity, self.link, self.sigma0)
        return GLMTSLState(model, np.zeros(n_features), float(self.scale))
