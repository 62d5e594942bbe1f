"""The random streams: the generator's bits, the samplers' laws, and which stream belongs to whom."""

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from compiled_once import compiled_once
from corebandit.randomness.bits import count_ones, next_word, positive_uniform
from corebandit.randomness.samplers import (
    EXPONENTIAL_EDGE,
    EXPONENTIAL_ENDS,
    EXPONENTIAL_HEIGHTS,
    NORMAL_EDGE,
    NORMAL_ENDS,
    NORMAL_HEIGHTS,
    _exponential_outside,
    _is_below_ratio,
    _normal_outside,
    _stirling_error,
    heads,
)
from corebandit.randomness.stream import Stream, stream, streams
from laws import FALSE_ALARM, N_SIGMA, assert_counts_follow, assert_follows, assert_mean_and_variance
from often import often

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

N_DRAWS = 150_000

in_part = pytest.mark.parametrize("share", often([0.25], [0.25, 1.0]))  # of the draws of a test

# Compiled loops ---------------------------------------------------------------------------------------------------


@compiled_once
def fill_words(rng: Stream, out: NDArray[np.uint64]) -> None:
    for i in range(out.size):
        out[i] = next_word(rng.words)


@compiled_once
def fill_uniforms(rng: Stream, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = rng.random()


@compiled_once
def fill_integers(rng: Stream, high: int, out: IntArray) -> None:
    for i in range(out.size):
        out[i] = rng.integers(high)


@compiled_once
def fill_normals(rng: Stream, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = rng.standard_normal()


@compiled_once
def fill_exponentials(rng: Stream, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = rng.standard_exponential()


@compiled_once
def fill_gammas(rng: Stream, shape: float, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = rng.standard_gamma(shape)


@compiled_once
def fill_betas(rng: Stream, a: float, b: float, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = rng.beta(a, b)


@compiled_once
def fill_binomials(rng: Stream, n: int, p: float, out: IntArray) -> None:
    for i in range(out.size):
        out[i] = rng.binomial(n, p)


@compiled_once
def fill_poissons(rng: Stream, mean: float, out: IntArray) -> None:
    for i in range(out.size):
        out[i] = rng.poisson(mean)


@compiled_once
def fill_heads(rng: Stream, n: int, out: IntArray) -> None:
    for i in range(out.size):
        out[i] = heads(rng.words, n)


# The generator ----------------------------------------------------------------------------------------------------

MASK = 2**64 - 1


def rotated(word: int, by: int) -> int:
    return ((word << by) | (word >> (64 - by))) & MASK


def xoshiro256_plus_plus(state: list[int]) -> Iterator[int]:
    """Yield the words of xoshiro256++ in Python's own integers."""
    a, b, c, d = state
    while True:
        yield (rotated((a + d) & MASK, 23) + a) & MASK
        c, d, shifted = c ^ a, d ^ b, (b << 17) & MASK
        a, b, c, d = a ^ d, b ^ c, c ^ shifted, rotated(d, 45)


@pytest.mark.parametrize("state", [[1, 2, 3, 4], [MASK, 0, MASK, 1 << 63], [0, 0, 0, 1], [7, MASK, 1 << 41, 12345]])
def test_words_are_those_of_xoshiro256_plus_plus(state: list[int]) -> None:
    words = np.zeros(2_000, np.uint64)
    fill_words(Stream(np.array(state, np.uint64)), words)
    reference = xoshiro256_plus_plus(state)
    assert words.tolist() == [next(reference) for _ in words]


def test_first_word_is_the_one_worked_out_by_hand() -> None:
    assert int(next_word(np.array([1, 2, 3, 4], np.uint64))) == ((1 + 4) << 23) + 1


def test_random_takes_the_upper_53_bits() -> None:
    rng, same = stream(1, "bits"), stream(1, "bits")
    reference = xoshiro256_plus_plus([int(word) for word in same.words])
    for _ in range(100):
        assert rng.random() == (next(reference) >> 11) / 2**53


def test_positive_uniform_is_never_zero_and_may_be_one() -> None:
    smallest = np.zeros(4, np.uint64)
    assert positive_uniform(smallest) == 2.0**-53
    # A state whose first word has every bit set: rotated(a + d) + a = 2^64 - 1 for a = 0, d = 2^64 - 1.
    largest = np.array([0, 0, 0, MASK], np.uint64)
    assert positive_uniform(largest) == 1.0
    assert Stream(np.array([0, 0, 0, MASK], np.uint64)).random() == 1.0 - 2.0**-53


@pytest.mark.parametrize("high", [1, 2, 3, 10, 12345, 2**31 + 1, 2**53])
def test_integers_of_the_largest_uniform_stay_below_high(high: int) -> None:
    assert Stream(np.array([0, 0, 0, MASK], np.uint64)).integers(high) == high - 1
    assert Stream(np.zeros(4, np.uint64)).integers(high) == 0


def test_count_ones_counts_bits() -> None:
    words = np.concatenate([streams(50, 3, "ones").ravel(), np.array([0, 1, MASK, 1 << 63], np.uint64)])
    assert [count_ones(word) for word in words] == [int(word).bit_count() for word in words]


# Ziggurats --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "heights", "tail"),
    [
        (NORMAL_ENDS, NORMAL_HEIGHTS, math.sqrt(2.0 * math.pi) * stats.norm.sf(NORMAL_EDGE)),
        (EXPONENTIAL_ENDS, EXPONENTIAL_HEIGHTS, stats.expon.sf(EXPONENTIAL_EDGE)),
    ],
    ids=["normal", "exponential"],
)
def test_ziggurat_layers_have_equal_areas_and_close_at_the_top(
    ends: FloatArray, heights: FloatArray, tail: float
) -> None:
    lowest = ends[1] * heights[1] + tail
    areas = ends[1:256] * np.diff(heights[1:257])
    assert areas.size == 255
    np.testing.assert_allclose(areas, lowest, rtol=1e-12)
    assert math.isclose(ends[0] * heights[1], lowest, rel_tol=1e-14)  # the box that stands for the lowest and its tail
    assert ends[256] == 0.0
    assert heights[256] == 1.0
    assert np.all(np.diff(ends) < 0.0)


@compiled_once
def count_beyond(rng: Stream, n_draws: int, edge: float) -> tuple[int, int]:
    low, high = 0, 0
    for _ in range(n_draws):
        x = rng.standard_normal()
        low += x < -edge
        high += x > edge
    return low, high


@compiled_once
def count_late(rng: Stream, n_draws: int, edge: float) -> int:
    late = 0
    for _ in range(n_draws):
        late += rng.standard_exponential() > edge
    return late


@compiled_once
def fill_outside(outside: Any, words: NDArray[np.uint64], layer: int, x: float, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = outside(words, layer, x)


def assert_share(found: int, n_draws: int, chance: float) -> None:
    assert stats.binomtest(found, n_draws, chance).pvalue > FALSE_ALARM


@pytest.mark.heavy
@pytest.mark.parametrize("edge", [NORMAL_EDGE, 3.0, 4.5])
def test_normal_tails_have_the_right_mass(edge: float) -> None:
    n_draws = 20_000_000
    for found in count_beyond(stream(2, "tail"), n_draws, edge):
        assert_share(found, n_draws, stats.norm.sf(edge))


@pytest.mark.heavy
@pytest.mark.parametrize("edge", [EXPONENTIAL_EDGE, 6.0, 11.0])
def test_exponential_tail_has_the_right_mass(edge: float) -> None:
    n_draws = 20_000_000
    assert_share(count_late(stream(3, "tail"), n_draws, edge), n_draws, math.exp(-edge))


@pytest.mark.heavy
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@in_part
def test_normal_tail_has_the_right_shape(sign: float, share: float) -> None:
    tail = np.zeros(int(share * 1_000_000))
    fill_outside(_normal_outside, stream(4, "tail").words, 0, sign * 3.7, tail)
    assert_follows(stats.norm.sf(sign * tail) / stats.norm.sf(NORMAL_EDGE), stats.uniform)


@pytest.mark.heavy
@in_part
def test_exponential_tail_has_the_right_shape(share: float) -> None:
    tail = np.zeros(int(share * 1_000_000))
    fill_outside(_exponential_outside, stream(5, "tail").words, 0, 7.8, tail)
    assert_follows(tail - EXPONENTIAL_EDGE, stats.expon)


@pytest.mark.heavy
@pytest.mark.parametrize("layer", [1, 2, 50, 200, 254, 255])
@pytest.mark.parametrize(
    ("outside", "ends", "density"),
    [
        (_normal_outside, NORMAL_ENDS, lambda x: math.exp(-0.5 * x * x)),
        (_exponential_outside, EXPONENTIAL_ENDS, lambda x: math.exp(-x)),
    ],
    ids=["normal", "exponential"],
)
def test_ziggurat_wedges_keep_what_lies_under_the_density(
    outside: Any, ends: FloatArray, density: Callable[[float], float], layer: int
) -> None:
    low, high = density(ends[layer]), density(ends[layer + 1])
    for part in (0.1, 0.5, 0.9):
        x = ends[layer] + part * (ends[layer + 1] - ends[layer])
        kept = np.zeros(300_000)
        fill_outside(outside, stream(6, "wedge", layer).words, layer, x, kept)
        assert np.all(np.isnan(kept) | (kept == x))
        assert_share(int((kept == x).sum()), kept.size, (density(x) - low) / (high - low))


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("fill", "law"), [(fill_normals, stats.norm), (fill_exponentials, stats.expon)], ids=["normal", "exponential"]
)
@in_part
def test_ziggurats_follow_their_law_to_a_relative_precision_of_percents(fill: Any, law: Any, share: float) -> None:
    draws = np.zeros(int(share * 4_000_000))
    fill(stream(7, "bins"), draws)
    assert_follows(draws, law)


# Continuous laws --------------------------------------------------------------------------------------------------


@pytest.mark.heavy
def test_random_is_uniform() -> None:
    draws = np.zeros(1_000_000)
    fill_uniforms(stream(5, "uniform"), draws)
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    assert_follows(draws, stats.uniform)
    assert_mean_and_variance(draws, 0.5, 1.0 / 12.0, -1.2)
    correlation = np.corrcoef(draws[:-1], draws[1:])[0, 1]
    assert abs(correlation) < N_SIGMA / math.sqrt(draws.size)


@pytest.mark.heavy
def test_standard_normal_follows_its_law() -> None:
    draws = np.zeros(1_000_000)
    fill_normals(stream(6, "normal"), draws)
    assert_follows(draws, stats.norm)
    assert_mean_and_variance(draws, 0.0, 1.0, 0.0)
    assert abs((draws**3).mean()) < N_SIGMA * math.sqrt(15.0 / draws.size)
    assert abs((draws**4).mean() - 3.0) < N_SIGMA * math.sqrt(96.0 / draws.size)


@pytest.mark.heavy
def test_standard_exponential_follows_its_law() -> None:
    draws = np.zeros(1_000_000)
    fill_exponentials(stream(7, "exponential"), draws)
    assert draws.min() >= 0.0
    assert_follows(draws, stats.expon)
    assert_mean_and_variance(draws, 1.0, 1.0, 6.0)


@pytest.mark.heavy
@pytest.mark.parametrize("shape", [0.01, 0.1, 0.5, 0.999, 1.0, 1.001, 1.5, 5.0, 100.0, 1e6])
@in_part
def test_standard_gamma_follows_its_law(shape: float, share: float) -> None:
    draws = np.zeros(int(share * 2_000_000))
    fill_gammas(stream(8, "gamma", str(shape)), shape, draws)
    assert_follows(draws, stats.gamma(shape), lowest=1e-300)
    assert_mean_and_variance(draws, shape, shape, 6.0 / shape)


BETAS = [
    (0.5, 0.5),
    (0.1, 0.3),
    (0.02, 5.0),
    (1e-3, 1e-3),
    (1e-3, 1.0),
    (0.5, 3.0),
    (3.0, 0.5),
    (1.0, 0.2),
    (1.0, 1.0),
    (1.0, 4.0),
    (2.0, 5.0),
    (300.0, 700.0),
    (1e5, 2.0),
]


@pytest.mark.heavy
@pytest.mark.parametrize(("a", "b"), BETAS)
@in_part
def test_beta_follows_its_law(a: float, b: float, share: float) -> None:
    draws, law = np.zeros(int(share * 1_000_000)), stats.beta(a, b)
    fill_betas(stream(9, "beta", str(a), str(b)), a, b, draws)
    assert draws.min() >= 0.0
    assert draws.max() <= 1.0
    # A draw nearer to 1 than half a spacing of floats is 1; near 0 every size can be told apart.
    assert_follows(draws, law, lowest=1e-300, highest=1.0 - 1e-15)
    mean, variance, excess_kurtosis = (float(moment) for moment in law.stats("mvk"))
    assert_mean_and_variance(draws, mean, variance, excess_kurtosis)


def test_beta_of_a_tiny_parameter_keeps_values_far_below_the_spacing_of_floats_near_one() -> None:
    rng = stream(10, "tiny")
    draws = np.array([rng.beta(0.05, 1.0) for _ in range(200)])  # P(X < 1e-17) = 0.14
    assert np.all(draws > 0.0)
    assert (draws < 1e-17).any()


# Discrete laws ----------------------------------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize("high", [1, 2, 3, 7, 100, 1000])
def test_integers_are_equally_likely(high: int) -> None:
    draws = np.zeros(N_DRAWS, np.int64)
    fill_integers(stream(11, "integers", high), high, draws)
    assert draws.min() == 0
    assert draws.max() == high - 1
    assert_counts_follow(draws, stats.randint(0, high))


@pytest.mark.heavy
@pytest.mark.parametrize("p", often([1e-7, 0.05, 0.5, 0.7, 0.999], [0.0, 1e-7, 0.001, 0.05, 0.3, 0.5, 0.7, 0.999, 1.0]))
@pytest.mark.parametrize("n", [0, 1, 5, 63, 64, 65, 127, 128, 129, 1000, 2047, 2048, 2049, 10_000, 10_000_000])
def test_binomial_follows_its_law(n: int, p: float) -> None:
    draws = np.zeros(N_DRAWS, np.int64)
    fill_binomials(stream(12, "binomial", n, str(p)), n, p, draws)
    assert draws.min() >= 0
    assert draws.max() <= n
    variance = n * p * (1.0 - p)
    if variance * draws.size < 1_000.0:  # nearly every draw is the same, the others are a Poisson number
        usual, n_unusual = (n, int((n - draws).sum())) if p > 0.5 else (0, int(draws.sum()))
        expected = draws.size * n * min(p, 1.0 - p)
        assert np.median(draws) == usual
        assert stats.poisson.cdf(n_unusual, expected) > FALSE_ALARM
        assert stats.poisson.sf(n_unusual - 1, expected) > FALSE_ALARM
        return
    assert_counts_follow(draws, stats.binom(n, p))
    assert_mean_and_variance(draws, n * p, variance, (1.0 - 6.0 * p * (1.0 - p)) / variance)


@pytest.mark.heavy
@pytest.mark.parametrize(("n", "p"), [(129, 10.0 / 129.0), (400, 0.0249), (400, 0.0251), (10**6, 9.9e-6), (3000, 0.5)])
@in_part
def test_binomial_follows_its_law_on_both_sides_of_a_mean_of_10(n: int, p: float, share: float) -> None:
    draws = np.zeros(int(share * 3_000_000), np.int64)
    fill_binomials(stream(13, "binomial", n, str(p)), n, p, draws)
    assert_counts_follow(draws, stats.binom(n, p))


@pytest.mark.heavy
@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 127, 128, 129, 2047, 2048, 2049, 5000])
def test_heads_are_those_of_fair_coins(n: int) -> None:
    draws = np.zeros(N_DRAWS, np.int64)
    fill_heads(stream(16, "heads", n), n, draws)
    assert draws.min() >= 0
    assert draws.max() <= n
    assert_counts_follow(draws, stats.binom(n, 0.5))
    assert_mean_and_variance(draws, n / 2.0, n / 4.0, -2.0 / max(n, 1))


@pytest.mark.parametrize(
    ("n", "p"), [(129, 0.08), (129, 0.5), (1_000, 0.0165), (2_000, 0.4), (10**6, 1.65e-5), (10**6, 0.3)]
)
def test_rejection_compares_with_the_exact_ratio_of_probabilities(n: int, p: float) -> None:
    # Far out, for instance no success where 16.5 are expected, the normal law must not decide.
    law, mode = stats.binom(n, p), math.floor((n + 1) * p)
    counts = np.arange(int(law.ppf(1e-9)), int(law.isf(1e-9)) + 1)
    for k in np.unique(np.append(counts[:: max(1, counts.size // 300)], max(mode - 16, 0))).tolist():
        ratio = math.exp(law.logpmf(k) - law.logpmf(mode))
        for share in (0.5, 1.0 - 1e-7, 1.0 + 1e-7, 2.0):
            assert _is_below_ratio(share * ratio, n, p, k) == (share < 1.0)


def test_stirling_error_is_what_stirlings_formula_lacks() -> None:
    for k in [*range(40), 100, 10_000, 10_000_000]:
        formula = (k + 0.5) * math.log(k + 1.0) - (k + 1.0) + 0.5 * math.log(2.0 * math.pi)
        assert abs(_stirling_error(float(k)) - (math.lgamma(k + 1.0) - formula)) < 1e-9 + 1e-15 * formula


@pytest.mark.heavy
@pytest.mark.parametrize("mean", [0.0, 0.1, 3.0, 9.99, 10.0, 12.0, 50.0, 1e4, 1e7])
@in_part
def test_poisson_follows_its_law(mean: float, share: float) -> None:
    draws = np.zeros(int(share * 2_000_000), np.int64)
    fill_poissons(stream(14, "poisson", str(mean)), mean, draws)
    if mean == 0.0:
        assert not draws.any()
        return
    assert_counts_follow(draws, stats.poisson(mean))
    assert_mean_and_variance(draws, mean, mean, 1.0 / mean)


@pytest.mark.parametrize(("n", "p", "sure"), [(10, 0.0, 0), (10, 1.0, 10), (0, 0.3, 0), (-1, 0.3, 0), (10, -0.1, 0)])
def test_binomial_without_chance_is_sure(n: int, p: float, sure: int) -> None:
    assert stream(15, "sure").binomial(n, p) == sure


# Whose stream -----------------------------------------------------------------------------------------------------


def first_words(*arguments: Any) -> list[int]:
    return stream(*arguments).words.tolist()


def test_same_identity_gives_the_same_numbers() -> None:
    one, other = stream(7, "problem", 3), stream(7, "problem", 3)
    assert [one.random() for _ in range(20)] == [other.random() for _ in range(20)]
    assert not np.shares_memory(one.words, other.words)


DISTINCT = [
    (7,),
    (8,),
    (2**64 + 7,),
    (7, ""),
    (7, "a"),
    (7, "b"),
    (8, "a"),
    (7, "a", "b"),
    (7, "b", "a"),
    (7, "ab"),
    (7, "a", ""),
    (7, "", "a"),
    (7, "a b"),
    (7, "a,b"),
    (7, "a\x1fstr:b"),
    (7, "a\x1fb"),
    (7, 1),
    (7, "1"),
    (7, 1, 2),
    (7, 12),
    (7, 2, 1),
    (7, -1),
    (7, 2**40),
]


def test_different_identities_and_seeds_give_different_numbers() -> None:
    seen: dict[tuple[int, ...], Any] = {}
    for arguments in DISTINCT:
        words = tuple(first_words(*arguments))
        assert words not in seen, f"{arguments} and {seen[words]} share a stream"
        seen[words] = arguments


def test_an_identity_means_the_same_with_numpy_integers() -> None:
    assert first_words(7, "run", np.int64(3)) == first_words(7, "run", 3)


def test_streams_do_not_depend_on_their_number() -> None:
    few, many = streams(3, 7, "arms", 1), streams(50, 7, "arms", 1)
    assert few.shape == (3, 4)
    assert few.dtype == np.uint64
    assert few.flags.c_contiguous
    np.testing.assert_array_equal(few, many[:3])
    np.testing.assert_array_equal(many[0], stream(7, "arms", 1).words)
    assert len({tuple(words) for words in many.tolist()}) == 50


def test_first_draws_of_many_streams_look_like_draws_of_one() -> None:
    words = streams(5_000, 7, "first")
    draws = np.array([Stream(row).random() for row in words])
    assert_follows(draws, stats.uniform)
    neighbours = np.corrcoef(draws[:-1], draws[1:])[0, 1]
    assert abs(neighbours) < N_SIGMA / math.sqrt(draws.size)


# Compiled and interpreted -----------------------------------------------------------------------------------------


def sample_of_everything(seed: int) -> list[str]:
    """Draw from every sampler and branch; numbers as hexadecimal text, so that equal means equal bits."""
    rng, drawn = stream(seed, "everything"), []

    def draw(fill: Any, *parameters: Any, dtype: Any = np.float64) -> None:
        drawn.append(np.zeros(40, dtype))
        fill(rng, *parameters, drawn[-1])

    draw(fill_uniforms)
    draw(fill_integers, 1000, dtype=np.int64)
    for n in (1, 63, 64, 65, 2048, 2049):
        draw(fill_heads, n, dtype=np.int64)
    for _ in range(10):
        draw(fill_normals)
        draw(fill_exponentials)
    for shape in (0.1, 0.5, 1.0, 1.5, 5.0, 100.0):
        draw(fill_gammas, shape)
    for a, b in BETAS:
        draw(fill_betas, a, b)
    for n in (1, 5, 63, 64, 65, 128, 129, 1000, 2048, 2049, 10_000, 10_000_000):
        for p in (0.0, 1e-7, 0.001, 0.05, 0.3, 0.5, 0.7, 0.999, 1.0):
            draw(fill_binomials, n, p, dtype=np.int64)
    for mean in (0.1, 3.0, 9.99, 10.0, 50.0, 1e4):
        draw(fill_poissons, mean, dtype=np.int64)
    draw(fill_uniforms)
    return [float(number).hex() for numbers in drawn for number in numbers]


@pytest.mark.heavy
def test_interpreted_draws_equal_compiled_draws_exactly() -> None:
    script = "import test_stream; print(*test_stream.sample_of_everything(16))"
    interpreted = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parent,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(interpreted) > 5_000
    assert sample_of_everything(16) == interpreted
