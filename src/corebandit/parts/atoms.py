"""Every arm's observations with equal ones gathered, and means of them under random weights.

The exponential weights of k equal values add up to one gamma(k) draw. So up to 16 distinct values of an arm are kept
with their counts: on 0/1 rewards, a mean costs two draws. Further values are listed one by one.
"""

from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, kernel
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.parts.history import History, new_history
from corebandit.randomness.bits import Words
from corebandit.randomness.samplers import standard_exponential
from corebandit.randomness.stream import Stream

N_ATOMS = 16


@kernel
def _weigh(values: FloatArray, start: int, n: int, top: float, words: Words) -> tuple[float, float]:
    """Give each of `n` values from `start` on an exponential weight; return their sum and the weighted shortfall."""
    weights, shortfall = 0.0, 0.0
    for place in range(start, start + n):
        weight = standard_exponential(words)
        weights += weight
        shortfall += weight * (top - values[place])
    return weights, shortfall


@allocating_nothing
class Atoms(NamedTuple):
    """The values of each arm. Make one with `new_atoms`."""

    atoms: FloatArray  # (n_arms, 16) distinct values of each arm
    repeats: FloatArray  # (n_arms, 16) how often each was seen
    n_atoms: IntArray  # (n_arms,) how many are in use
    others: History  # the values for which there was no room

    def include(self, arm: int, value: float) -> None:
        """Add a value to the arm's."""
        n = self.n_atoms[arm]
        for atom in range(n):
            if self.atoms[arm, atom] == value:
                self.repeats[arm, atom] += 1.0
                return
        if n < N_ATOMS:
            self.atoms[arm, n] = value
            self.repeats[arm, n] = 1.0
            self.n_atoms[arm] += 1
        else:
            self.others.append(arm, value)

    def weighted_mean(self, arm: int, top: float, rng: Stream) -> float:
        """Draw a mean of the arm's values under exponential weights: the mean of a Dirichlet(1, ..., 1) draw.

        It is measured from `top`: arms all of whose values are `top` tie exactly.
        """
        others = self.others
        weights, shortfall = _weigh(others.values, others.starts[arm], others.counts[arm], top, rng.words)
        for atom in range(self.n_atoms[arm]):
            weight = rng.standard_gamma(self.repeats[arm, atom])
            weights += weight
            shortfall += weight * (top - self.atoms[arm, atom])
        return top - shortfall / weights


def new_atoms(n_arms: int, capacity: int, *first: float) -> Atoms:
    """Return values with room for `capacity` more; every arm starts with the distinct values `first`."""
    atoms, repeats = np.zeros((n_arms, N_ATOMS)), np.zeros((n_arms, N_ATOMS))
    atoms[:, : len(first)], repeats[:, : len(first)] = first, 1.0
    return Atoms(atoms, repeats, np.full(n_arms, len(first)), new_history(n_arms, capacity))
