"""The streams of many runs at once: the same words as `streams` gives, from code that any machine can run.

What `streams` does for one identity: the SHA-256 of its name (FIPS 180-4) spawns NumPy's `SeedSequence` (after O'Neill,
2015), which seeds a PCG64 (O'Neill, 2014), whose output are the words.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corebandit.compiled.bridge import inlined, kernel
from corebandit.contracts.state import IntArray
from corebandit.randomness.bits import Words

N_WORK = 72  # words that the work on one stream needs: a message schedule and a digest
DIGEST = 64  # where the digest begins in them

# Compiled code turns a sum of signed and unsigned integers into a float, so every number here is unsigned.
LOW = np.uint64(0xFFFFFFFF)
U0, U1, U3, U6, U7, U10, U11, U13, U15, U16, U17, U18, U19, U22, U25, U32, U58, U63, U64 = (
    np.uint64(n) for n in (0, 1, 3, 6, 7, 10, 11, 13, 15, 16, 17, 18, 19, 22, 25, 32, 58, 63, 64)
)
U2 = np.uint64(2)


def _first_bits(numbers: list[int], root: float) -> NDArray[np.uint64]:
    """Return the first 32 bits of the fractional parts of square or cube roots: SHA-256 takes its numbers so."""
    bits = []
    for number in numbers:
        scaled = number << (64 if root == 2 else 96)
        guess = 1 << (scaled.bit_length() // int(root) + 1)
        while (better := (guess * (int(root) - 1) + scaled // guess ** (int(root) - 1)) // int(root)) < guess:
            guess = better
        bits.append(guess & 0xFFFFFFFF)
    return np.array(bits, np.uint64)


PRIMES = [n for n in range(2, 312) if all(n % d for d in range(2, n))]  # the first 64
BEGINNING, ROUND_NUMBERS = _first_bits(PRIMES[:8], 2), _first_bits(PRIMES, 3)

# Of NumPy's SeedSequence, whose stability is promised.
INIT_A, MULT_A, INIT_B, MULT_B, MIX_LEFT, MIX_RIGHT = (
    np.uint64(n) for n in (0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED, 0xCA01F9DD, 0x4973F715)
)
POOL = 4

PCG_HIGH, PCG_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)


class Name(NamedTuple):
    """The names of the streams of one purpose, which differ only in the number of the run, and the seed."""

    before: NDArray[np.uint8]  # what comes before the number, and after it
    after: NDArray[np.uint8]
    seed: NDArray[np.uint64]  # in pieces of 32 bits, the lowest first, padded to at least four


def name_of(seed: int, before: str, purpose: str) -> Name:
    """Return the names of the streams `(seed, before, run, purpose)` for any run."""
    whole = repr([str(before), 0, str(purpose)])
    first = len(repr([str(before)])) + 1  # where the 0 stands
    pieces = [int(seed) >> shift & 0xFFFFFFFF for shift in range(0, max(int(seed).bit_length(), 1), 32)]
    pieces += [0] * (POOL - len(pieces))
    before_run, after_run = (
        np.frombuffer(part.encode(), np.uint8).copy() for part in (whole[:first], whole[first + 1 :])
    )
    return Name(before_run, after_run, np.array(pieces, np.uint64))


@inlined
def _turned(value: np.uint64, places: np.uint64) -> np.uint64:
    """Rotate 32 bits to the right."""
    return ((value >> places) | (value << (U32 - places))) & LOW


@kernel
def _byte(name: Name, run: int, n_digits: int, place: int) -> int:
    """Return a byte of a name as SHA-256 reads it, after its end the mark that ends it and zeros."""
    if place < name.before.size:
        return int(name.before[place])
    place -= name.before.size
    if place < n_digits:
        for _ in range(n_digits - 1 - place):
            run //= 10
        return 48 + run % 10
    place -= n_digits
    if place < name.after.size:
        return int(name.after[place])
    return 128 if place == name.after.size else 0


@kernel
def _digest(name: Name, run: int, work: Words) -> None:
    """Put the SHA-256 of the name of a run's stream at the end of `work`, 32 bits to a word."""
    n_digits, rest = 1, run // 10
    while rest > 0:
        n_digits, rest = n_digits + 1, rest // 10
    length = name.before.size + n_digits + name.after.size
    n_blocks = (length + 9 + 63) // 64
    for i in range(8):
        work[DIGEST + i] = BEGINNING[i]
    for block in range(n_blocks):
        for i in range(16):
            word = 0
            for j in range(4):
                word = word * 256 + _byte(name, run, n_digits, 64 * block + 4 * i + j)
            work[i] = np.uint64(word)
        if block == n_blocks - 1:
            work[15] = np.uint64(8 * length)
        for i in range(16, 64):
            early, late = work[i - 15], work[i - 2]
            small = _turned(early, U7) ^ _turned(early, U18) ^ (early >> U3)
            large = _turned(late, U17) ^ _turned(late, U19) ^ (late >> U10)
            work[i] = (work[i - 16] + small + work[i - 7] + large) & LOW
        _compress(work)


