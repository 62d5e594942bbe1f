"""Whether the numbers of a state fit together. Compiled code trusts them with memory, so those from a file are audited.

A state may have a method `audit(fresh, seen)`, in plain Python, that raises a `DamagedFile` unless its arrays could
have come from learning: `fresh` is a state of the same policy that has seen nothing, `seen` the range of how many
observations it may have learnt from, as a policy inside another does not learn from all. The `audit` of a ranking
policy's state takes `fresh`, the number of rankings and that of positions; parts of states take what they need to know.
Arrays that are written before they are read, scratch, need no audit. States without the method are taken as they are.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from corebandit.contracts.errors import DamagedFile
from corebandit.contracts.recipe import LARGEST_REWARD

MOST_OBSERVATIONS = 2**53  # floats count no further
ROUNDING = 1e-9  # share by which sums may be off

Numbers = NDArray[Any]


def audit(state: Any, fresh: Any, *facts: Any) -> None:
    """Audit a state if it has a method for that."""
    if hasattr(state, "audit"):
        with np.errstate(all="ignore"):  # nonsense overflows
            state.audit(fresh, *facts)


def demand(fits: Any, what: str) -> None:
    """Raise a DamagedFile that says what does not fit, unless it does."""
    if not fits:
        raise DamagedFile(what)


def check_within(name: str, numbers: Numbers | float, low: Any, high: Any) -> None:
    """Raise a DamagedFile unless all numbers are from `low` to `high`, numbers or arrays; NaN is not."""
    demand(np.all((numbers >= low) & (numbers <= high)), f"{name} must not be out of range")


def check_finite(name: str, numbers: Numbers) -> None:
    """Raise a DamagedFile unless all numbers are finite."""
    demand(np.isfinite(numbers).all(), f"{name} must be finite")


def check_whole(name: str, numbers: Numbers, low: Any, high: Any) -> None:
    """Raise a DamagedFile unless all numbers, floats or not, are whole and from `low` to `high`."""
    check_within(name, numbers, low, high)
    demand(np.all(numbers == np.floor(numbers)), f"{name} must be whole numbers")


def check_equal(name: str, numbers: Numbers, others: Any) -> None:
    """Raise a DamagedFile unless all numbers equal those that they go with."""
    demand(np.array_equal(numbers, np.broadcast_to(others, numbers.shape)), f"{name} must go with the rest")


def check_near(name: str, numbers: Numbers, others: Any) -> None:
    """Raise a DamagedFile unless all numbers equal others that another machine may round otherwise."""
    demand(np.allclose(numbers, others, rtol=ROUNDING, atol=1e-12), f"{name} must go with the rest")


def check_flags(name: str, numbers: Numbers) -> None:
    """Raise a DamagedFile unless all numbers are 0 or 1."""
    demand(np.all((numbers == 0) | (numbers == 1)), f"{name} must be 0 or 1")


def check_total(name: str, total: int, seen: range) -> int:
    """Return the number of observations if it is one of those there may be."""
    demand(total in seen, f"{name} must go with the number of observations")
    return total


def check_pulls(name: str, counts: Numbers, seen: range) -> int:
    """Return the sum of what counts observations: whole numbers, as many as were seen."""
    check_whole(name, counts, 0, seen.stop - 1)
    return check_total(name, int(counts.sum()), seen)


def check_sums(name: str, sums: Numbers | float, counts: Any) -> None:
    """Raise a DamagedFile unless the sums are of so many rewards each."""
    most = LARGEST_REWARD * (1.0 + ROUNDING) * counts
    check_within(name, sums, -most, most)


def check_rewards(name: str, rewards: Numbers) -> None:
    """Raise a DamagedFile unless all are rewards that an agent takes."""
    check_within(name, rewards, -LARGEST_REWARD, LARGEST_REWARD)
