r"""How worlds move: numbers that depend on the round, and may be the means of arms or the theta of a linear model.

Five motions, all told by one understandable number, `lasts`, for how many rounds a world stays about the same:

    "abrupt"    at random times, `lasts` rounds apart on average, everything is drawn anew
    "smooth"    from one random state to the next on a straight line, `lasts` rounds each
    "season"    from one random state to another in `lasts` rounds and back again, as a cosine goes, for ever
    "once"      one state up to round `lasts`, another from then on
    "deaths"    at random times, `lasts` rounds apart on average, an arm dies and pays nothing more, never the last one

All of them are one class, so that a policy is compiled once for all worlds that change. A world draws what comes next
from a stream of its own: it is the same whoever plays, and has no end.
"""

import math
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, kernel
from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_choice, check_number
from corebandit.problems.linear import random_row
from corebandit.randomness.bits import Words, uniform
from corebandit.randomness.samplers import standard_exponential
from corebandit.randomness.stream import Stream

ABRUPT, SMOOTH, SEASON, ONCE, DEATHS = range(5)
MOTIONS = {"abrupt": ABRUPT, "smooth": SMOOTH, "season": SEASON, "once": ONCE, "deaths": DEATHS}
BEGAN, NEXT = 0, 1  # what `clock` holds where
FOREVER = 2**62


@kernel
def draw_state(low: float, high: float, length: float, words: Words, state: FloatArray) -> None:
    """Fill `state` with means uniform on [low, high], or, if `length` is above 0, with a theta of that radius."""
    if length > 0.0:
        random_row(state, words)
        for j in range(state.size):
            state[j] *= length
        return
    for j in range(state.size):
        state[j] = low + (high - low) * uniform(words)


@allocating_nothing
class Motion(NamedTuple):
    """Numbers that move. Make one with `new_motion`."""

    values: FloatArray  # (n,) as they are in this round
    here: FloatArray  # (n,) where they came from
    there: FloatArray  # (n,) where they go
    clock: IntArray  # (2,) the round in which this stretch began, and that of the next change
    words: Words  # (4,) the world's own stream
    kind: int
    lasts: float
    low: float  # of means
    high: float
    length: float  # of theta; 0: these are means

    def begin_round(self, current_round: int) -> bool:
        """Move to a round, counted from 1, and tell whether anything may be new; rounds come in their order."""
        if self.kind == SMOOTH or self.kind == SEASON:
            self.glide(current_round)
            return True
        if current_round < self.clock[NEXT]:
            return False
        if self.kind == ABRUPT:
            self.draw(self.values)
        elif self.kind == ONCE:
            for j in range(self.values.size):
                self.values[j] = self.there[j]
        else:
            self.let_one_die()
        self.clock[NEXT] = FOREVER if self.kind == ONCE else self.next_change(current_round)
        return True

    def glide(self, current_round: int) -> None:
        """Be on the way from here to there."""
        passed = (current_round - self.clock[BEGAN]) / self.lasts
        if self.kind == SEASON:
            share = 0.5 - 0.5 * math.cos(math.pi * passed)
        else:
            if passed >= 1.0:
                for j in range(self.here.size):
                    self.here[j] = self.there[j]
                self.draw(self.there)
                self.clock[BEGAN] = current_round
                passed = 0.0
            share = passed
        for j in range(self.values.size):
            self.values[j] = self.here[j] + share * (self.there[j] - self.here[j])

    def let_one_die(self) -> None:
        """Let a random one of those alive, which are 1 in `there`, pay nothing from now on; the last one lives on."""
        n_alive = 0
        for j in range(self.values.size):
            n_alive += self.there[j] > 0.0
        if n_alive < 2:
            return
        skip = int(n_alive * uniform(self.words))
        for j in range(self.values.size):
            if self.there[j] > 0.0:
                if skip == 0:
                    self.values[j], self.there[j] = min(0.0, self.low), 0.0
                    return
                skip -= 1

    def draw(self, state: FloatArray) -> None:
        """Fill `state` with a random one."""
        draw_state(self.low, self.high, self.length, self.words, state)

    def next_change(self, current_round: int) -> int:
        """Return the round of the next change: of each round the chance is 1 / lasts, whatever was before."""
        if self.lasts <= 1.0:
            return current_round + 1
        return int(current_round + 1 + standard_exponential(self.words) / -math.log1p(-1.0 / self.lasts))


def new_motion(
    motion: str, lasts: float, here: FloatArray, there: FloatArray, scale: tuple[float, float, float], rng: Stream
) -> Motion:
    """Return numbers `here` that will move, at first to `there`; `scale` are low, high and length of what is drawn."""
    kind = MOTIONS[motion]
    moving = Motion(
        values=here.copy(),
        here=here.copy(),
        there=np.ones(here.size) if kind == DEATHS else there.copy(),
        clock=np.array([1, FOREVER]),
        words=rng.words.copy(),
        kind=kind,
        lasts=float(lasts),
        low=float(scale[0]),
        high=float(scale[1]),
        length=float(scale[2]),
    )
    if kind in (ABRUPT, DEATHS):
        moving.clock[NEXT] = moving.next_change(1)
    elif kind == ONCE:
        moving.clock[NEXT] = int(lasts) + 1
    return moving


def check_motion(motion: str, lasts: float, motions: tuple[str, ...]) -> None:
    """Raise BadInput unless there is such a motion, and a number of rounds for it."""
    check_choice("motion", motion, motions)
    check_number("lasts", lasts, at_least=1)
    if lasts > FOREVER / 100:
        raise BadInput(f"lasts must be a number of rounds that somebody could play, not {lasts:g}")
