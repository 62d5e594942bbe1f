r"""Reward exchange with features, an experiment: the idea in the last paragraph of the CORe paper.

Rewards change hands between observations, whose rows of features stay where they are, and the row with the best ridge
estimate is chosen:

    theta~ = G^-1 sum of x_l Y~_l,   G = lam I + sum of x_l x_l',   Y~ = the rewards after the exchange

Which rewards change hands, and when, is as in RewardExchange: swapped for good with those of another arm (*kept*), or
some of all dealt anew in every round (fresh), with probability p_t = min(1, probability (d / t)^decay). A swap of Y_a
and Y_b changes the right-hand side by (x_a - x_b) (Y_b - Y_a), which goes into the regression at once: O(d^2) a round.
Fresh costs O(t d) a round. On one-hot features with lam -> 0 this is RewardExchange, choice by choice.

As there, a constant probability pulls estimates towards the mean of all rewards for ever. Rows that point out of
everything seen so far are tried first, as in LinCORe.

What our study found (`corebandit reproduce exchange`: Gaussian rewards, K = 50, d = 10, n = 10,000, 100 problems;
LinCORe's regret is 171, with half the warm-up 130): fresh with p = 0.15 has 139; kept with p = 0.05 has 339, and 456
with p_t = 5 d / t.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, Scratch
from corebandit.contracts.validate import check_number
from corebandit.parts.exchange import REWARDS, Exchange, check_exchange, new_exchange
from corebandit.parts.ridge import Ridge, new_ridge
from corebandit.parts.span import Span, new_span
from corebandit.randomness.stream import Stream


@allocating_nothing
class LinRewardExchangeState(NamedTuple):
    """What linear reward exchange has learnt."""

    exchange: Exchange
    rows: FloatArray  # (capacity, d) the features of each observation
    ridge: Ridge  # of the rewards as they are held
    span: Span
    counts: FloatArray  # (n_arms,) how often each was chosen
    change: Scratch  # (d,) of the right-hand side

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the estimate of each row's reward, after the exchange."""
        if self.span.favours_new(features, self.counts, scores):
            return
        for j in range(self.change.size):
            self.change[j] = 0.0
        if not self.exchange.is_kept:
            for index in range(self.exchange.deal_anew(self.change.size, rng)):
                place = self.exchange.taken[index]
                gain = self.exchange.dealt[index] - self.exchange.rewards[place]
                for j in range(self.change.size):
                    self.change[j] += gain * self.rows[place, j]
            self.ridge.respond(self.change)
        self.ridge.predict_shifted(features, self.change, scores)

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward, which may then change hands."""
        self.counts[arm] += 1.0
        self.ridge.add(x, reward, 1.0)
        self.span.add(x)
        place = self.exchange.tally[REWARDS]
        for j in range(x.size):
            self.rows[place, j] = x[j]
        self.exchange.include(arm, reward)
        if self.exchange.is_kept:
            here, there = self.exchange.swapped_places(arm, x.size, rng)
            gain = self.exchange.rewards[here] - self.exchange.rewards[there]
            if gain != 0.0:
                for j in range(x.size):
                    self.change[j] = (self.rows[here, j] - self.rows[there, j]) * gain
                self.ridge.shift(self.change)


@dataclass(frozen=True)
class LinRewardExchange(FeaturePolicy):
    """Let rewards change hands and fit a linear model; experimental, biased towards the mean of all rewards.

    Parameters
    ----------
    probability
        How likely a swap is in a round (`kept`), or for each reward to be dealt anew.
    decay
        In round t the probability is `min(1, probability * (n_features / t) ** decay)`, and `probability` may be above
        1; a decay of 0 is a constant one.
    kept
        Swap for good, as the paper suggests, at the same cost in every round; or else deal anew in every round, at a
        cost that grows, which did better in our study (`probability=0.15, kept=False`).
    lam
        Ridge of the regression.

    >>> LinRewardExchange(probability=0.15, kept=False).label
    'LinRewardExchange(probability=0.15, kept=False)'
    """

    probability: float = 0.05
    decay: float = 0.0
    kept: bool = True
    lam: float = 1e-3

    def __post_init__(self) -> None:
        check_exchange(self.probability, self.decay, self.kept)
        check_number("lam", self.lam, above=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> LinRewardExchangeState:
        """Return a state that has seen nothing."""
        return LinRewardExchangeState(
            exchange=new_exchange(n_arms, capacity, self.probability, self.decay, self.kept),
            rows=np.zeros((capacity, n_features)),
            ridge=new_ridge(n_features, self.lam),
            span=new_span(n_features),
            counts=np.zeros(n_arms),
            change=np.zeros(n_features),
        )
