r"""Reward exchange, an experiment: the idea in the last paragraph of the CORe paper (Wang et al., UAI 2021).

Rewards change hands between arms, and the arm is chosen whose rewards then have the best mean. Two forms:

* *kept*: after a reward of arm I, with probability p_t a random one of I's rewards is swapped, for good, with a random
  one of another arm, drawn uniformly. O(1) a round.
* fresh: in every round each reward is taken from its arm with probability p_t, those taken are shuffled and dealt
  back, each arm as many as it gave, for this round only. O(t) a round.

with p_t = min(1, probability (K / t)^decay). Valid for any real rewards; a constant added to all changes nothing.

Swaps conserve the total of all rewards and pull each arm's mean towards that of the pool. With a constant probability
that bias never goes away, so regret may be linear in the long run. With decay = 1 it does, but so do new chances for an
arm that was unlucky at first.

What our study found (`corebandit reproduce exchange`: K = 10, n = 10,000, 100 problems of each class; CORe's regret is
108, 79 and 112 on Bernoulli, beta and Gaussian rewards): fresh with p = 0.15 has 78, 36 and 95, below CORe with the
paper's warm-up; kept with p = 0.05 has 143, 62 and 147; and kept swaps that decay are worse, not better (171, 110 and
178 for p_t = 5 K / t). Means are carried by a few bad runs: of kept swaps on Bernoulli rewards, decaying ones have the
lower median and the higher maximum (68 and 1533, against 102 and 758, on 50 other problems).

Where we differ from the precursor in the authors' code: the other arm is never I itself. There it may be, so that its
probability p is (K - 1) p / K here.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import FloatArray, Scratch
from corebandit.parts.exchange import Exchange, check_exchange, new_exchange
from corebandit.randomness.stream import Stream


@allocating_nothing
class RewardExchangeState(NamedTuple):
    """What reward exchange has learnt."""

    exchange: Exchange
    counts: FloatArray  # (n_arms,) pulls
    sums: FloatArray  # (n_arms,) total of the rewards that each arm holds
    shifts: Scratch  # (n_arms,) what rewards dealt anew add to it

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the mean of the rewards that each arm holds in this round."""
        for arm in range(scores.size):
            self.shifts[arm] = 0.0
        if not self.exchange.is_kept:
            for index in range(self.exchange.deal_anew(self.counts.size, rng)):
                place = self.exchange.taken[index]
                gain = self.exchange.dealt[index] - self.exchange.rewards[place]
                self.shifts[self.exchange.holders[place]] += gain
        for arm in range(scores.size):
            n = self.counts[arm]
            scores[arm] = np.inf if n == 0.0 else (self.sums[arm] + self.shifts[arm]) / n

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward, which may then change hands."""
        self.counts[arm] += 1.0
        self.sums[arm] += reward
        self.exchange.include(arm, reward)
        if self.exchange.is_kept:
            here, there = self.exchange.swapped_places(arm, self.counts.size, rng)
            gain = self.exchange.rewards[here] - self.exchange.rewards[there]
            self.sums[self.exchange.holders[here]] += gain
            self.sums[self.exchange.holders[there]] -= gain


@dataclass(frozen=True)
class RewardExchange(Policy):
    """Let rewards change hands between arms and choose the best mean; experimental, biased towards the pool's mean.

    Parameters
    ----------
    probability
        How likely a swap is in a round (`kept`), or for each reward to be dealt anew.
    decay
        In round t the probability is `min(1, probability * (n_arms / t) ** decay)`, and `probability` may be above 1; a
        decay of 0 is a constant one.
    kept
        Swap for good, as the paper suggests, at the same cost in every round; or else deal anew in every round, at a
        cost that grows, which did better in our study (`probability=0.15, kept=False`).

    >>> RewardExchange(probability=1.0, decay=1.0).label
    'RewardExchange(probability=1.0, decay=1.0)'
    """

    probability: float = 0.05
    decay: float = 0.0
    kept: bool = True

    def __post_init__(self) -> None:
        check_exchange(self.probability, self.decay, self.kept)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> RewardExchangeState:
        """Return a state that has seen nothing."""
        return RewardExchangeState(
            exchange=new_exchange(n_arms, capacity, self.probability, self.decay, self.kept),
            counts=np.zeros(n_arms),
            sums=np.zeros(n_arms),
            shifts=np.zeros(n_arms),
        )
