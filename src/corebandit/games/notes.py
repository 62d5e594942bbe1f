"""What a loop writes down of a run besides regret: enough to say why a policy did well or badly."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corebandit.compiled.bridge import inlined
from corebandit.contracts.state import FloatArray, IntArray

TIE = 1e-12  # means that differ by less, in units of the best or of 1, are the same number after rounding


class Notes(NamedTuple):
    """What is written down of one run, or of several with an axis in front.

    For rankings arms are items, the best arm is the best ranking, and `simple_regret` and `means` are NaN: what is
    chosen is not an arm. So they are where arms are not the same from round to round.
    """

    best_rounds: IntArray  # (checkpoints,) how many rounds up to each chose an arm of the highest mean
    simple_regret: FloatArray  # (checkpoints,) how far the arm chosen most often up to each is below the best
    pulls: IntArray  # (n_arms,)
    means: FloatArray  # (n_arms,) expected rewards, in the last round if they change
    actions: NDArray[np.int32]  # (rounds, 1 or positions) what was chosen in each round; (0, ...) if not asked for


@inlined
def lowest_equal(best: float) -> float:
    """Return the lowest number that is the same as the best after rounding."""
    return best - TIE * max(1.0, abs(best))


@inlined
def most_pulled(pulls: IntArray) -> int:
    """Return the arm pulled most often, the first of several."""
    favourite = 0
    for arm in range(1, pulls.size):
        favourite = arm if pulls[arm] > pulls[favourite] else favourite
    return favourite


def new_notes(n_checkpoints: int, n_arms: int, n_rounds: int = 0, n_positions: int = 1) -> Notes:
    """Return notes with nothing in them."""
    return Notes(
        np.zeros(n_checkpoints, np.int64),
        np.zeros(n_checkpoints),
        np.zeros(n_arms, np.int64),
        np.zeros(n_arms),
        np.zeros((n_rounds, n_positions), np.int32),
    )


def in_short(notes: Notes) -> Notes:
    """Return the notes of one run with an axis for runs in front, and whole numbers in as few bytes as they need."""
    return Notes(*(_in_few_bytes(array)[None] for array in notes))


def joined(parts: Sequence[Notes]) -> Notes:
    """Return the notes of all runs of several parts; where runs have different numbers of arms, pulls of none are 0."""
    most = max(part.pulls.shape[1] for part in parts)
    wide = [
        part._replace(pulls=_widened(part.pulls, most, 0), means=_widened(part.means, most, np.nan)) for part in parts
    ]
    return Notes(*(_in_few_bytes(np.concatenate(arrays)) for arrays in zip(*wide, strict=True)))


def _widened(array: NDArray[Any], most: int, filling: float) -> NDArray[Any]:
    missing = most - array.shape[1]
    return np.pad(array, ((0, 0), (0, missing)), constant_values=filling) if missing else array


def _in_few_bytes(array: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers, none of which is negative, in the smallest type that holds them."""
    if array.dtype.kind == "f":
        return array
    return array.astype(np.min_scalar_type(int(array.max(initial=0))), copy=False)