@kernel
def _compress(work: Words) -> None:
    """Add a block of 64 words to the digest."""
    a, b, c, d = work[DIGEST], work[DIGEST + 1], work[DIGEST + 2], work[DIGEST + 3]
    e, f, g, h = work[DIGEST + 4], work[DIGEST + 5], work[DIGEST + 6], work[DIGEST + 7]
    for i in range(64):
        large = _turned(e, U6) ^ _turned(e, U11) ^ _turned(e, U25)
        first = h + large + ((e & f) ^ (~e & LOW & g)) + ROUND_NUMBERS[i] + work[i]
        small = _turned(a, U2) ^ _turned(a, U13) ^ _turned(a, U22)
        second = small + ((a & b) ^ (a & c) ^ (b & c))
        h, g, f, e = g, f, e, (d + first) & LOW
        d, c, b, a = c, b, a, (first + second) & LOW
    work[DIGEST] = (work[DIGEST] + a) & LOW
    work[DIGEST + 1] = (work[DIGEST + 1] + b) & LOW
    work[DIGEST + 2] = (work[DIGEST + 2] + c) & LOW
    work[DIGEST + 3] = (work[DIGEST + 3] + d) & LOW
    work[DIGEST + 4] = (work[DIGEST + 4] + e) & LOW
    work[DIGEST + 5] = (work[DIGEST + 5] + f) & LOW
    work[DIGEST + 6] = (work[DIGEST + 6] + g) & LOW
    work[DIGEST + 7] = (work[DIGEST + 7] + h) & LOW


@inlined
def _hashed(value: Any, constant: Any, factor: Any) -> Any:
    value = ((value ^ constant) * ((constant * factor) & LOW)) & LOW
    return np.uint64(value ^ (value >> U16))


@inlined
def _mixed(x: Any, y: Any) -> Any:
    value = (MIX_LEFT * x - MIX_RIGHT * y) & LOW
    return np.uint64(value ^ (value >> U16))


@inlined
def _entropy(seed: Words, work: Words, place: int) -> np.uint64:
    """Return the seed, and after it the digest, whose bytes are read from the lowest up."""
    if place < seed.size:
        return np.uint64(seed[place])
    word = work[DIGEST + place - seed.size]
    swapped = ((word & np.uint64(0x00FF00FF)) << np.uint64(8)) | ((word >> np.uint64(8)) & np.uint64(0x00FF00FF))
    return np.uint64(((swapped << U16) | (swapped >> U16)) & LOW)


@kernel
def _mix_entropy(seed: Words, work: Words) -> None:
    """Put the pool of a SeedSequence of the seed and the digest at the beginning of `work`."""
    constant = INIT_A
    for i in range(POOL):
        work[i] = _hashed(_entropy(seed, work, i), constant, MULT_A)
        constant = (constant * MULT_A) & LOW
    for source in range(POOL):
        for i in range(POOL):
            if source != i:
                work[i] = _mixed(work[i], _hashed(work[source], constant, MULT_A))
                constant = (constant * MULT_A) & LOW
    for source in range(POOL, seed.size + 8):
        for i in range(POOL):
            work[i] = _mixed(work[i], _hashed(_entropy(seed, work, source), constant, MULT_A))
            constant = (constant * MULT_A) & LOW


@inlined
def _high_product(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return the upper 64 bits of a product."""
    a_low, a_high, b_low, b_high = a & LOW, a >> U32, b & LOW, b >> U32
    middle = a_high * b_low + ((a_low * b_low) >> U32)
    other = a_low * b_high + (middle & LOW)
    return a_high * b_high + (middle >> U32) + (other >> U32)


@inlined
def _step(high: np.uint64, low: np.uint64, add_high: np.uint64, add_low: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Advance a PCG64."""
    high = _high_product(low, PCG_LOW) + high * PCG_LOW + low * PCG_HIGH
    low = low * PCG_LOW
    total = low + add_low
    return high + add_high + (U1 if total < low else U0), total


@kernel
def seed_run(name: Name, run: int, work: Words, words: Words) -> None:
    """Fill `words` `(count, 4)` with what `streams(count, seed, before, run, purpose)` returns.

    `work` is room for `N_WORK` words.
    """
    _digest(name, run, work)
    _mix_entropy(name.seed, work)
    constant = INIT_B
    for i in range(8):
        work[POOL + i] = _hashed(work[i % POOL], constant, MULT_B)
        constant = (constant * MULT_B) & LOW
    # Four numbers of 64 bits, the lower half of each first: the state, the upper half first, and the increment.
    state_high, state_low = work[4] | (work[5] << U32), work[6] | (work[7] << U32)
    add_high, add_low = work[8] | (work[9] << U32), work[10] | (work[11] << U32)
    add_high, add_low = (add_high << U1) | (add_low >> U63), (add_low << U1) | U1
    high, low = _step(U0, U0, add_high, add_low)
    total = low + state_low
    high, low = high + state_high + (U1 if total < low else U0), total
    high, low = _step(high, low, add_high, add_low)
    for i in range(words.shape[0]):
        for j in range(4):
            high, low = _step(high, low, add_high, add_low)
            value, turn = high ^ low, high >> U58
            words[i, j] = (value >> turn) | (value << ((U64 - turn) & U63))


@kernel
def seed_runs(name: Name, runs: IntArray, work: Words, words: NDArray[np.uint64]) -> None:
    """Fill `words` `(runs, count, 4)` for each of `runs`."""
    for i in range(runs.size):
        seed_run(name, runs[i], work, words[i])
