"""What policies with a generalised linear model have in common: a link, and if they are optimistic, an ellipsoid."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, IntArray, Scratch
from corebandit.contracts.validate import check_number
from corebandit.parts.glm import GLM, REWARD_RANGES, STEEPEST, check_glm, new_glm
from corebandit.parts.ridge import Ridge, new_ridge, squared_widths


@dataclass(frozen=True)
class FittingPolicy(FeaturePolicy):
    """A policy that fits a generalised linear model in every round, and complains if that fails."""

    def complaint(self, state: Any) -> str:
        """Return how many fits did not converge, in a sentence, or nothing if all did."""
        model: GLM = state.known.model if hasattr(state, "known") else state.model
        n_fits, n_failed = model.fits.tolist()
        if not n_failed:
            return ""
        return f"{n_failed:,} of {n_fits:,} fits did not converge; smaller features or a smaller sigma0 would help"


@dataclass(frozen=True)
class LogisticPolicy(FittingPolicy):
    """A policy that fits a logistic model, and only that."""

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return REWARD_RANGES["logistic"]


@dataclass(frozen=True)
class GLMPolicy(FittingPolicy):
    """A policy with a link, which says what rewards it is made for."""

    link: str = "logistic"

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return REWARD_RANGES[self.link]


@allocating_nothing
class Ellipsoid(NamedTuple):
    """A model and how well it knows each direction: what optimistic policies share."""

    model: GLM
    gram: Ridge  # of V
    solved: Scratch  # (d, n_arms)
    widths: Scratch  # (n_arms,) ||x||_{V^-1} of the rows on offer
    n_seen: IntArray  # (1,) rewards
    horizon: float  # 0: not known
    log_confidence: float  # ln(1 / delta); negative: ln of the horizon or the round

    def take_in(self, arm: int, x: FloatArray, reward: float) -> None:
        """Learn from one reward."""
        self.model.learn(arm, x, reward, 1.0)
        self.gram.add(x, reward, 1.0)
        self.n_seen[0] += 1

    def survey(self, features: FloatArray) -> None:
        """Work out the widths of the rows on offer."""
        squared_widths(self.gram.factor, features, self.solved, self.widths)
        for arm in range(features.shape[0]):
            self.widths[arm] = math.sqrt(self.widths[arm])

    def log_inverse_delta(self) -> float:
        """Return ln(1 / delta)."""
        return self.log_confidence if self.log_confidence >= 0.0 else math.log(self.last_round())

    def last_round(self) -> float:
        """Return the horizon, or the current round if nobody knows it."""
        return self.horizon if self.horizon > 0.0 else self.n_seen[0] + 1.0

    def radius_of_ucb_glm(self, scale: float) -> float:
        """Return `scale` sqrt((d / 2) ln(1 + 2 n / d) + ln(1 / delta))."""
        d = self.model.theta.size
        return scale * math.sqrt(0.5 * d * math.log1p(2.0 * self.last_round() / d) + self.log_inverse_delta())


@dataclass(frozen=True)
class OptimisticGLM(GLMPolicy):
    """What optimistic policies with a generalised linear model have as parameters."""

    slope: float | None = None
    delta: float | None = None
    sigma0: float = 1.0

    def __post_init__(self) -> None:
        check_glm(self.link, self.sigma0)
        if self.slope is not None:
            check_number("slope", self.slope, above=0)
        if self.delta is not None:
            check_number("delta", self.delta, above=0, below=1)

    @property
    def least_slope(self) -> float:
        """Return the slope given, or the largest that the link has."""
        return STEEPEST[self.link] if self.slope is None else float(self.slope)

    def new_ellipsoid(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> Ellipsoid:
        """Return a model that has seen nothing."""
        return Ellipsoid(
            model=new_glm(n_arms, n_features, capacity, self.link, self.sigma0),
            gram=new_ridge(n_features, self.sigma0**-2),
            solved=np.zeros((n_features, n_arms)),
            widths=np.zeros(n_arms),
            n_seen=np.zeros(1, np.int64),
            horizon=float(horizon or 0),
            log_confidence=-1.0 if self.delta is None else -math.log(self.delta),
        )
