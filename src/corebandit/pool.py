r"""The reward pool: what CORe draws its noise from.

The pool holds the rewards seen so far, Y_1 ... Y_m, and stands for the 2m values ±(Y - mean). It answers one question,
the sum of c independent draws, in one of three ways:

* *few distinct values* (0/1 clicks, star ratings: at most 16): how often each value is drawn is multinomial, its signs
  binomial. Exact, and the cost does not depend on c.
* *few draws*: draw them. Exact.
* *many draws*: the normal limit with the pool's variance, corrected by its fourth cumulant. The pool is symmetric, so
  the third vanishes: w = g + kappa / (24 c) (g^3 - 3 g) for a standard normal g and excess kurtosis kappa.

The last is an approximation. It is used only from so many draws on that the distribution of the sum is within 0.003 of
the exact one (Kolmogorov-Smirnov), for pools from uniform to Student-t(3), with outliers, nearly discrete:

    c > max(32, 3 kappa, (kappa / 2 + 4.5) / (s (1 - s)), 32 / (1 - F)),   s = m4^2 / (m2 m6)

with central moments m2, m4, m6. s is the share of the variance that sits in deviations of one large size: near 1 the
sum keeps to a grid, near 0 rare outliers show in its tails. F is the share of rewards on a few repeated values.
`sampler="exact"` draws always.
"""

import math
from typing import NamedTuple

import numpy as np

from corebandit.compiled import allocating_nothing, kernel, kernel_reassociated
from corebandit.samplers import binomial, heads, standard_normal
from corebandit.state import FloatArray, IntArray
from corebandit.stream import Stream
from corebandit.words import Words, next_word, uniform

N_ATOMS = 16
FEWEST_FOR_LIMIT = 32.0
SAMPLERS = ("fast", "exact")

MIX_1, MIX_2, ONE = np.uint32(0x7FEB352D), np.uint32(0x846CA68B), np.uint32(1)
HALF_WORD = np.uint64(32)
S15, S16 = np.uint32(15), np.uint32(16)


@kernel_reassociated
def _sum_of_draws(values: FloatArray, n_values: int, mean: float, n_draws: int, words: Words) -> float:
    """Add up `n_draws` draws from the pool, one by one.

    Draw i takes its index and sign from a 32-bit mix of i under a fresh 64-bit key. Unlike a sequential generator this
    runs on vector registers, below 1 ns a draw; every value's chance is right to a relative 2 n_values / 2^32.
    """
    key = next_word(words)
    first, factor = np.uint32(key), np.uint32(key >> HALF_WORD) | ONE
    size = np.uint64(2 * n_values)
    total = 0.0
    for draw in range(n_draws):
        bits = np.uint32(first + np.uint32(draw))
        bits = np.uint32((bits ^ (bits >> S16)) * MIX_1)
        bits = np.uint32((bits ^ (bits >> S15)) * factor)
        bits = np.uint32((bits ^ (bits >> S16)) * MIX_2)
        bits = np.uint32(bits ^ (bits >> S16))
        place = np.int64((np.uint64(bits) * size) >> HALF_WORD)
        total += (values[place >> 1] - mean) * (1.0 - 2.0 * (place & 1))
    return total


@kernel
def _sum_by_counts(atoms: FloatArray, n_atoms: int, n_values: float, mean: float, n_draws: int, words: Words) -> float:
    """Draw how often each distinct value comes up, then how many of those are positive."""
    total, left, mass = 0.0, n_draws, n_values
    for atom in range(n_atoms):
        count = atoms[1, atom]
        n_hits = left if count >= mass else binomial(words, left, count / mass)
        left -= n_hits
        mass -= count
        total += (atoms[0, atom] - mean) * (2 * heads(words, n_hits) - n_hits)
    return total


@kernel
def _take_in(reward: float, moments: FloatArray, atoms: FloatArray, tally: IntArray) -> None:
    """Update the moments (stable one-pass formulas, Pébay 2008) and the table of distinct values."""
    before = moments[0]
    n = before + 1.0
    gap = reward - moments[1]
    step = gap / n
    square = step * step
    growth = gap * step * before
    m2, m3, m4, m5 = moments[2], moments[3], moments[4], moments[5]
    others = before * before
    moments[6] += (
        growth * square * square * (others * others * before + 1.0) / n
        + 15.0 * square * (m4 + square * m2)
        - step * (6.0 * m5 + 20.0 * square * m3)
    )
    moments[5] += (
        growth * step * square * (others * others - 1.0) / n
        + 10.0 * square * m3
        - step * (5.0 * m4 + 10.0 * square * m2)
    )
    moments[4] += growth * square * (n * n - 3.0 * n + 3.0) + 6.0 * square * m2 - 4.0 * step * m3
    moments[3] += growth * step * (n - 2.0) - 3.0 * step * m2
    moments[2] += growth
    moments[1] += step
    moments[0] = n

    n_listed = min(tally[1], N_ATOMS)
    for atom in range(n_listed):
        if atoms[0, atom] == reward:
            atoms[1, atom] += 1.0
            return
    tally[1] = min(tally[1] + 1, N_ATOMS + 1)
    place = n_listed
    if n_listed == N_ATOMS:  # too many to list: from here on the table looks out for values that keep coming back
        place = int(n) % N_ATOMS
        for atom in range(N_ATOMS):
            if atoms[1, atom] < atoms[1, place]:
                place = atom
    atoms[0, place] = reward
    atoms[1, place] = 1.0


