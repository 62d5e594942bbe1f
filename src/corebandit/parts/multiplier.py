"""How far towards its confidence bound an estimate is moved: the random multiple of RandUCB's widths."""

import math
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, check_flag, check_number
from corebandit.randomness.stream import Stream

# The last point's weight, relative to the largest: 1e-6 against the density of the default, N(0, 0.125^2).
FULL_WIDTH_WEIGHT = 1e-6 * 0.125 * math.sqrt(2.0 * math.pi)


@allocating_nothing
class Multiplier(NamedTuple):
    """A law on a few points up to 1. Make one with `new_multiplier`."""

    points: FloatArray  # (n_points,)
    up_to: FloatArray  # (n_points,) probability of each point and those before it

    def multiple(self, rng: Stream) -> float:
        """Draw a point."""
        u, index = rng.random(), 0
        while index < self.points.size - 1 and u >= self.up_to[index]:
            index += 1
        return float(self.points[index])


def check_multiplier(n_points: int, spread: float, optimistic: bool, coupled: bool) -> None:
    """Raise BadInput unless the parameters give a law."""
    check_count("n_points", n_points, at_least=2)
    check_number("spread", spread, above=0)
    check_flag("optimistic", optimistic)
    check_flag("coupled", coupled)


def new_multiplier(n_points: int, spread: float, optimistic: bool) -> Multiplier:
    """Return equally spaced points on [0, 1], or on [-1, 1], weighted by the density of N(0, spread^2) there.

    The last point, the full width, has a small weight of its own, whatever the spread.
    """
    points = np.linspace(0.0 if optimistic else -1.0, 1.0, n_points)
    smallest = np.abs(points[:-1]).min()
    spread = max(spread, 1e-100)  # the law is the same, and no quotient overflows
    # Relative to the largest, for they may all be too small for floats: (points^2 - smallest^2) / spread^2.
    weights = np.exp(-0.5 * ((points - smallest) / spread) * ((points + smallest) / spread))
    weights[-1] = FULL_WIDTH_WEIGHT
    return Multiplier(points, np.cumsum(weights / weights.sum()))
