r"""D-LinTS: Thompson sampling with a linear model whose memory fades (Kim and Tewari, UAI 2020).

    index = x' theta~,   theta~ ~ N(theta^, sigma^2 V^-1 V~ V^-1),   theta^ = V^-1 sum of g^(t-l) x_l Y_l
    V = lam I + sum of g^(t-l) x_l x_l',   V~ = lam I + sum of g^(2(t-l)) x_l x_l',   g the discount

Each past reward is perturbed by N(0, sigma^2) before it fades, and so is the ridge. With the Cholesky factor Q of V~,
theta~ = theta^ + sigma V^-1 Q' z for d standard normals z. Valid for any real rewards; sigma is what it is tuned by.

Where we differ: theta~ is drawn anew in every round, where the authors' code draws it after each reward, and nothing is
tried by force, where that code chooses at random in the first d rounds. It calls sigma alpha, and takes 1 for noise of
standard deviation 0.39; its scale of the analysis is larger.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, Scratch
from corebandit.contracts.validate import check_number
from corebandit.parts.fading import check_discount
from corebandit.parts.fading_ridge import FadedRidge, new_faded_ridge
from corebandit.parts.ridge import times_transposed
from corebandit.randomness.stream import Stream


@allocating_nothing
class DLinTSState(NamedTuple):
    """What D-LinTS remembers."""

    model: FadedRidge
    squared: FadedRidge  # that fades twice as fast; its estimate is nobody's
    normals: Scratch  # (d,)
    shift: Scratch  # (d,) what noise adds to the estimate
    sigma: float

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with each row's reward under one perturbed estimate."""
        for j in range(self.normals.size):
            self.normals[j] = self.sigma * rng.standard_normal()
        times_transposed(self.squared.ridge.factor, self.normals, self.shift)
        self.model.ridge.respond(self.shift)
        self.model.ridge.predict_shifted(features, self.shift, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.model.push(x, reward)
        self.squared.push(x, reward)


@dataclass(frozen=True)
class DLinTS(FeaturePolicy):
    """Choose by a random draw around the estimate of a linear model whose memory fades; any real rewards.

    Parameters
    ----------
    discount
        How much a reward counts a round later; 1 - 1/n remembers about n rounds.
    sigma
        Standard deviation of the noise that each reward is perturbed by.
    lam
        Ridge of the regression.

    >>> DLinTS(discount=0.99).label
    'DLinTS(discount=0.99)'
    """

    discount: float = 0.9995
    sigma: float = 0.5
    lam: float = 1.0

    def __post_init__(self) -> None:
        check_discount(self.discount)
        check_number("sigma", self.sigma, above=0)
        check_number("lam", self.lam, above=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> DLinTSState:
        """Return a state that has seen nothing."""
        return DLinTSState(
            model=new_faded_ridge(n_features, self.lam, self.discount),
            squared=new_faded_ridge(n_features, self.lam, self.discount**2),
            normals=np.zeros(n_features),
            shift=np.zeros(n_features),
            sigma=float(self.sigma),
        )
