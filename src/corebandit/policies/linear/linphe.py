r"""LinPHE: perturbed-history exploration with features (Kveton, Szepesvári, Ghavamzadeh and Boutilier, UAI 2019).

Every observation brings pseudo-rewards, new in every round, and the row with the best ridge estimate is chosen:

    theta~ = G^-1 sum of x_l (Y_l + U_l),   G = lam I + sum of (1 + m_l) x_l x_l',   U_l = sum of m_l pseudo-rewards

The N-th observation of an arm brings m = ceil(a N) - ceil(a (N - 1)), so an arm with N rewards has ceil(a N) pseudo-
rewards: any a > 0 will do. Bernoulli(1/2) pseudo-rewards are made for rewards in [0, 1]; they are drawn for each arm
with the same features at once, so a round costs the same throughout with fixed features, and ever more with changing
ones. N(1/2, sigma^2) ones suit any real rewards whose noise is about sigma; their sum is normal, drawn from d normals.

Rows without names are told apart by their place in a decision, so the first reward at each place brings ceil(a) pseudo-
rewards: with many such rows, prefer a whole number a.

Where we differ: the paper has a whole number a for every observation and the ridge (a + 1) lam, which is this with
a ridge of that size; its authors' code has the ceil(a N) of each arm, and tries every arm first. Here, as in LinCORe,
rows that point out of everything seen so far are tried first, so the first d choices span R^d where the offered rows
do, and nothing else is forced. The mean of Gaussian pseudo-rewards is 1/2 whatever sigma is (the code's is sigma).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, Scratch
from corebandit.contracts.validate import check_number
from corebandit.parts.groups import Groups, new_groups
from corebandit.parts.ridge import Noise, Ridge, new_noise, new_ridge
from corebandit.parts.span import Span, new_span
from corebandit.policies.arms.phe import (
    check_pseudo_rewards,
    n_further_pseudo_rewards,
    range_for,
)
from corebandit.randomness.stream import Stream


@allocating_nothing
class LinPHEState(NamedTuple):
    """What LinPHE has learnt."""

    ridge: Ridge  # of the rewards and the means of their pseudo-rewards
    noise: Noise  # of covariance sum of m_l x_l x_l' (Gaussian)
    groups: Groups  # the pseudo-rewards that share a row (Bernoulli)
    span: Span
    counts: FloatArray  # (n_arms,) how often each was chosen
    perturbed: Scratch  # (d,) the perturbed estimate
    a: float
    is_gaussian: bool
    sigma: float

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the perturbed estimate of each row's reward."""
        if self.span.favours_new(features, self.counts, scores):
            return
        self.perturb(rng, self.perturbed)
        self.ridge.respond(self.perturbed)
        self.ridge.predict_shifted(features, self.perturbed, scores)

    def perturb(self, rng: Stream, total: FloatArray) -> None:
        """Fill `total` `(d,)` with the sum of x_l (U_l - m_l / 2), what pseudo-rewards add to their means."""
        if self.is_gaussian:
            self.noise.draw(self.sigma, rng, total)
            return
        for j in range(total.size):
            total[j] = 0.0
        for group in range(self.groups.n_used[0]):
            n_pseudo = self.groups.weights[group]
            self.groups.add_to(total, group, rng.binomial(int(n_pseudo), 0.5) - 0.5 * n_pseudo)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        n_pseudo = n_further_pseudo_rewards(self.a, self.counts[arm])
        self.counts[arm] += 1.0
        self.ridge.add(x, reward + 0.5 * n_pseudo, 1.0 + n_pseudo)
        self.span.add(x)
        if n_pseudo > 0.0:
            if self.is_gaussian:
                self.noise.add(x, n_pseudo)
            else:
                self.groups.add(arm, x, n_pseudo)


@dataclass(frozen=True)
class LinPHE(FeaturePolicy):
    """Add pseudo-rewards to the history and choose by a linear model of both.

    Parameters
    ----------
    a
        Pseudo-rewards for each reward.
    pseudo
        "bernoulli" for rewards in [0, 1], "gaussian" for any.
    sigma
        Standard deviation of a Gaussian pseudo-reward.
    lam
        Ridge of the regression.
    any_reward
        Accept rewards outside [0, 1] with Bernoulli pseudo-rewards too.

    >>> LinPHE(a=1.0).label
    'LinPHE(a=1.0)'
    """

    a: float = 0.5
    pseudo: str = "bernoulli"
    sigma: float = 0.5
    lam: float = 1e-3
    any_reward: bool = False

    def __post_init__(self) -> None:
        check_pseudo_rewards(self.a, self.pseudo, self.sigma, self.any_reward)
        check_number("lam", self.lam, above=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LinPHEState:
        """Return a state that has seen nothing."""
        is_gaussian = self.pseudo == "gaussian"
        return LinPHEState(
            ridge=new_ridge(n_features, self.lam),
            noise=new_noise(n_features),
            groups=new_groups(n_arms, n_features, 0 if is_gaussian else capacity),
            span=new_span(n_features),
            counts=np.zeros(n_arms),
            perturbed=np.zeros(n_features),
            a=float(self.a),
            is_gaussian=is_gaussian,
            sigma=float(self.sigma),
        )

    @property
    def reward_range(self) -> tuple[float, float]:
        """Return the smallest and the largest reward the policy is made for."""
        return range_for(self.pseudo, self.any_reward)
