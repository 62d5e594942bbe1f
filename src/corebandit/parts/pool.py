r"""The reward pool: what CORe draws its noise from.

The pool holds the rewards seen so far, Y_1 ... Y_m, and stands for the 2m values ±(Y - mean). It answers one question,
the sum of c independent draws, in one of three ways:

* *few distinct values* (0/1 clicks, star ratings: at most 16): they are listed, and `listed.py` draws how often each
  comes up. Exact, and the cost hardly depends on c. `sampler="halving"` draws that in another way (`halving_pool.py`).
* *few draws*: draw them. Exact.
* *many draws*: the normal limit with the pool's variance, corrected by its fourth cumulant. The pool is symmetric, so
  the third vanishes: w = g + kappa / (24 c) (g^3 - 3 g) for a standard normal g and excess kurtosis kappa.

The last is an approximation. It is used only from so many draws on that the distribution of the sum is within 0.003 of
the exact one (Kolmogorov-Smirnov), for pools from uniform to Student-t(3), with outliers, nearly discrete:

    c > max(32, 3 kappa, (kappa / 2 + 4.5) / (s (1 - s)), 32 / (1 - F)),   s = m4^2 / (m2 m6)

with central moments m2, m4, m6. s is the share of the variance that sits in deviations of one large size: near 1 the
sum keeps to a grid, near 0 rare outliers show in its tails. F is the share of rewards on a few repeated values.
`sampler="exact"` draws always.

For research there is a *plain* form too: draws of the rewards themselves, neither centred nor mirrored.
"""

import math
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, kernel, kernel_reassociated
from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_choice, shortened
from corebandit.parts.listed import (
    DISTINCT,
    MOST_BY_BITS,
    N_ATOMS,
    TIMES,
    enlist,
    sum_by_bits,
    sum_by_counts,
    unlist,
)
from corebandit.parts.moments import COUNT, M2, M4, M6, MEAN, N_MOMENTS, exchange, include
from corebandit.randomness.bits import Words, next_word, uniform
from corebandit.randomness.samplers import standard_normal
from corebandit.randomness.stream import Stream

FEWEST_FOR_LIMIT = 32.0
SAMPLERS = ("fast", "exact", "halving")
FORMS = ("mirrored", "plain")
LEAST_SHARE = 1e-3  # of its largest value that the sum of 6th powers may fall to: less has lost too many digits
SEEN = 0  # what `tally` holds where, beside `DISTINCT`
DEVIATION, CORRECTION, FEWEST = 0, 1, 2  # `limit`
REPLACED, LARGEST_M6 = 0, 1  # `wear`

MIX_1, MIX_2, ONE = np.uint32(0x7FEB352D), np.uint32(0x846CA68B), np.uint32(1)
HALF_WORD = np.uint64(32)
S15, S16 = np.uint32(15), np.uint32(16)


@kernel_reassociated
def _sum_of_draws(values: FloatArray, n_values: int, mean: float, turn: float, n_draws: int, words: Words) -> float:
    """Add up `n_draws` draws from the pool, one by one: deviations from `mean`, half of them times 1 - `turn`.

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
        total += (values[place >> 1] - mean) * (1.0 - turn * (place & 1))
    return total


@kernel
def _set_limit(moments: FloatArray, atoms: FloatArray, limit: FloatArray) -> None:
    """Work out the normal limit's parameters, and from how many draws on it may be used."""
    n, m2, m4, m6 = moments[COUNT], moments[M2], moments[M4], moments[M6]
    if m2 <= 0.0:
        return
    repeated = 0.0
    for atom in range(N_ATOMS):
        if atoms[TIMES, atom] > 1.0:
            repeated += atoms[TIMES, atom]
    limit[DEVIATION] = math.sqrt(m2 / n)
    limit[CORRECTION], limit[FEWEST] = (
        0.0,
        math.inf,
    )  # draw always, where the powers are too large or too small for a float
    if 0.0 < m6 < math.inf and m2 * m2 > 0.0:
        kurtosis = n * m4 / (m2 * m2)
        alike = (m4 / m6) * (m4 / m2)
        limit[CORRECTION] = (kurtosis - 3.0) / 24.0
        limit[FEWEST] = max(
            FEWEST_FOR_LIMIT,
            3.0 * (kurtosis - 3.0),
            (0.5 * kurtosis + 3.0) / max(alike * (1.0 - alike), 1e-12),
            FEWEST_FOR_LIMIT / max(1.0 - repeated / n, 1.0 / n),
        )


