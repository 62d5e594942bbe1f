"""A reward pool for GPUs: from few distinct values it draws any number of times in nearly the same steps.

How often each value comes up, and how many of those are positive, is counted with coins (`coins.py`): the law of other
pools, from other random words. Of rewards with many values it draws as they do.
"""

from corebandit.compiled.bridge import allocating_nothing, kernel
from corebandit.contracts.state import FloatArray
from corebandit.parts.listed import DISTINCT, TIMES, VALUE
from corebandit.parts.moments import COUNT, MEAN
from corebandit.parts.pool import Pool
from corebandit.randomness.bits import Words
from corebandit.randomness.coins import successes_by_halving, tossed
from corebandit.randomness.stream import Stream


@kernel
def _sum_by_halving(atoms: FloatArray, n_atoms: int, n_values: float, mean: float, n_draws: int, words: Words) -> float:
    """Draw how often each distinct value comes up, then how many of those are positive."""
    total, left, mass = 0.0, n_draws, n_values
    for atom in range(n_atoms):
        count = atoms[TIMES, atom]
        n_hits = left if count >= mass else successes_by_halving(words, left, count / mass)
        left -= n_hits
        mass -= count
        total += (atoms[VALUE, atom] - mean) * (2 * tossed(words, n_hits) - n_hits)
    return total


@allocating_nothing
class HalvingPool(Pool):
    """A pool that draws from few distinct values by counting coins."""

    __slots__ = ()

    def sum_of_listed(self, n_draws: int, rng: Stream) -> float:
        """Draw the sum of `n_draws` draws from the table of distinct values."""
        n_values, mean = self.moments[COUNT], self.moments[MEAN]
        return _sum_by_halving(self.atoms, self.tally[DISTINCT], n_values, mean, n_draws, rng.words)
