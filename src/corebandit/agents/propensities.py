"""The probabilities of what was chosen, from draws: estimated once for a look, exact where a draw decides.

If M draws of the scores are made and one of them, picked uniformly, decides, then the share of the draws that an option
wins *is* its probability, given the draws; and the choice has the law of the policy's own. A floor mixes in a uniform
choice: with K options that may be chosen, each has p = (1 - K floor) share + floor.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from corebandit.contracts.errors import demand
from corebandit.contracts.state import IntArray
from corebandit.contracts.validate import check_number
from corebandit.randomness.stream import Stream

Chances = dict[int, float]  # by index; options that have no chance are left out
ROUNDING = 1e-9  # by which a sum of probabilities may be off


def chances(winners: IntArray, allowed: IntArray, floor: float) -> Chances:
    """Return the probability of each of the options `allowed`, ascending, from who won each draw.

    >>> chances(np.array([4, 2, 4, 4]), np.array([1, 2, 4]), floor=0.0)
    {2: 0.25, 4: 0.75}
    >>> chances(np.array([4, 2, 4, 4]), np.array([1, 2, 4]), floor=0.125)
    {1: 0.125, 2: 0.28125, 4: 0.59375}
    """
    wins = np.bincount(winners, minlength=int(allowed[-1]) + 1)[allowed]
    shares = (1.0 - allowed.size * floor) * (wins / winners.size) + floor
    return {option: chance for option, chance in zip(allowed.tolist(), shares.tolist(), strict=True) if chance > 0.0}


def mixed_evenly(known: Chances, offered: IntArray, share: float) -> Chances:
    """Return probabilities of all that is on offer where so large a share of the choices is uniform.

    >>> mixed_evenly({2: 0.25, 4: 0.75}, np.array([1, 2, 3, 4]), share=0.5)
    {1: 0.125, 2: 0.25, 3: 0.125, 4: 0.5}
    """
    even = share / offered.size
    return {option: (1.0 - share) * known.get(option, 0.0) + even for option in offered.tolist()}


def is_uniform(rng: Stream, n_allowed: int, floor: float) -> bool:
    """Tell, at random, whether the uniform choice decides that the floor mixes in."""
    return floor > 0.0 and rng.random() < n_allowed * floor


def shuffled(rng: Stream, options: IntArray, n_drawn: int) -> IntArray:
    """Return so many of the options, all orders alike."""
    drawn = options.copy()
    for place in range(n_drawn):
        other = place + rng.integers(options.size - place)
        drawn[place], drawn[other] = drawn[other], drawn[place]
    return drawn[:n_drawn]


def chances_to_json(known: Chances) -> list[list[float]]:
    """Return probabilities as JSON: pairs of an index and its probability."""
    return [[option, chance] for option, chance in known.items()]


def chances_from_json(saved: Any, chosen: int, checked_index: Callable[[str, Any], int]) -> Chances:
    """Return the probabilities that were saved, of a decision for `chosen`, or raise a DamagedFile."""
    pairs = [(checked_index("pending_propensities", option), chance) for option, chance in saved]
    known = {option: check_number("pending_propensities", chance, above=0, at_most=1) for option, chance in pairs}
    demand(
        len(known) == len(pairs) and chosen in known, "pending_propensities must be of the options, one of them chosen"
    )
    demand(abs(sum(known.values()) - 1.0) <= ROUNDING, "pending_propensities must add up to 1")
    return known
