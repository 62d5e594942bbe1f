r"""Maillard sampling: probabilities in closed form (Maillard, 2013; Bian and Jun, AISTATS 2022).

    p_i = exp(-N_i kl(S_i / N_i, best mean)) / Z,   Z the sum of these over all arms

The original has the Gaussian kl, (difference of means)^2 / (2 sigma^2), for sigma-sub-Gaussian rewards; sigma = 1/2
covers everything in [0, 1]. With the Bernoulli kl, for any rewards in [0, 1], it is KL-MS (Qin, Jun and Zhang, 2023).
While some arms were never tried, these have equal probabilities and the others none.

`fill_propensities` of its state gives the probabilities exactly, so what it chose can be evaluated without draws. An
arm is drawn as the largest ln(p_i / E_i), E_i standard exponential: where some are not on offer, the rest keep their
proportions.

Where we differ: nothing. But the best mean is that of all arms, so if the best arm is retired the rest are compared
with an arm that nobody can choose, and are explored for ever: start a new agent then.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.parts.kl import Family, FamilyPolicy
from corebandit.parts.tally import Tally, new_tally
from corebandit.randomness.stream import Stream


@allocating_nothing
class MaillardSamplingState(NamedTuple):
    """What Maillard sampling has learnt."""

    tally: Tally
    family: Family

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` so that each arm's is the highest with its probability."""
        self.fill_log_weights(scores)
        for arm in range(scores.size):
            scores[arm] -= math.log(rng.standard_exponential())

    def fill_log_weights(self, weights: FloatArray) -> None:
        """Fill `weights` with -N_i kl; infinite where an arm was never tried."""
        best = self.tally.best_mean()
        for arm in range(weights.size):
            n = self.tally.counts[arm]
            weights[arm] = np.inf if n == 0.0 else -n * self.family.divergence(self.tally.sums[arm] / n, best)

    def fill_propensities(self, propensities: FloatArray) -> None:
        """Fill `propensities` with the probability of each arm, if all are on offer."""
        self.fill_log_weights(propensities)
        total, has_new = 0.0, False
        for arm in range(propensities.size):
            has_new |= propensities[arm] == np.inf
        for arm in range(propensities.size):
            if has_new:
                propensities[arm] = 1.0 if propensities[arm] == np.inf else 0.0
            else:
                propensities[arm] = math.exp(propensities[arm])
            total += propensities[arm]
        for arm in range(propensities.size):
            propensities[arm] /= total

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.tally.push(arm, reward)


@dataclass(frozen=True)
class MaillardSampling(FamilyPolicy):
    """Choose with probabilities in closed form, by how much an arm's rewards speak against its being the best.

    Parameters
    ----------
    family
        "gaussian" covers sigma-sub-Gaussian rewards, "bernoulli" any in [0, 1].
    sigma
        Of the Gaussian family; 1/2 covers anything in [0, 1].

    >>> MaillardSampling(sigma=1.0).label
    'MaillardSampling(sigma=1.0)'
    """

    family: str = "gaussian"
    sigma: float = 0.5

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> MaillardSamplingState:
        """Return a state that has seen nothing."""
        return MaillardSamplingState(new_tally(n_arms), self.new_family())
