"""Rewards that change hands: swapped between two arms for good, or some of all dealt anew for one round.

In round t a reward is exchanged with probability

    p_t = min(1, probability (m / t)^decay)

where m is the number of arms, or of features. A decay of 0 is a constant probability, 1 makes the expected number of
exchanges grow with log t.
"""

from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, kernel
from corebandit.contracts.state import FloatArray, IntArray, IntScratch, Scratch
from corebandit.contracts.validate import check_flag, check_number
from corebandit.parts.history import History, new_history
from corebandit.randomness.bits import ONE, Words, count_ones, uniform
from corebandit.randomness.samplers import WORD_SIZE, ZERO, first_lanes, trials
from corebandit.randomness.stream import Stream

REWARDS, TRIED = 0, 1  # what `tally` holds where


@kernel
def _deal(rewards: FloatArray, n: int, chance: float, words: Words, taken: IntArray, dealt: FloatArray) -> int:
    """Take each of the first `n` rewards with probability `chance`, and shuffle these; return how many there are.

    Fill `taken` with the places of those taken and `dealt` with what is dealt to each place.
    """
    n_taken = 0
    for start in range(0, n, WORD_SIZE):
        left = trials(words, first_lanes(n - start), chance)
        while left != ZERO:
            place = start + count_ones((left - ONE) & ~left)  # of the lowest bit that is set
            taken[n_taken], dealt[n_taken] = place, rewards[place]
            n_taken += 1
            left &= left - ONE
    for last in range(n_taken - 1, 0, -1):
        pick = int(uniform(words) * (last + 1))
        dealt[last], dealt[pick] = dealt[pick], dealt[last]
    return n_taken


@allocating_nothing
class Exchange(NamedTuple):
    """All rewards in the order in which they came, each with the arm that holds its place. See `new_exchange`."""

    rewards: FloatArray  # (capacity,)
    holders: IntArray  # (capacity,) the arm of each
    places: History  # where each arm's rewards are (swapping)
    tried: IntArray  # (n_arms,) the arms that have a reward, in the order of their first
    tally: IntArray  # (2,) how many rewards, how many arms that have one
    taken: IntScratch  # (capacity,) the places of rewards dealt anew
    dealt: Scratch  # (capacity,) what is dealt there
    probability: float
    decay: float
    is_kept: bool

    def include(self, arm: int, reward: float) -> None:
        """Add a reward at the end."""
        place = self.tally[REWARDS]
        self.rewards[place] = reward
        self.holders[place] = arm
        self.tally[REWARDS] += 1
        if self.is_kept:
            if self.places.counts[arm] == 0:
                self.tried[self.tally[TRIED]] = arm
                self.tally[TRIED] += 1
            self.places.append(arm, float(place))

    def likelihood(self, n_independent: int) -> float:
        """Return p_t after t rewards, where `n_independent` is the number of arms, or of features."""
        return float(min(1.0, self.probability * (n_independent / max(self.tally[REWARDS], 1)) ** self.decay))

    def swapped_places(self, arm: int, n_independent: int, rng: Stream) -> tuple[int, int]:
        """With probability p_t swap a random reward of `arm` with one of another arm; return both places.

        They are equal if nothing was swapped. Other arms are drawn by when they were first tried, so that no arm's
        index matters.
        """
        if rng.random() >= self.likelihood(n_independent) or self.tally[TRIED] < 2:
            return 0, 0
        other = self.tried[rng.integers(self.tally[TRIED] - 1)]
        if other == arm:
            other = self.tried[self.tally[TRIED] - 1]
        here = int(self.places.value(arm, rng.integers(self.places.counts[arm])))
        there = int(self.places.value(other, rng.integers(self.places.counts[other])))
        self.rewards[here], self.rewards[there] = self.rewards[there], self.rewards[here]
        return here, there

    def deal_anew(self, n_independent: int, rng: Stream) -> int:
        """Take each reward with probability p_t and deal those taken at random to the places they came from.

        Return how many were taken; `taken` and `dealt` say which places hold what. The rewards stay as they are.
        """
        return _deal(
            self.rewards, self.tally[REWARDS], self.likelihood(n_independent), rng.words, self.taken, self.dealt
        )


def check_exchange(probability: float, decay: float, kept: bool) -> None:
    """Raise BadInput unless the parameters make sense."""
    check_number("decay", decay, at_least=0)
    check_flag("kept", kept)
    if decay == 0:
        check_number("probability", probability, at_least=0, at_most=1)
    else:
        check_number("probability", probability, at_least=0)


def new_exchange(n_arms: int, capacity: int, probability: float, decay: float, kept: bool) -> Exchange:
    """Return no rewards, with room for `capacity`; swaps are `kept`, or rewards are dealt anew in each round."""
    n_dealt = 0 if kept else capacity
    return Exchange(
        rewards=np.zeros(capacity),
        holders=np.zeros(capacity, np.int64),
        places=new_history(n_arms, capacity if kept else 0),
        tried=np.zeros(n_arms, np.int64),
        tally=np.zeros(2, np.int64),
        taken=np.zeros(n_dealt, np.int64),
        dealt=np.zeros(n_dealt),
        probability=float(probability),
        decay=float(decay),
        is_kept=kept,
    )
