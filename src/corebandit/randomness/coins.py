"""Counts of many fair coins from a few words, and binomials made of them, for threads that wait for each other.

Coins are tossed in heaps of m 64, and of m 1,024, for m from 1 to 15, as the digits of their number in base 16 say;
the rest, fewer than 64, are bits of a word. How far the heads of a heap are from half of it is looked up in an alias
table (Walker, 1977), with a sign of its own: one word each. So n coins, up to 16,383, take at most three words; more
are drawn as `samplers` does, by rejection.

A binomial compares n uniforms with p at once, digit by digit of base 2, as `samplers.trials` does; here it only counts
how many are equal to p so far, and each digit tosses a coin for each of these, until few enough are left for the bits
of a word.

Threads of a GPU that play side by side wait for each other wherever they do different things, and this does nearly the
same for all n up to 16,383. A processor draws large n in a fraction of the time by `samplers.binomial`. Chances are
right to a relative 2^-21 and 2^-32 more: an index of up to 558 values has 31 bits, and whether it stays 32.
"""

import math

import numpy as np
from numpy.typing import NDArray

from corebandit.compiled.bridge import inlined, kernel
from corebandit.randomness.bits import Words, count_ones, next_word
from corebandit.randomness.samplers import WORD_SIZE, first_lanes, many_successes, trials

ONE, HALF_WORD, UPPER, LOW_BITS = np.uint64(1), np.uint64(32), np.uint64(33), np.uint64(2**32 - 1)
UPPER_BITS = np.uint64(31)
BASE, N_LEVELS = 16, 2
MOST_TABLED = 64 * BASE**N_LEVELS
WIDEST = 9.0  # deviations: what lies beyond has less chance than a float can tell from 0


def _distances(n: int) -> NDArray[np.float64]:
    """Return the chances that the heads of n coins, an even number, are 0, 1, 2, ... away from n / 2."""
    half = n // 2
    away = np.arange(1.0, min(half, int(WIDEST * math.sqrt(n) / 2.0)) + 1)
    ratios = np.cumprod((half - away + 1.0) / (half + away))  # to the chance of n / 2
    chances = np.concatenate([[1.0], 2.0 * ratios])
    return np.asarray(chances / chances.sum())


def _alias_table(chances: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return for each value how often, of 2^32 times, it stays, and, times 2^32, which other one it becomes else."""
    shares = chances * chances.size
    stays, becomes = np.ones(chances.size), np.arange(chances.size)
    small = [value for value in range(chances.size) if shares[value] < 1.0]
    large = [value for value in range(chances.size) if shares[value] >= 1.0]
    while small and large:
        poor, rich = small.pop(), large[-1]
        stays[poor], becomes[poor] = shares[poor], rich
        shares[rich] -= 1.0 - shares[poor]
        if shares[rich] < 1.0:
            small.append(large.pop())
    kept = np.minimum(np.rint(stays * 2.0**32), 2.0**32 - 1.0).astype(np.uint64)  # who always stays becomes itself
    return (becomes.astype(np.uint64) << HALF_WORD) | kept


_TABLES = [_alias_table(_distances(64 * BASE**level * digit)) for level in range(N_LEVELS) for digit in range(1, BASE)]
SIZES = np.array([table.size for table in _TABLES], dtype=np.uint64)
STARTS = np.cumsum(SIZES) - SIZES
ALIASES = np.concatenate(_TABLES)


@inlined
def _heap(words: Words, place: int) -> int:
    """Return how many more heads than tails, halved, the heap has whose table is at `place`."""
    word = next_word(words)
    value = ((word >> UPPER) * SIZES[place]) >> UPPER_BITS
    entry = ALIASES[STARTS[place] + value]
    away = np.int64(value if (word & LOW_BITS) < (entry & LOW_BITS) else entry >> HALF_WORD)
    return int(away if (word >> HALF_WORD) & ONE else -away)


@kernel
def tossed(words: Words, n: int) -> int:
    """Count the heads of n fair coins."""
    if n >= MOST_TABLED:
        return int(many_successes(words, n, 0.5))
    total = count_ones(next_word(words) & ((ONE << np.uint64(n & 63)) - ONE))
    heaps, place = n >> 6, -1
    total += heaps << 5
    while heaps > 0:
        digit = heaps & (BASE - 1)
        if digit > 0:
            total += _heap(words, place + digit)
        heaps >>= 4
        place += BASE - 1
    return int(total)


@kernel
def successes_by_halving(words: Words, n: int, p: float) -> int:
    """Count successes in n trials of probability p, up to 1."""
    total = 0
    while n > WORD_SIZE and p > 0.0:
        p *= 2.0  # brings the next binary digit of p before the point, exactly
        below = tossed(words, n)
        if p >= 1.0:
            p -= 1.0
            total += below
            n -= below
        else:
            n = below
    return total + count_ones(trials(words, first_lanes(n), p)) if n > 0 else total
