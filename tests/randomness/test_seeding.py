"""The streams of many runs at once are those of each."""

import numpy as np
import pytest

from corebandit.randomness.seeding import BEGINNING, N_WORK, ROUND_NUMBERS, name_of, seed_runs
from corebandit.randomness.stream import streams

RUNS = np.array([0, 9, 10, 99, 100, 123_456, 10**12])


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1, 2**32, 2**64 + 3, 2**200 + 11])
@pytest.mark.parametrize("before", ["", "0123456789abcdef", "it's", "ä" * 30, "x" * 200])
def test_words_are_those_that_numpy_makes(seed, before):
    words = np.zeros((RUNS.size, 3, 4), np.uint64)
    seed_runs(name_of(seed, before, "rewards"), RUNS, np.zeros(N_WORK, np.uint64), words)
    for run, found in zip(RUNS.tolist(), words, strict=True):
        np.testing.assert_array_equal(found, streams(3, seed, before, run, "rewards"))


def test_names_of_every_length_around_the_ends_of_blocks():
    for length in range(40, 140):
        words = np.zeros((1, 1, 4), np.uint64)
        seed_runs(name_of(1, "a" * length, "p"), np.array([5]), np.zeros(N_WORK, np.uint64), words)
        np.testing.assert_array_equal(words[0], streams(1, 1, "a" * length, 5, "p"))


def test_the_numbers_of_sha_256_are_the_first_bits_of_roots():
    assert (hex(BEGINNING[0]), hex(BEGINNING[7])) == ("0x6a09e667", "0x5be0cd19")
    assert (hex(ROUND_NUMBERS[0]), hex(ROUND_NUMBERS[63])) == ("0x428a2f98", "0xc67178f2")