@allocating_nothing
class Pool(NamedTuple):
    """The rewards seen so far, and sums of draws from ±(reward - mean). Make one with `new_pool`."""

    values: FloatArray  # (capacity,) the rewards kept
    moments: FloatArray  # (8,) of the rewards kept, as moments.py describes them
    atoms: FloatArray  # (2, 16) distinct values, and how often each was seen
    tally: IntArray  # (2,) rewards seen; distinct values among those kept, 17 meaning more than are listed
    limit: FloatArray  # (3,) of the normal limit: deviation of one draw, kappa / 24, fewest draws
    wear: FloatArray  # (2,) since the moments were last computed afresh: replacements, largest sum of 6th powers
    exact: bool  # draw always
    plain: bool  # draw the rewards themselves
    size: int  # keep at most so many, a uniform sample of all seen; 0 keeps all

    def add(self, reward: float, rng: Stream) -> None:
        """Add a reward; a full pool of limited size replaces a random one, or leaves the new one out."""
        n_seen = self.tally[SEEN]
        self.tally[SEEN] = n_seen + 1
        if self.size == 0 or n_seen < self.size:
            if self.values.size > 0:
                self.values[n_seen] = reward
            include(reward, self.moments)
            enlist(reward, n_seen, self.atoms, self.tally)
        else:
            place = int(uniform(rng.words) * (n_seen + 1))
            if place >= self.size:
                return
            self.replace(place, reward)
        if self.tally[DISTINCT] > N_ATOMS:
            _set_limit(self.moments, self.atoms, self.limit)

    def renew(self, reward: float, rng: Stream) -> None:
        """Add a reward; a full pool of limited size lets go of its oldest, so that it keeps the last so many."""
        n_seen = self.tally[SEEN]
        if n_seen < self.size:
            self.add(reward, rng)
            return
        self.tally[SEEN] = n_seen + 1
        self.replace(n_seen % self.size, reward)
        if self.tally[DISTINCT] > N_ATOMS:
            _set_limit(self.moments, self.atoms, self.limit)

    def replace(self, place: int, reward: float) -> None:
        """Put a reward in the place of another."""
        old = self.values[place]
        if old == reward:
            return
        self.values[place] = reward
        self.wear[REPLACED] += 1.0
        self.wear[LARGEST_M6] = max(self.wear[LARGEST_M6], self.moments[M6])
        exchange(old, reward, self.moments)
        unlist(old, self.atoms, self.tally)
        enlist(reward, self.tally[SEEN], self.atoms, self.tally)
        # A reward that leaves does not take its rounding errors with it. So the moments start over from time to time,
        # and at once when an outlier left that had made up nearly all of them. With them starts the table, which may
        # then be able to list all values again.
        if self.wear[REPLACED] >= self.size or not self.moments[M6] > LEAST_SHARE * self.wear[LARGEST_M6]:
            self.moments[:] = 0.0
            self.atoms[:] = 0.0
            self.wear[:] = 0.0
            self.tally[DISTINCT] = 0
            for kept in range(self.size):
                include(self.values[kept], self.moments)
                enlist(self.values[kept], kept, self.atoms, self.tally)

    def draw_sum(self, n_draws: int, rng: Stream) -> float:
        """Draw the sum of `n_draws` independent draws; zero if all rewards are equal, unless the pool is plain."""
        n_values, mean = self.moments[COUNT], self.moments[MEAN]
        if n_values == 0.0 or (self.moments[M2] <= 0.0 and not self.plain):
            return 0.0
        self.check_kept()
        if not self.exact and self.tally[DISTINCT] <= N_ATOMS:
            return self.sum_of_listed(n_draws, rng)
        if not self.exact and n_draws > self.limit[FEWEST]:
            g = standard_normal(rng.words)
            corrected = g + self.limit[CORRECTION] / n_draws * (g * g * g - 3.0 * g)
            return float(self.limit[DEVIATION] * math.sqrt(n_draws) * corrected)
        if self.plain:
            return _sum_of_draws(self.values, int(n_values), 0.0, 0.0, n_draws, rng.words)
        return _sum_of_draws(self.values, int(n_values), mean, 2.0, n_draws, rng.words)

    def sum_of_listed(self, n_draws: int, rng: Stream) -> float:
        """Draw the sum of `n_draws` draws from the table of distinct values, if it lists all there are."""
        n_values, mean = self.moments[COUNT], self.moments[MEAN]
        if n_draws <= MOST_BY_BITS:
            return sum_by_bits(self.atoms, self.tally[DISTINCT], n_values, mean, n_draws, rng.words)
        return sum_by_counts(self.atoms, self.tally[DISTINCT], n_values, mean, n_draws, rng.words)

    def draw_each(self, rng: Stream, draws: FloatArray) -> None:
        """Fill `draws` with independent draws from the pool, for estimators that need them one by one."""
        self.check_kept()
        for index in range(draws.size):
            place = int(uniform(rng.words) * 2.0 * self.moments[COUNT])
            reward = self.values[place >> 1]
            if self.plain:
                draws[index] = reward
            else:
                draws[index] = reward - self.moments[MEAN] if place & 1 else self.moments[MEAN] - reward

    def deviation(self) -> float:
        """Return the standard deviation of the rewards kept; zero if there are none."""
        return math.sqrt(self.moments[M2] / self.moments[COUNT]) if self.moments[M2] > 0.0 else 0.0

    def check_kept(self) -> None:
        """Raise BadInput if the pool keeps no rewards: then there is nothing to draw from."""
        if self.values.size == 0:
            raise BadInput("a pool without room for rewards has none to draw")


def check_form(sampler: str, form: str) -> None:
    """Raise BadInput unless there is such a pool: a plain one has no fast sampler."""
    check_choice("sampler", sampler, SAMPLERS)
    check_choice("pool", form, FORMS)
    if form == "plain" and sampler != "exact":
        raise BadInput(f"pool='plain' needs sampler='exact', not {shortened(sampler)}")


def new_pool(
    capacity: int,
    sampler: str = "fast",
    pool_size: int | None = None,
    form: str = "mirrored",
    room: int | None = None,
) -> Pool:
    """Return an empty pool with room for `capacity` rewards, or for `pool_size` and then a uniform sample of all.

    `room` is how many of `pool_size` there is room for now. Without any it keeps the moments only, and nothing can be
    drawn.
    """
    check_form(sampler, form)
    size = pool_size or 0
    cls: type[Pool] = Pool
    if sampler == "halving":
        from corebandit.parts.halving_pool import HalvingPool  # whose tables take a moment to make

        cls = HalvingPool
    return cls(
        values=np.zeros((size or capacity) if room is None else room),
        moments=np.zeros(N_MOMENTS),
        atoms=np.zeros((2, N_ATOMS)),
        tally=np.zeros(2, np.int64),
        limit=np.zeros(3),
        wear=np.zeros(2),
        exact=sampler == "exact",
        plain=form == "plain",
        size=size,
    )
