r"""Ranked bandits (Radlinski, Kleinberg and Joachims, 2008).

    at each position its own bandit picks an item:   reward = 1 if its pick is shown there and clicked, else 0

An item that a position above has picked already is replaced by one drawn at random from those not shown, and the pick
is paid 0. Nothing is assumed of how users click; under position k the bandit learns which item is clicked by users whom
the items above have not satisfied.

`prepare` decides what is shown, since a bandit is paid for its pick, which need not be what is shown. A state remembers
the picks of its last ranking only. If clicks come late, after another ranking, all items that were shown count as
picked. Items cannot come and go: a bandit would go on picking what is off offer.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corebandit.compiled.bridge import inlined
from corebandit.compiled.optional_methods import asks_first, prepare, tell_round
from corebandit.contracts.recipe import Policy, RankingPolicy
from corebandit.contracts.state import IntArray, Scratch
from corebandit.parts.choose import best_items
from corebandit.policies.arms.ucb1 import UCB1
from corebandit.randomness.stream import Stream
from corebandit.ranking.policies.adapter import arm_policy

DEFAULT = UCB1()


@inlined
def is_among(item: int, ranking: IntArray, n_ranked: int) -> bool:
    """Tell whether the item is among the first of the ranking."""
    position = 0
    while position < n_ranked and ranking[position] != item:
        position += 1
    return position < n_ranked


@inlined
def draw_unused(n_items: int, ranking: IntArray, n_ranked: int, rng: Stream) -> int:
    """Draw an item that is not among the first of the ranking."""
    skip, item = rng.integers(n_items - n_ranked), 0
    while skip > 0 or is_among(item, ranking, n_ranked):
        if not is_among(item, ranking, n_ranked):
            skip -= 1
        item += 1
    return item


class RankedBanditsState(NamedTuple):
    """What the bandits have learnt, and what they picked last."""

    bandits: tuple[Any, ...]  # one state for each position
    picks: IntArray  # (n_positions,)
    shown: IntArray  # (n_positions,) what was shown for them
    scores: Scratch  # (n_items,) what a bandit says

    def prepare(self, rng: Stream) -> bool:
        """Let each bandit pick, and decide what is shown: the picks, with a random item in place of one shown above."""
        prepare(self.bandits, rng)
        for position in range(self.picks.size):
            self.bandits[position].score(rng, self.scores)
            best_items(self.scores, rng, self.picks[position : position + 1])
            item = self.picks[position]
            if is_among(item, self.shown, position):
                item = draw_unused(self.scores.size, self.shown, position, rng)
            self.shown[position] = item
        return True

    def rank(self, rng: Stream, ranking: IntArray) -> None:
        """Fill `ranking` with what was prepared."""
        for position in range(ranking.size):
            ranking[position] = self.shown[position]

    def learn(self, ranking: IntArray, clicks: IntArray, rng: Stream) -> None:
        """Pay each bandit for its pick, or for what it has shown if the ranking is not the last one."""
        n_same = 0
        for position in range(ranking.size):
            n_same += ranking[position] == self.shown[position]
        for position in range(ranking.size):
            item = ranking[position]
            pick = self.picks[position] if n_same == ranking.size else item
            self.bandits[position].update(pick, float(clicks[position]) if pick == item else 0.0, rng)


class ToldRankedBanditsState(RankedBanditsState):
    """The same of bandits that are told of rounds: a class of its own, so that others pay nothing."""

    def begin_round(self, decided: int, left: int, pending: IntArray) -> None:
        """Tell the bandits."""
        tell_round(self.bandits, decided, left, pending)


@dataclass(frozen=True)
class RankedBandits(RankingPolicy):
    """Let a bandit of its own choose at each position; `policy` is any policy for arms.

    >>> RankedBandits().label
    'RankedBandits'
    >>> RankedBandits("CORe").label
    'RankedBandits(policy=CORe)'
    """

    items_may_change = False  # a bandit cannot be told what is on offer

    policy: Policy = DEFAULT

    def __post_init__(self) -> None:
        """Find the policy if only its name or description is given."""
        object.__setattr__(self, "policy", arm_policy(self.policy))

    def start(self, n_items: int, n_positions: int, horizon: int | None, capacity: int) -> RankedBanditsState:
        """Return a state that has seen nothing."""
        rounds = -(-capacity // n_positions)
        bandits = tuple(self.policy.start(n_items, horizon, rounds) for _ in range(n_positions))
        return (ToldRankedBanditsState if asks_first(bandits[0]) else RankedBanditsState)(
            bandits=bandits,
            picks=np.zeros(n_positions, np.int64),
            shown=np.zeros(n_positions, np.int64),
            scores=np.zeros(n_items),
        )
