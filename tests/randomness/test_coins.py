"""Coins counted in heaps, and binomials made of them, against the laws of SciPy."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from compiled_once import compiled_once
from corebandit.randomness import coins
from corebandit.randomness.stream import Stream, stream
from laws import assert_counts_follow, assert_mean_and_variance
from often import often

N_DRAWS = 150_000


@compiled_once
def fill_tosses(rng: Stream, n: int, out: np.ndarray) -> None:
    for i in range(out.size):
        out[i] = coins.tossed(rng.words, n)


@compiled_once
def fill_successes(rng: Stream, n: int, p: float, out: np.ndarray) -> None:
    for i in range(out.size):
        out[i] = coins.successes_by_halving(rng.words, n, p)


@pytest.mark.parametrize("place", range(coins.SIZES.size))
def test_the_table_of_a_heap_is_the_law_of_how_far_its_heads_are_from_half(place: int) -> None:
    level, digit = divmod(place, coins.BASE - 1)
    n = 64 * coins.BASE**level * (digit + 1)
    start, size = int(coins.STARTS[place]), int(coins.SIZES[place])
    entries = coins.ALIASES[start : start + size]
    stays = (entries & coins.LOW_BITS) / 2.0**32
    becomes = (entries >> coins.HALF_WORD).astype(np.int64)
    chances = (stays + np.bincount(becomes, weights=1.0 - stays, minlength=size)) / size
    away = np.arange(size)
    law = stats.binom(n, 0.5)
    expected = np.where(away > 0, 2.0, 1.0) * law.pmf(n // 2 + away)
    np.testing.assert_allclose(chances, expected, rtol=0, atol=2.0**-32)
    assert 2.0 * law.sf(n // 2 + size - 1) < 1e-15  # nothing is left out


@pytest.mark.heavy
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 127, 128, 1023, 1024, 1025, 9_999, 16_383, 16_384, 100_000])
def test_tossed_counts_fair_coins(n: int) -> None:
    draws = np.zeros(N_DRAWS, np.int64)
    fill_tosses(stream(1, "tossed", n), n, draws)
    assert_counts_follow(draws, stats.binom(n, 0.5))
    assert_mean_and_variance(draws, n / 2.0, n / 4.0, -2.0 / max(n, 1))


@pytest.mark.heavy
@pytest.mark.parametrize("p", often([0.05, 0.3, 0.75], [1e-3, 0.05, 0.3, 0.5, 0.75, 0.999]))
@pytest.mark.parametrize("n", [1, 10, 64, 65, 1000, 20_000])
def test_successes_by_halving_follow_the_binomial_law(n: int, p: float) -> None:
    draws = np.zeros(N_DRAWS, np.int64)
    fill_successes(stream(2, "halving", n, str(p)), n, p, draws)
    assert_counts_follow(draws, stats.binom(n, p))


@pytest.mark.parametrize(("n", "p", "sure"), [(0, 0.5, 0), (100, 0.0, 0), (100, 1.0, 100), (5_000, 1.0, 5_000)])
def test_successes_without_chance_are_sure(n: int, p: float, sure: int) -> None:
    draws = np.full(50, -1)
    fill_successes(stream(3, "sure", n), n, p, draws)
    assert set(draws.tolist()) == {sure}


def sample(n_draws: int) -> list[int]:
    drawn: list[int] = []
    for n in (1, 64, 200, 5_000, 16_383, 20_000):
        draws = np.zeros(n_draws, np.int64)
        fill_successes(stream(4, "same", n), n, 0.3, draws)
        drawn += draws.tolist()
    return drawn


@pytest.mark.heavy
def test_interpreted_coins_equal_compiled_ones() -> None:
    interpreted = subprocess.run(
        [sys.executable, "-c", "import test_coins; print(*test_coins.sample(16))"],
        cwd=Path(__file__).parent,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert sample(16) == list(map(int, interpreted))
