r"""GLM-FPL: follow the perturbed leader (Kveton, Zaheer, Szepesvári, Li et al., AISTATS 2020).

    index = x' theta~,   theta~ solves  sum of x_l (Y_l + Z_l - mu(x_l' theta)) = theta / sigma0^2,   Z_l ~ N(0, a^2)

with Z_l new in every round. N rewards that share a row of features are perturbed at once, by a sqrt(N) g for a standard
normal g, kept to [-6, 6]. So a round costs the same throughout with fixed features, and ever more with changing ones.

Where we differ: the paper tries d rows that span R^d first; here, as in LinCORe, rows that point out of everything seen
so far are tried at once, whenever they appear.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.parts.glm import GLM, check_glm, new_glm
from corebandit.parts.ridge import predict
from corebandit.parts.span import Span, new_span
from corebandit.policies.glm.glm_policy import GLMPolicy
from corebandit.randomness.stream import Stream

FURTHEST = 6.0


@allocating_nothing
class GLMFPLState(NamedTuple):
    """What GLM-FPL has learnt."""

    model: GLM  # of the perturbed rewards
    span: Span
    counts: FloatArray  # (n_arms,) how often each was chosen
    a: float

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the perturbed linear predictor of each row."""
        if self.span.favours_new(features, self.counts, scores):
            return
        model = self.model
        for group in range(model.groups.n_used[0]):
            g = min(max(rng.standard_normal(), -FURTHEST), FURTHEST)
            model.responses[group] = model.sums[group] + self.a * math.sqrt(model.groups.weights[group]) * g
        model.fit_perturbed()
        predict(features, model.perturbed, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        self.model.learn(arm, x, reward, 1.0)
        if self.model.is_stale():
            self.model.fit_rewards()
        self.span.add(x)


@dataclass(frozen=True)
class GLMFPL(GLMPolicy):
    """Add normal noise to each past reward and fit a generalised linear model.

    Parameters
    ----------
    link
        "logistic" for rewards in [0, 1], "poisson" for rewards of at least 0, "identity" for any.
    a
        Standard deviation of the noise of one reward.
    sigma0
        Standard deviation of each entry of theta under its prior.

    >>> GLMFPL(a=0.5).label
    'GLMFPL(a=0.5)'
    """

    a: float = 1.0
    sigma0: float = 1.0

    def __post_init__(self) -> None:
        check_glm(self.link, self.sigma0)
        check_number("a", self.a, above=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> GLMFPLState:
        """Return a state that has seen nothing."""
        model = new_glm(n_arms, n_features, capacity, self.link, self.sigma0)
        return GLMFPLState(model, new_span(n_features), np.zeros(n_arms), float(self.a))
