r"""LogPHE: perturbed-history exploration with a logistic model (Kveton, Szepesvári et al., UAI 2019).

Every observation brings Bernoulli(1/2) pseudo-rewards, new in every round, and the row with the best estimate from both
is chosen:

    index = x' theta~,   theta~ solves  sum of x_l (Y_l + U_l - (1 + m_l) mu(x_l' theta)) = theta / sigma0^2

with U_l the sum of m_l pseudo-rewards. The N-th observation of an arm brings ceil(a N) - ceil(a (N - 1)) of them, as in
LinPHE, and they are drawn for all observations that share a row at once.

Where we differ: rows that point out of everything seen so far are tried first, as in LinPHE, where the paper tries the
first d arms.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.parts.glm import GLM, check_sigma0, new_glm
from corebandit.parts.ridge import predict
from corebandit.parts.span import Span, new_span
from corebandit.policies.arms.phe import n_further_pseudo_rewards
from corebandit.policies.glm.glm_policy import LogisticPolicy
from corebandit.randomness.stream import Stream


@allocating_nothing
class LogPHEState(NamedTuple):
    """What LogPHE has learnt."""

    model: GLM  # of rewards and pseudo-rewards
    n_pseudo: FloatArray  # (capacity,) pseudo-rewards of each group
    span: Span
    counts: FloatArray  # (n_arms,) how often each was chosen
    a: float

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the perturbed linear predictor of each row."""
        if self.span.favours_new(features, self.counts, scores):
            return
        for group in range(self.model.groups.n_used[0]):
            drawn = rng.binomial(int(self.n_pseudo[group]), 0.5)
            self.model.responses[group] = self.model.sums[group] + drawn
        self.model.fit_perturbed()
        predict(features, self.model.perturbed, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        n_pseudo = n_further_pseudo_rewards(self.a, self.counts[arm])
        self.counts[arm] += 1.0
        group = self.model.learn(arm, x, reward, 1.0 + n_pseudo)
        self.n_pseudo[group] += n_pseudo
        if self.model.is_stale():
            for group in range(self.model.groups.n_used[0]):
                self.model.responses[group] = self.model.sums[group] + 0.5 * self.n_pseudo[group]
            self.model.fit()
        self.span.add(x)


@dataclass(frozen=True)
class LogPHE(LogisticPolicy):
    """Add pseudo-rewards to the history and choose by a logistic model of both; rewards in [0, 1].

    Parameters
    ----------
    a
        Pseudo-rewards for each reward.
    sigma0
        Standard deviation of each entry of theta under its prior.

    >>> LogPHE(a=1.0).label
    'LogPHE(a=1.0)'
    """

    a: float = 0.5
    sigma0: float = 1.0

    def __post_init__(self) -> None:
        check_number("a", self.a, above=0)
        check_sigma0(self.sigma0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LogPHEState:
        """Return a state that has seen nothing."""
        return LogPHEState(
            model=new_glm(n_arms, n_features, capacity, "logistic", self.sigma0),
            n_pseudo=np.zeros(capacity),
            span=new_span(n_features),
            counts=np.zeros(n_arms),
            a=float(self.a),
        )
