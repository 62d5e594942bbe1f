r"""GLMCORe: Capitalizing On Rewards with a generalised linear model (the paper's scheme, its section 3, for GLMs).

Every past reward is perturbed with a draw from the pool of all past rewards, centred and mirrored, and the row with the
best estimate from the perturbed rewards is chosen:

    index = x' theta~,   theta~ solves  sum of x_l (Y_l + Z_l - mu(x_l' theta)) = theta / sigma0^2

Z_l drawn from {±alpha (Y_m - mean(Y))}, new in every round. Rewards that share a row of features are fitted as one
group, and so is their noise: the sum of N draws from the pool, which "fast" and "exact" make as in CORe. So a round
costs the same throughout with fixed features, O(n_arms d^2 + d^3) for each of the few steps of a fit; where features
change in every round, O(t d^2). This is GLM-FPL with a scale of the noise that comes from the rewards.

With the identity link and sigma0 = lam^(-1/2) this is LinCORe(sampler="exact"), choice by choice where their pools draw
alike. Warm-up, rows that point out of everything seen so far and an unknown horizon are as in LinCORe, and so is
`extra`, which here belongs to the groups whose row pointed out of all that was seen before.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_choice
from corebandit.parts.glm import GLM, check_glm, new_glm
from corebandit.parts.pool import SAMPLERS, SEEN, Pool, new_pool
from corebandit.parts.ridge import predict
from corebandit.parts.span import Span, new_span
from corebandit.parts.warm_up import (
    WarmsUpByFeatures,
    favour_least_chosen,
    is_warming_up,
    known_log,
    least_by_features,
    rounds_per_log,
)
from corebandit.policies.glm.glm_policy import GLMPolicy
from corebandit.randomness.stream import Stream


@allocating_nothing
class GLMCOReState(NamedTuple):
    """What GLMCORe has learnt."""

    model: GLM  # of the perturbed rewards
    pool: Pool
    span: Span
    spanning: IntArray  # (d,) the groups that first spanned what was seen, counted from 1, as many as `span` has
    counts: FloatArray  # (n_arms,) how often each was chosen
    alpha: float
    warm_up: float  # warm-up rounds for each unit of the log horizon
    log_horizon: float  # negative: not known
    extra: int  # draws for each of the groups that first span what was seen, besides their own

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the perturbed linear predictor of each row."""
        if self.span.favours_new(features, self.counts, scores):
            return
        at_least = least_by_features(self.model.theta.size, self.warm_up, self.extra)
        if is_warming_up(self.pool.tally[SEEN] + 1, at_least, self.warm_up, self.log_horizon):
            favour_least_chosen(self.counts, scores)
            return
        self.perturb_rewards(rng)
        self.model.fit_perturbed()
        predict(features, self.model.perturbed, scores)

    def perturb_rewards(self, rng: Stream) -> None:
        """Fill the model's responses with the rewards and their noise, arm by arm as LinCORe does."""
        groups = self.model.groups
        for arm in range(groups.newest.size):
            link = groups.newest[arm]
            while link > 0:
                n_draws = int(groups.weights[link - 1])
                for place in range(self.span.n_spanned[0] if self.extra > 0 else 0):
                    n_draws += self.extra if self.spanning[place] == link else 0
                noise = self.alpha * self.pool.draw_sum(n_draws, rng)
                self.model.responses[link - 1] = self.model.sums[link - 1] + noise
                link = groups.older[link - 1]

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        group = self.model.learn(arm, x, reward, 1.0)
        if self.model.is_stale():
            self.model.fit_rewards()
        self.pool.add(reward, rng)
        if self.span.add(x):
            self.spanning[self.span.n_spanned[0] - 1] = group + 1


@dataclass(frozen=True)
class GLMCORe(WarmsUpByFeatures, GLMPolicy):
    """Perturb each past reward with rewards drawn from everything seen, and fit a generalised linear model.

    Parameters
    ----------
    link
        "logistic" for rewards in [0, 1], "poisson" for counts and other rewards of at least 0, "identity" for any.
    alpha
        Scale of the noise; 0 is greedy.
    z, warm_up
        As in `CORe`; the warm-up lasts at least one round for each feature, but for `warm_up=0` with `extra`.
    extra
        As in `LinCORe`.
    sigma0
        Standard deviation of each entry of theta under its prior: the penalty is |theta|^2 / (2 sigma0^2).
    sampler
        How sums are drawn from the pool: "fast", whose cost does not grow with history, "exact" or "halving", as in
        `CORe`.

    >>> GLMCORe(link="poisson").label
    "GLMCORe(link='poisson')"
    """

    sigma0: float = 1.0
    sampler: str = "fast"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_glm(self.link, self.sigma0)
        check_choice("sampler", self.sampler, SAMPLERS)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> GLMCOReState:
        """Return a state that has seen nothing."""
        return GLMCOReState(
            model=new_glm(n_arms, n_features, capacity, self.link, self.sigma0),
            pool=new_pool(capacity, self.sampler),
            span=new_span(n_features),
            spanning=np.zeros(n_features, np.int64),
            counts=np.zeros(n_arms),
            alpha=float(self.alpha),
            warm_up=rounds_per_log(self.z, self.warm_up),
            log_horizon=known_log(horizon),
            extra=int(self.extra),
        )
