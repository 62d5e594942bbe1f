r"""LinUCB, also known as OFUL: optimism over an ellipsoid (Abbasi-Yadkori, Pál and Szepesvári, NeurIPS 2011).

    index = x' theta^ + beta ||x||_{G^-1},   theta^ = G^-1 sum of x_l Y_l,   G = lam I + sum of x_l x_l'

    "trace"        beta = sigma sqrt(d ln((1 + t L^2 / lam) / delta)) + sqrt(lam) S
    "determinant"  beta = sigma sqrt(2 ln(det(G)^(1/2) lam^(-d/2) / delta)) + sqrt(lam) S,   the tighter one

for rewards whose noise is sigma-sub-Gaussian (1/2 covers everything in [0, 1]), ||theta|| <= S and ||x|| <= L. Theta is
then within the ellipsoid in all rounds, with probability 1 - delta (their Theorem 2). t is the current round.

The "authors" scaling is that of the code behind the figures of the CORe paper, where lam is the prior precision of a
Bayesian regression: G and the right-hand side are divided by sigma^2, but the radius, the "trace" one, is left as it
is, with the horizon in place of the round. In the terms above, the ridge is sigma^2 lam and the bonus sigma beta
||x||_{G^-1}.

Where we differ: nothing has to be known. By default delta is 1 / horizon, or 1 / t without a horizon; S is sqrt(d), as
in that code; and L is the length of the longest row among those chosen so far and those on offer, all that the theorem
needs.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, Scratch
from corebandit.contracts.validate import check_choice, check_number
from corebandit.parts.ridge import (
    Ridge,
    longest_squared,
    new_ridge,
    predict,
    squared_length,
    squared_widths,
)
from corebandit.randomness.stream import Stream

RADII = ("trace", "determinant")
SCALINGS = ("textbook", "authors")
REWARDS, LONGEST = 0, 1  # what `seen` holds where


@allocating_nothing
class LinUCBState(NamedTuple):
    """What LinUCB has learnt."""

    ridge: Ridge
    seen: FloatArray  # (2,) how many rewards; the longest row's squared length
    solved: Scratch  # (d, n_arms)
    widths: Scratch  # (n_arms,)
    sigma: float
    lam: float
    bias: float  # sqrt(lam) S
    log_confidence: float  # ln(1 / delta); negative: ln t
    squared_row_norm: float  # L^2; negative: not known
    horizon: float  # in place of t; 0: t
    is_determinant: bool
    scale: float  # of the bonus

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bound of each row's reward."""
        self.estimate(features, scores)
        for arm in range(scores.size):
            scores[arm] += self.widths[arm]

    def estimate(self, features: FloatArray, scores: FloatArray) -> None:
        """Fill `scores` with the estimate of each row's reward, and `widths` with how far above it the bound is."""
        radius = self.scale * self.radius(features)
        predict(features, self.ridge.theta, scores)
        squared_widths(self.ridge.factor, features, self.solved, self.widths)
        for arm in range(scores.size):
            self.widths[arm] = radius * math.sqrt(self.widths[arm])

    def radius(self, features: FloatArray) -> float:
        """Return beta, the radius of the ellipsoid that holds theta."""
        current_round = self.seen[REWARDS] + 1.0
        log_confidence = self.log_confidence if self.log_confidence >= 0.0 else math.log(current_round)
        if self.is_determinant:
            spread = self.ridge.log_det_ratio(self.lam) + 2.0 * log_confidence
        else:
            n_rounds = self.horizon if self.horizon > 0.0 else current_round
            growth = math.log1p(n_rounds * self.longest(features) / self.lam)
            spread = self.ridge.theta.size * (growth + log_confidence)
        # Before anything is seen, rounding can put the ratio of the determinants just below 1.
        return self.sigma * math.sqrt(max(spread, 0.0)) + self.bias

    def longest(self, features: FloatArray) -> float:
        """Return the squared length of the longest row there is or was."""
        if self.squared_row_norm >= 0.0:
            return self.squared_row_norm
        return longest_squared(features, self.seen[LONGEST])

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.ridge.add(x, reward, 1.0)
        self.seen[REWARDS] += 1.0
        self.seen[LONGEST] = max(self.seen[LONGEST], squared_length(x))


@dataclass(frozen=True)
class LinUCB(FeaturePolicy):
    """Choose by upper confidence bounds of a linear model, for sigma-sub-Gaussian rewards.

    Parameters
    ----------
    sigma
        Sub-Gaussian constant of the noise.
    lam
        Ridge of the regression; the prior precision in the "authors" scaling.
    delta
        Probability of an error; None is 1 / horizon, or 1 / round without one.
    theta_norm
        Bound on the length of theta; None is sqrt(d).
    row_norm
        Bound on the length of a row; None is the longest row so far. The "determinant" radius does without.
    radius
        "trace", or the tighter "determinant".
    scaling
        "textbook", or the "authors" one behind the figures of the CORe paper, sigma times the bonus.

    >>> LinUCB(radius="determinant").label
    "LinUCB(radius='determinant')"
    """

    sigma: float = 0.5
    lam: float = 1.0
    delta: float | None = None
    theta_norm: float | None = None
    row_norm: float | None = None
    radius: str = "trace"
    scaling: str = "textbook"

    def __post_init__(self) -> None:
        check_number("sigma", self.sigma, above=0)
        check_number("lam", self.lam, above=0)
        if self.delta is not None:
            check_number("delta", self.delta, above=0, below=1)
        if self.theta_norm is not None:
            check_number("theta_norm", self.theta_norm, at_least=0)
        if self.row_norm is not None:
            check_number("row_norm", self.row_norm, above=0)
        check_choice("radius", self.radius, RADII)
        check_choice("scaling", self.scaling, SCALINGS)
        if self.radius == "determinant" and self.scaling == "authors":
            raise BadInput("scaling='authors' has radius='trace': leave one of the two at its default")
        if self.radius == "determinant" and self.row_norm is not None:
            raise BadInput("row_norm is for radius='trace': radius='determinant' does not depend on it")

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LinUCBState:
        """Return a state that has seen nothing."""
        is_authors = self.scaling == "authors"
        if is_authors and horizon is None:
            raise BadInput("scaling='authors' needs a horizon: give one, or use scaling='textbook'")
        log_confidence = -1.0
        if self.delta is not None:
            log_confidence = -math.log(self.delta)
        elif horizon is not None:
            log_confidence = math.log(horizon)
        theta_norm = math.sqrt(n_features) if self.theta_norm is None else self.theta_norm
        return LinUCBState(
            ridge=new_ridge(n_features, self.lam * (self.sigma**2 if is_authors else 1.0)),
            seen=np.zeros(2),
            solved=np.zeros((n_features, n_arms)),
            widths=np.zeros(n_arms),
            sigma=float(self.sigma),
            lam=float(self.lam),
            bias=math.sqrt(self.lam) * theta_norm,
            log_confidence=log_confidence,
            squared_row_norm=-1.0 if self.row_norm is None else float(self.row_norm) ** 2,
            horizon=float(horizon or 0) if is_authors else 0.0,
            is_determinant=self.radius == "determinant",
            scale=float(self.sigma) if is_authors else 1.0,
        )
