r"""LinCORe: Capitalizing On Rewards with linear features (Wang, Kveton and Karimzadehgan, UAI 2021, Algorithm 1).

Every past reward is perturbed with a draw from the pool of all past rewards, centred and mirrored, and the arm with the
best ridge estimate from the perturbed rewards is chosen:

    theta~ = G^-1 sum of x_l (Y_l + Z_l),   G = lam I + sum of x_l x_l',   Z_l drawn from {±alpha (Y_m - mean(Y))}

"exact" draws a fresh Z_l for every past observation, in every round. "fast" draws their sum from its limit law, normal
with covariance alpha^2 v (G - lam I), v the variance of the rewards: its cost does not grow with history. That is an
approximation: its covariance is right, its shape is not where an estimate rests on a handful of rewards (an arm of its
own with one 0/1 reward: off by up to 0.3 in distribution). By the end of the warm-up most rest on many.

Where we differ from the paper: the warm-up chooses the arm chosen least so far, ties at random, instead of cycling by
index, and a row of features that points out of everything seen so far is tried at once, as CORe does with an arm never
tried; so the first d choices span R^d where the offered rows do. Without a horizon the current round takes its place
(*anytime*). Instead of a warm-up, `warm_up=0` with `extra` lets each observation that pointed out of everything seen
before it, at most d of them, count 1 + extra times in the noise. On one-hot features with lam -> 0 this is CORe, choice
by choice if both draw exactly.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, Scratch
from corebandit.contracts.validate import check_number
from corebandit.parts.groups import Groups, new_groups
from corebandit.parts.pool import SEEN, Pool, check_form, new_pool
from corebandit.parts.ridge import Noise, Ridge, new_noise, new_ridge
from corebandit.parts.span import Span, new_span
from corebandit.parts.warm_up import (
    WarmsUpByFeatures,
    favour_least_chosen,
    is_warming_up,
    known_log,
    least_by_features,
    rounds_per_log,
)
from corebandit.randomness.stream import Stream


@allocating_nothing
class LinCOReState(NamedTuple):
    """What LinCORe has learnt."""

    ridge: Ridge
    noise: Noise  # of covariance G - lam I ("fast")
    groups: Groups  # what each draw is multiplied with ("exact")
    pool: Pool
    span: Span
    counts: FloatArray  # (n_arms,) how often each was chosen
    perturbed: Scratch  # (d,) the perturbed estimate
    alpha: float
    warm_up: float  # warm-up rounds for each unit of the log horizon
    log_horizon: float  # negative: not known
    extra: int  # draws for an observation that points out of all before it, besides its own

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the perturbed estimate of each row's reward."""
        if self.span.favours_new(features, self.counts, scores):
            return
        at_least = least_by_features(self.ridge.theta.size, self.warm_up, self.extra)
        if is_warming_up(self.pool.tally[SEEN] + 1, at_least, self.warm_up, self.log_horizon):
            favour_least_chosen(self.counts, scores)
            return
        self.perturb(rng, self.perturbed)
        self.ridge.respond(self.perturbed)
        self.ridge.predict_shifted(features, self.perturbed, scores)

    def perturb(self, rng: Stream, total: FloatArray) -> None:
        """Fill `total` `(d,)` with the sum of x_l Z_l."""
        if not self.pool.exact:
            self.noise.draw(self.alpha * self.pool.deviation(), rng, total)
            return
        for j in range(total.size):
            total[j] = 0.0
        for arm in range(self.groups.newest.size):
            link = self.groups.newest[arm]
            while link > 0:
                noise = self.pool.draw_sum(int(self.groups.weights[link - 1]), rng)
                self.groups.add_to(total, link - 1, self.alpha * noise)
                link = self.groups.older[link - 1]

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.counts[arm] += 1.0
        self.ridge.add(x, reward, 1.0)
        self.pool.add(reward, rng)
        n_draws = 1.0 + self.extra if self.span.add(x) else 1.0
        if self.pool.exact:
            self.groups.add(arm, x, n_draws)
        else:
            self.noise.add(x, n_draws)


@dataclass(frozen=True)
class LinCORe(WarmsUpByFeatures, FeaturePolicy):
    """Perturb each past reward with rewards drawn from everything seen, and fit a linear model; nothing to tune.

    Parameters
    ----------
    alpha
        Scale of the noise; 0 is greedy.
    z, warm_up
        As in `CORe`; the warm-up lasts at least one round for each feature, but for `warm_up=0` with `extra`.
    extra
        As in `CORe`, for the observations that first span the features: with `warm_up=0` in place of the warm-up.
    lam
        Ridge of the regression.
    sampler
        "fast", approximate (the noise's normal limit), whose cost does not grow with history, or "exact", a draw for
        each past reward; an arm whose features change back and forth counts as new rows. "halving" is "fast" here,
        which draws from no pool: so that all forms of CORe can be told the same.
    pool
        "mirrored", the paper's, or "plain", which draws the rewards themselves, neither centred nor mirrored: to study
        what those do. It needs `sampler="exact"`.

    >>> LinCORe(alpha=0.4).label
    'LinCORe(alpha=0.4)'
    """

    lam: float = 1e-3
    sampler: str = "fast"
    pool: str = "mirrored"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("lam", self.lam, above=0)
        check_form(self.sampler, self.pool)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LinCOReState:
        """Return a state that has seen nothing."""
        n_kept = capacity if self.sampler == "exact" else 0  # the limit law needs no history
        return LinCOReState(
            ridge=new_ridge(n_features, self.lam),
            noise=new_noise(n_features),
            groups=new_groups(n_arms, n_features, n_kept),
            pool=new_pool(n_kept, self.sampler, form=self.pool),
            span=new_span(n_features),
            counts=np.zeros(n_arms),
            perturbed=np.zeros(n_features),
            alpha=float(self.alpha),
            warm_up=rounds_per_log(self.z, self.warm_up),
            log_horizon=known_log(horizon),
            extra=int(self.extra),
        )
