"""Random bits: the generator xoshiro256++ (Blackman and Vigna, 2021) on four words, and uniforms made from them."""

import numpy as np
from numpy.typing import NDArray

from corebandit.compiled.bridge import inlined

Words = NDArray[np.uint64]

# Compiled code turns a sum of signed and unsigned integers into a float, so every constant here is unsigned.
ONE = np.uint64(1)
U2, U4, U11, U17, U19, U23, U41, U45, U56 = (np.uint64(shift) for shift in (2, 4, 11, 17, 19, 23, 41, 45, 56))
ODD_BITS, PAIR_BITS, NIBBLE_BITS, BYTE_ONES = (
    np.uint64(bits) for bits in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
)
UNIT = 2.0**-53


@inlined
def next_word(words: Words) -> np.uint64:
    """Return 64 random bits and advance the state."""
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    total = s0 + s3
    result = ((total << U23) | (total >> U41)) + s0
    s2 ^= s0
    s3 ^= s1
    words[0] = s0 ^ s3
    words[1] = s1 ^ s2
    words[2] = s2 ^ (s1 << U17)
    words[3] = (s3 << U45) | (s3 >> U19)
    return np.uint64(result)


@inlined
def uniform(words: Words) -> float:
    """Return a number in [0, 1) with 53 random bits."""
    return float(next_word(words) >> U11) * UNIT


@inlined
def positive_uniform(words: Words) -> float:
    """Return a number in (0, 1], safe to take the logarithm of."""
    return (float(next_word(words) >> U11) + 1.0) * UNIT


@inlined
def count_ones(word: np.uint64) -> int:
    """Count the bits that are set."""
    word = word - ((word >> ONE) & ODD_BITS)
    word = (word & PAIR_BITS) + ((word >> U2) & PAIR_BITS)
    word = (word + (word >> U4)) & NIBBLE_BITS
    return int(np.int64((word * BYTE_ONES) >> U56))  # signed, or sums with it would become floats
