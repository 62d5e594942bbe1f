"""Whether the world seems to have changed: what an option paid before, and what it has paid since.

The test is that of `parts/alarm.py`, of each option's own rewards, whatever the policy: the newest rewards against all
before them, for many lengths of "newest". It costs little, since rewards are put together in blocks, and looked at only
when a block is full. What was noticed is not saved: an agent that is loaded begins to watch anew.

Watched are arms that are chosen without features, since what an arm pays on average depends on whom it is given to;
rewards that were told, in agents where none are given by default, since those come later than others; and only while no
more than a block of an arm's decisions wait, since then rewards come in about the order of the decisions.
"""

import logging
import math
from collections.abc import Hashable
from functools import reduce
from typing import Any, NamedTuple

from corebandit.parts.alarm import FEWEST_BY_KURTOSIS

LOG = logging.getLogger("corebandit")
BLOCK = 64  # rewards that are looked at together
MOST_BLOCKS = 32  # of which older ones are put together by twos, from there on
DELTA = 0.001  # level of the test

Block = tuple[
    int, float, float, float
]  # how many, their mean, the sum of squared distances to it, about that of 4th powers


class Change(NamedTuple):
    """A change of what an option pays: how many rewards before it and since, and their means."""

    n_before: int
    before: float
    n_after: int
    after: float


class Watch:
    """The rewards of one option since it last changed, in blocks, and that change."""

    __slots__ = ("blocks", "change", "newest", "whole")

    def __init__(self) -> None:
        self.newest: list[float] = []
        self.blocks: list[Block] = []
        self.whole: Block = (0, 0.0, 0.0, 0.0)  # all of them together
        self.change: Change | None = None

    def hears(self, reward: float) -> bool:
        """Take in a reward, and tell whether the option seems to have changed; `change` tells how.

        >>> watch = Watch()
        >>> any([watch.hears(reward) for reward in [0.0, 1.0] * 384 + [1.0] * 128])
        True
        >>> watch.change.before, watch.change.after
        (0.5, 1.0)
        """
        self.newest.append(reward)
        return len(self.newest) >= BLOCK and self.has_changed()

    def has_changed(self) -> bool:
        """Tell whether the option seems to have changed, now that a block of rewards is full."""
        block = _block(self.newest)
        self.blocks.append(block)
        self.whole = _together(self.whole, block)
        self.newest.clear()
        if len(self.blocks) > MOST_BLOCKS:
            old = self.blocks[:MOST_BLOCKS]
            self.blocks[:MOST_BLOCKS] = [_together(*pair) for pair in zip(old[::2], old[1::2], strict=True)]
        split = _changed_at(self.blocks, self.whole)
        if split is None:
            return False
        (n_before, before, *_), self.whole = (
            reduce(_together, part) for part in (self.blocks[:split], self.blocks[split:])
        )
        self.change = Change(n_before, before, self.whole[0], self.whole[1])
        del self.blocks[:split]
        return True


def notice(options: Any, traffic: Any, option: int, reward: float) -> None:
    """Take in a reward that was told of an option, and warn in the log if the option seems to have changed."""
    tally = traffic.tallies[option]
    if tally.open > BLOCK:
        return
    watch = tally.watch
    if watch is None:
        watch = tally.watch = Watch()
    watch.newest.append(reward)  # as in `hears`, in less time
    if len(watch.newest) >= BLOCK and watch.has_changed() and (change := watch.change) is not None:
        tell_of(options.noun, options.names[option], change)


def tell_of(noun: str, name: Hashable, change: Change) -> None:
    """Warn in the log of a change."""
    LOG.warning(
        "the world seems to have changed: the last %s rewards of %s %r are %.4g on average, the %s before them were "
        "%.4g; a policy that forgets, such as DriftingCORe, follows soonest",
        f"{change.n_after:,}",
        noun,
        name,
        change.after,
        f"{change.n_before:,}",
        change.before,
    )


def _block(rewards: list[float]) -> Block:
    mean = sum(rewards) / len(rewards)
    squares = [(gap := reward - mean) * gap for reward in rewards]
    return len(rewards), mean, sum(squares), sum([square * square for square in squares])


def _together(one: Block, other: Block) -> Block:
    n, gap = one[0] + other[0], other[1] - one[1]
    return n, one[1] + gap * other[0] / n, one[2] + other[2] + gap * gap * one[0] * other[0] / n, one[3] + other[3]


def _changed_at(blocks: list[Block], whole: Block) -> int | None:
    """Return from which block on rewards are others than before, or None."""
    n, mean, spread, fourth = whole
    if not 0.0 < spread < math.inf:
        return None
    fewest = FEWEST_BY_KURTOSIS * (fourth / spread) * (n / spread)  # rewards that make a mean nearly normal
    most, split, before, above = 2.0 * spread / n * math.log(n**1.5 / DELTA), None, 0, 0.0
    for place, (size, of_block, _, _) in enumerate(blocks[:-1], start=1):
        before += size
        above += size * (of_block - mean)
        found = above * above / before * (n / (n - before))
        if found > most and min(before, n - before) >= fewest:
            most, split = found, place
    return split