@kernel
def _set_limit(moments: FloatArray, atoms: FloatArray, limit: FloatArray) -> None:
    """Work out the normal limit's parameters, and from how many draws on it may be used."""
    n, m2, m4, m6 = moments[0], moments[2], moments[4], moments[6]
    if m2 <= 0.0:
        return
    repeated = 0.0
    for atom in range(N_ATOMS):
        if atoms[1, atom] > 1.0:
            repeated += atoms[1, atom]
    limit[0] = math.sqrt(m2 / n)
    limit[1], limit[2] = 0.0, math.inf  # draw always, where the powers are too large or too small for a float
    if 0.0 < m6 < math.inf and m2 * m2 > 0.0:
        kurtosis = n * m4 / (m2 * m2)
        alike = (m4 / m6) * (m4 / m2)
        limit[1] = (kurtosis - 3.0) / 24.0
        limit[2] = max(
            FEWEST_FOR_LIMIT,
            3.0 * (kurtosis - 3.0),
            (0.5 * kurtosis + 3.0) / max(alike * (1.0 - alike), 1e-12),
            FEWEST_FOR_LIMIT / max(1.0 - repeated / n, 1.0 / n),
        )


@allocating_nothing
class Pool(NamedTuple):
    """The rewards seen so far, and sums of draws from ±(reward - mean). Make one with `new_pool`."""

    values: FloatArray  # (capacity,) the rewards kept
    moments: FloatArray  # (7,) how many are kept, their mean, sums of the 2nd to 6th powers of their deviations
    atoms: FloatArray  # (2, 16) distinct values, and how often each was seen
    tally: IntArray  # (2,) rewards seen; distinct values among those kept, 17 meaning too many to list
    limit: FloatArray  # (3,) of the normal limit: deviation of one draw, kappa / 24, fewest draws
    exact: bool  # draw always
    size: int  # keep at most so many, a uniform sample of all seen; 0 keeps all

    def add(self, reward: float, rng: Stream) -> None:
        """Add a reward; a full pool of limited size replaces a random one, or leaves the new one out."""
        n_seen = self.tally[0]
        self.tally[0] = n_seen + 1
        if self.size == 0 or n_seen < self.size:
            self.values[n_seen] = reward
            _take_in(reward, self.moments, self.atoms, self.tally)
        else:
            place = int(uniform(rng.words) * (n_seen + 1))
            if place >= self.size:
                return
            self.values[place] = reward
            # Taking a value out of running moments loses precision, so start them over. This happens size / n_seen of
            # the time: often while the pool has just become full, ever more rarely after.
            self.moments[:] = 0.0
            self.atoms[:] = 0.0
            self.tally[1] = 0
            for kept in range(self.size):
                _take_in(self.values[kept], self.moments, self.atoms, self.tally)
        _set_limit(self.moments, self.atoms, self.limit)

    def draw_sum(self, n_draws: int, rng: Stream) -> float:
        """Draw the sum of `n_draws` independent draws; zero if all rewards are equal."""
        n_values, mean = self.moments[0], self.moments[1]
        if self.moments[2] <= 0.0:
            return 0.0
        if not self.exact and self.tally[1] <= N_ATOMS:
            return _sum_by_counts(self.atoms, self.tally[1], n_values, mean, n_draws, rng.words)
        if not self.exact and n_draws > self.limit[2]:
            g = standard_normal(rng.words)
            corrected = g + self.limit[1] / n_draws * (g * g * g - 3.0 * g)
            return float(self.limit[0] * math.sqrt(n_draws) * corrected)
        return _sum_of_draws(self.values, int(n_values), mean, n_draws, rng.words)

    def draw_each(self, rng: Stream, draws: FloatArray) -> None:
        """Fill `draws` with independent draws from the pool, for estimators that need them one by one."""
        for index in range(draws.size):
            place = int(uniform(rng.words) * 2.0 * self.moments[0])
            deviation = self.values[place >> 1] - self.moments[1]
            draws[index] = deviation if place & 1 else -deviation


def new_pool(capacity: int, sampler: str = "fast", pool_size: int | None = None) -> Pool:
    """Return an empty pool with room for `capacity` rewards, or for `pool_size` and then a uniform sample of all."""
    size = pool_size or 0
    return Pool(
        values=np.zeros(size or capacity),
        moments=np.zeros(7),
        atoms=np.zeros((2, N_ATOMS)),
        tally=np.zeros(2, np.int64),
        limit=np.zeros(3),
        exact=sampler == "exact",
        size=size,
    )
