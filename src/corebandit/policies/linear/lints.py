r"""LinTS: Thompson sampling for linear rewards with Gaussian noise (Agrawal and Goyal, 2013).

    index = x' theta~,   theta~ ~ N(theta^, sigma^2 G^-1),   G = (sigma^2 / prior^2) I + sum of x_l x_l'

theta~ is a draw from the posterior of theta under the prior N(0, prior^2 I) and rewards of noise N(0, sigma^2). Nothing
is tried by force, the prior explores. With the Cholesky factor R of G, theta~ = theta^ + sigma R^-1 g for d standard
normals g.

Where we differ: the scale is the posterior's own, as in the code of CORe's authors. The one of the analysis, larger by
a factor of order sqrt(d ln n), explores far too much in practice; any sigma is yours to choose.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, Scratch
from corebandit.contracts.validate import check_number
from corebandit.parts.ridge import Ridge, new_ridge, solve_upper
from corebandit.randomness.stream import Stream


@allocating_nothing
class LinTSState(NamedTuple):
    """What LinTS has learnt."""

    ridge: Ridge
    drawn: Scratch  # (d,) a draw from the posterior
    sigma: float

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with each row's reward under one draw from the posterior."""
        for j in range(self.drawn.size):
            self.drawn[j] = self.sigma * rng.standard_normal()
        solve_upper(self.ridge.factor, self.drawn, self.drawn)
        self.ridge.predict_shifted(features, self.drawn, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.ridge.add(x, reward, 1.0)


@dataclass(frozen=True)
class LinTS(FeaturePolicy):
    """Choose by a draw from the posterior of a linear model, the noise sigma being known.

    Parameters
    ----------
    sigma
        Standard deviation of a reward, what LinTS is tuned by.
    prior
        Standard deviation of each entry of theta, before anything is seen.

    >>> LinTS(sigma=0.2).label
    'LinTS(sigma=0.2)'
    """

    sigma: float = 0.5
    prior: float = 1.0

    def __post_init__(self) -> None:
        check_number("sigma", self.sigma, above=0)
        check_number("prior", self.prior, above=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LinTSState:
        """Return a state that has seen nothing."""
        ridge = new_ridge(n_features, (self.sigma / self.prior) ** 2)
        return LinTSState(ridge, np.zeros(n_features), float(self.sigma))
