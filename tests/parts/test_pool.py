"""The reward pool: its moments, and the law of its sums, each way of drawing against the exact one."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from compiled_once import compiled_once
from corebandit.contracts.state import carry_over
from corebandit.parts.listed import N_ATOMS
from corebandit.parts.pool import SAMPLERS, Pool, _sum_of_draws, new_pool
from corebandit.randomness.stream import Stream, stream
from often import often

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FALSE_ALARM = 1e-6
N_SIGMA = float(stats.norm.isf(FALSE_ALARM / 2.0))


@compiled_once
def add_all(pool: Pool, rewards: FloatArray, rng: Stream) -> None:
    for reward in rewards:
        pool.add(reward, rng)


@compiled_once
def fill_sums(pool: Pool, n_draws: int, rng: Stream, sums: FloatArray) -> None:
    for i in range(sums.size):
        sums[i] = pool.draw_sum(n_draws, rng)


@compiled_once
def fill_each(pool: Pool, rng: Stream, draws: FloatArray) -> None:
    pool.draw_each(rng, draws)


def pool_of(rewards: FloatArray, **options: Any) -> Pool:
    pool = new_pool(rewards.size, **options)
    add_all(pool, rewards, stream(1, "pool"))
    return pool


def sums_of(pool: Pool, n_draws: int, n_sums: int, name: str = "sums") -> FloatArray:
    sums = np.zeros(n_sums)
    fill_sums(pool, n_draws, stream(2, name, n_draws), sums)
    return sums


def generator(*key: int) -> np.random.Generator:
    return np.random.default_rng(list(key))


# Moments ----------------------------------------------------------------------------------------------------------


def exact_power_sums(values: FloatArray, highest: int) -> list[float]:
    """Return the sums of the powers 2, 3, ... of the deviations from the mean, in long double."""
    precise = values.astype(np.longdouble) - values[0]
    deviations = precise - precise.mean()
    return [float((deviations**power).sum()) for power in range(2, highest + 1)]


def assert_moments_are_those_of(rewards: FloatArray, pool: Pool, tolerance: float) -> None:
    """Compare all moments; odd ones may be near 0, so they count in units of the deviation."""
    assert pool.moments[0] == rewards.size
    assert math.isclose(pool.moments[1], math.fsum(rewards) / rewards.size, rel_tol=1e-13)
    for power, expected in enumerate(exact_power_sums(rewards, 6), start=2):
        scale = abs(expected) if power % 2 == 0 else max(abs(expected), rewards.size * rewards.std() ** power)
        assert abs(pool.moments[power] - expected) <= tolerance * scale


@pytest.mark.parametrize(
    ("rewards", "tolerance"),
    [
        (generator(1).standard_normal(2_000), 1e-11),
        (generator(2).lognormal(0.0, 1.5, 2_000), 1e-11),
        (generator(3).standard_normal(2_000) + 1e9, 1e-11),
        (-1e9 + generator(4).exponential(1.0, 2_000), 1e-11),
        (generator(5).random(2_000) * 1e-9, 1e-11),
        (np.array([3.0]), 1e-11),
        (np.array([1.0, -2.0, 7.5]), 1e-11),
    ],
    ids=["normal", "skewed", "around 1e9", "around -1e9", "tiny", "one", "three"],
)
def test_moments_are_those_of_the_rewards(rewards: FloatArray, tolerance: float) -> None:
    pool = pool_of(rewards)
    assert pool.tally[0] == rewards.size
    assert_moments_are_those_of(rewards, pool, tolerance)
    assert math.isclose(pool.deviation(), rewards.std(), rel_tol=1e-9)


@pytest.mark.heavy
@pytest.mark.parametrize("n_rewards", often([200_000], [200_000, 1_000_000]))
def test_moments_stay_right_over_very_many_rewards_around_1e9(n_rewards: int) -> None:
    rewards = 1e9 + generator(6).standard_normal(n_rewards)
    pool = pool_of(rewards)
    expected = exact_power_sums(rewards, 4)
    assert math.isclose(pool.moments[2], expected[0], rel_tol=1e-10)
    assert math.isclose(pool.moments[4], expected[2], rel_tol=1e-10)
    assert abs(pool.moments[3] - expected[1]) < 1e-10 * rewards.size
    assert math.isclose(pool.limit[0], rewards.std(), rel_tol=1e-9)


def test_limit_holds_deviation_and_kurtosis_of_one_draw() -> None:
    rewards = generator(7).laplace(size=500)
    pool = pool_of(rewards)
    assert math.isclose(pool.limit[0], rewards.std(), rel_tol=1e-12)
    assert math.isclose(pool.limit[1], stats.kurtosis(rewards) / 24.0, rel_tol=1e-9)
    assert pool.limit[2] >= 16.0


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("reward", [0.0, 0.1, -7.3, 1e9 + 0.1])
def test_rewards_without_variance_give_zeros(sampler: str, reward: float) -> None:
    pool = pool_of(np.full(1_000, reward), sampler=sampler)
    rng, draws = stream(3, "zeros"), np.ones(5)
    assert [pool.draw_sum(n_draws, rng) for n_draws in (1, 10, 10_000)] == [0.0, 0.0, 0.0]
    pool.draw_each(rng, draws)
    assert not draws.any()


def test_an_empty_pool_gives_zeros() -> None:
    for pool in (new_pool(10), new_pool(10, "exact", form="plain")):
        assert pool.draw_sum(5, stream(4, "empty")) == 0.0
        assert pool.deviation() == 0.0


def test_a_pool_without_room_keeps_the_moments_and_draws_nothing() -> None:
    rewards = generator(32).standard_normal(100) + 1e9
    pool, large = new_pool(0), pool_of(rewards)
    add_all(pool, rewards, stream(16, "no room"))
    assert pool.values.size == 0
    for field in ("moments", "atoms", "tally", "limit"):
        np.testing.assert_array_equal(getattr(pool, field), getattr(large, field))
    assert math.isclose(pool.deviation(), rewards.std(), rel_tol=1e-9)
    for draw in (lambda: pool.draw_sum(5, stream(17, "no room")), lambda: pool.draw_each(stream(17, "x"), np.zeros(3))):
        with pytest.raises(ValueError, match="a pool without room for rewards has none to draw"):
            draw()


def test_the_deviation_of_equal_rewards_is_zero() -> None:
    assert pool_of(np.full(50, 0.1)).deviation() == 0.0


@pytest.mark.parametrize("sampler", ["fast", "exact"])
def test_no_draws_sum_to_zero(sampler: str) -> None:
    for rewards in (np.array([0.0, 1.0, 1.0]), generator(8).standard_normal(100)):
        assert pool_of(rewards, sampler=sampler).draw_sum(0, stream(5, "none")) == 0.0


@pytest.mark.parametrize("exponent", [-300, -60, 60, 250])
@pytest.mark.parametrize("n_draws", [5, 1000])
def test_sums_scale_with_the_rewards(exponent: int, n_draws: int) -> None:
    # Powers of two leave every digit as it is, unless a power of the rewards is too large or small for a float.
    rewards = generator(9).standard_normal(200)
    plain = sums_of(pool_of(rewards), n_draws, 50)
    scaled = sums_of(pool_of(rewards * 2.0**exponent), n_draws, 50) * 2.0**-exponent
    if abs(exponent) == 60:
        np.testing.assert_array_equal(scaled, plain)
    assert np.all(np.isfinite(scaled))
    assert 0.7 < scaled.std() / (math.sqrt(n_draws) * rewards.std()) < 1.4


@pytest.mark.parametrize("n_draws", [5, 1000])
def test_sums_do_not_see_a_constant_added_to_all_rewards(n_draws: int) -> None:
    rewards = generator(10).integers(-(2**20), 2**20, 256) / 2**20
    shifted = sums_of(pool_of(rewards + 4096.0), n_draws, 50)
    np.testing.assert_allclose(shifted, sums_of(pool_of(rewards), n_draws, 50), rtol=1e-7, atol=1e-9)


# Few distinct values: exact counts --------------------------------------------------------------------------------


def convolved(one: FloatArray, n_draws: int) -> FloatArray:
    """Return the law of a sum of independent draws from the law `one` of whole numbers."""
    law = np.ones(1)
    for _ in range(n_draws):
        law = np.convolve(law, one)
    return law


def assert_counts_follow(observed: IntArray, law: FloatArray) -> None:
    """Compare by chi-square: likely places on their own, unlikely ones together."""
    assert not observed[law == 0.0].any()
    order = np.argsort(law)[::-1]
    expected, observed = observed.sum() * law[order], observed[order]
    n_alone = int((expected >= 20.0).sum())
    groups = np.arange(n_alone + 1) if expected[n_alone:].sum() >= 5.0 else np.arange(n_alone)
    test = stats.chisquare(np.add.reduceat(observed, groups), np.add.reduceat(expected, groups), sum_check=False)
    assert test.pvalue > FALSE_ALARM


def assert_sums_follow_exact_law(sums: FloatArray, rewards: FloatArray, n_draws: int) -> None:
    """Compare with the exact law, for rewards that are whole numbers: then so are n_rewards times the deviations."""
    deviations = np.rint(rewards.size * rewards - rewards.sum()).astype(np.int64)
    reach = int(np.abs(deviations).max())
    one = np.bincount(np.concatenate([deviations, -deviations]) + reach, minlength=2 * reach + 1) / (2 * rewards.size)
    places = np.rint(sums * rewards.size)
    np.testing.assert_allclose(sums * rewards.size, places, atol=1e-6)
    law = convolved(one, n_draws)
    assert_counts_follow(np.bincount(places.astype(np.int64) + reach * n_draws, minlength=law.size), law)


SIXTEEN = np.repeat(np.arange(16.0), generator(11).integers(1, 5, 16))
FEW_VALUES = {
    "clicks": np.array([1.0] + [0.0] * 9),
    "even clicks": np.array([1.0, 0.0, 0.0, 1.0]),
    "rare clicks": np.array([1.0] + [0.0] * 99),
    "stars": np.array([1.0, 5.0, 5.0, 4.0, 3.0, 5.0, 2.0]),
    "three": np.array([0.0, 0.0, 0.0, 10.0, -3.0]),
    "sixteen": generator(12).permutation(SIXTEEN),
}


AROUND_SWITCHES = (63, 64, 65, 127, 128, 129, 300)


@pytest.mark.heavy
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize(
    ("name", "n_draws"),
    [(name, n_draws) for name in FEW_VALUES for n_draws in (1, 7)]
    + [(name, n_draws) for name in ("clicks", "stars") for n_draws in (64, 65, 128, 129)]
    + [pytest.param(name, n_draws, marks=pytest.mark.endurance) for name in FEW_VALUES for n_draws in (2, 40)]
    + [
        pytest.param(name, n_draws, marks=pytest.mark.endurance)
        for name in ("clicks", "even clicks", "rare clicks")
        for n_draws in AROUND_SWITCHES
    ],
)
def test_sums_of_few_distinct_values_follow_their_exact_law(name: str, n_draws: int, sampler: str) -> None:
    rewards = FEW_VALUES[name]
    pool = pool_of(rewards, sampler=sampler)
    assert pool.tally[1] == np.unique(rewards).size <= N_ATOMS
    assert_sums_follow_exact_law(sums_of(pool, n_draws, 100_000, name), rewards, n_draws)


@pytest.mark.heavy
@pytest.mark.parametrize("n_draws", [1, 63, 64, 65, 127, 128, 129, 2047, 2048, 2049, 5_000])
@pytest.mark.parametrize("n_ones", [1, 500, 990])
@pytest.mark.parametrize("sampler", ["fast", "halving"])
def test_sums_of_clicks_have_their_exact_moments(n_ones: int, n_draws: int, sampler: str) -> None:
    rewards = np.repeat([1.0, 0.0], [n_ones, 1_000 - n_ones])
    sums = sums_of(pool_of(rewards, sampler=sampler), n_draws, 100_000)
    variance = n_draws * rewards.var()
    excess = ((rewards - rewards.mean()) ** 4).mean() / rewards.var() ** 2 - 3.0
    assert abs(sums.mean()) < N_SIGMA * math.sqrt(variance / sums.size)
    assert abs((sums**2).mean() / variance - 1.0) < N_SIGMA * math.sqrt((excess / n_draws + 2.0) / sums.size) + 1e-12
    half = sums.size // 2
    assert stats.ks_2samp(sums[:half].round(9), -sums[half:].round(9)).pvalue > FALSE_ALARM


@pytest.mark.heavy
@pytest.mark.parametrize("n_draws", [63, 64, 65, 128, 129, 2047, 2048, 2049])
def test_sums_of_fair_clicks_are_fair_coins(n_draws: int) -> None:
    # With as many ones as zeros every deviation is ±1/2: a sum is heads - n_draws / 2, whatever was drawn.
    heads = sums_of(pool_of(FEW_VALUES["even clicks"]), n_draws, 100_000) + n_draws / 2.0
    law = stats.binom(n_draws, 0.5).pmf(np.arange(n_draws + 1))
    assert_counts_follow(np.bincount(np.rint(heads).astype(np.int64), minlength=law.size), law)


@pytest.mark.heavy
def test_sums_of_few_distinct_values_agree_with_draws_made_by_numpy() -> None:
    rewards, n_draws, n_sums = generator(13).choice([0.0, 0.25, 1.0, 3.0], 37), 30, 50_000
    rng = generator(14)
    drawn = rewards[rng.integers(0, rewards.size, (n_sums, n_draws))] - rewards.mean()
    by_hand = (drawn * rng.choice([-1.0, 1.0], drawn.shape)).sum(axis=1)
    ours = sums_of(pool_of(rewards), n_draws, n_sums)
    assert stats.ks_2samp(ours.round(9), by_hand.round(9)).pvalue > FALSE_ALARM
    assert abs(ours.var() / by_hand.var() - 1.0) < N_SIGMA * math.sqrt(4.0 / n_sums)


def test_the_table_counts_each_of_sixteen_values() -> None:
    rewards = FEW_VALUES["sixteen"]
    pool = pool_of(rewards)
    values, counts = np.unique(rewards, return_counts=True)
    order = np.argsort(pool.atoms[0])
    np.testing.assert_array_equal(pool.atoms[0, order], values)
    np.testing.assert_array_equal(pool.atoms[1, order], counts)


@pytest.mark.heavy
@pytest.mark.parametrize("n_draws", [1, 2, 9])
def test_a_seventeenth_value_overflows_the_table_and_sums_stay_exact(n_draws: int) -> None:
    rewards = np.append(FEW_VALUES["sixteen"], 16.0)
    pool = pool_of(rewards)
    assert pool.tally[1] == N_ATOMS + 1
    assert_sums_follow_exact_law(sums_of(pool, n_draws, 200_000), rewards, n_draws)


def test_an_overflowed_table_stays_overflowed() -> None:
    pool = pool_of(np.concatenate([np.arange(17.0), np.zeros(500)]))
    assert pool.tally[1] == N_ATOMS + 1


# Drawing one by one -----------------------------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize("n_rewards", [3, 10, 1000])
def test_every_reward_and_sign_is_equally_likely(n_rewards: int) -> None:
    values = np.arange(1.0, n_rewards + 1.0)
    sums = np.zeros(1_000_000)
    fill_sums_around_zero(values, 1, stream(6, "uniform").words, sums)
    observed = np.bincount(np.rint(sums).astype(np.int64) + n_rewards, minlength=2 * n_rewards + 1)
    assert observed[n_rewards] == 0
    assert stats.chisquare(np.delete(observed, n_rewards)).pvalue > FALSE_ALARM


@compiled_once
def fill_sums_around_zero(values: FloatArray, n_draws: int, words: NDArray[np.uint64], sums: FloatArray) -> None:
    for i in range(sums.size):
        sums[i] = _sum_of_draws(values, values.size, 0.0, 2.0, n_draws, words)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("values", "n_draws"),
    [
        (7.0 ** np.arange(4), 2),  # a sum tells which values were drawn, how often and with which signs
        (7.0 ** np.arange(4), 3),
        (np.arange(1.0, 65.0), 2),
        (np.arange(1.0, 201.0), 2),
        (np.array([1.0, 2.0, 7.0, 30.0, 31.0]), 40),
        (np.array([1.0, 2.0, 7.0, 30.0, 31.0]), 200),
        (np.array([1.0, 5.0, 25.0, 33.0, 60.0, 61.0, 90.0, 100.0]), 16),
    ],
    ids=["pairs", "triples", "pairs of 64", "pairs of 200", "40 of 5", "200 of 5", "16 of 8"],
)
@pytest.mark.parametrize("share", often([0.2], [0.2, 1.0]))
def test_draws_of_one_sum_are_independent_and_with_replacement(values: FloatArray, n_draws: int, share: float) -> None:
    sums = np.zeros(int(share * min(4_000_000, 200_000_000 // n_draws)))
    fill_sums_around_zero(values, n_draws, stream(7, "together", n_draws).words, sums)
    mirrored = np.concatenate([values, -values])  # of mean zero, so that the law needs no other centring
    one = np.bincount((mirrored + values.max()).astype(np.int64)) / mirrored.size
    law, reach = convolved(one, n_draws), int(values.max()) * n_draws
    observed = np.bincount(np.rint(sums).astype(np.int64) + reach, minlength=law.size)
    assert_counts_follow(observed, law)
    places = np.arange(-reach, reach + 1.0)
    variance, fourth = (law * places**2).sum(), (law * places**4).sum()
    assert abs((sums**2).mean() - variance) < N_SIGMA * math.sqrt((fourth - variance**2) / sums.size)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("n_rewards", "n_draws"), [(20, 1), (20, 16), (20, 400), (3_000, 7), (3_000, 64), (50_000, 33)]
)
def test_exact_sums_have_mean_zero_the_right_variance_and_symmetry(n_rewards: int, n_draws: int) -> None:
    rewards = generator(15, n_rewards).exponential(2.0, n_rewards) + 5.0
    sums = sums_of(pool_of(rewards, sampler="exact"), n_draws, 400_000 if n_draws < 100 else 100_000)
    variance = n_draws * rewards.var()
    kurtosis = stats.kurtosis(np.concatenate([rewards - rewards.mean(), rewards.mean() - rewards])) / n_draws
    assert abs(sums.mean()) < N_SIGMA * math.sqrt(variance / sums.size)
    assert abs(sums.var() / variance - 1.0) < N_SIGMA * math.sqrt((kurtosis + 2.0) / sums.size)
    half = sums.size // 2
    assert stats.ks_2samp(sums[:half], -sums[half:]).pvalue > FALSE_ALARM


@pytest.mark.heavy
def test_sums_drawn_one_after_the_other_are_independent() -> None:
    sums = sums_of(pool_of(generator(16).standard_normal(1_000), sampler="exact"), 20, 400_000)
    for lag in (1, 2):
        assert abs(np.corrcoef(sums[:-lag], sums[lag:])[0, 1]) < N_SIGMA / math.sqrt(sums.size)


@pytest.mark.heavy
def test_draw_each_follows_the_law_of_the_mirrored_pool() -> None:
    rewards = generator(17).lognormal(0.0, 1.0, 300)
    pool, draws = pool_of(rewards), np.zeros(1_000_000)
    fill_each(pool, stream(8, "each"), draws)
    mirrored = np.sort(np.concatenate([rewards - rewards.mean(), rewards.mean() - rewards]))
    places = np.searchsorted(mirrored, draws - 1e-12)
    np.testing.assert_allclose(mirrored[places], draws, atol=1e-9)
    assert stats.chisquare(np.bincount(places, minlength=mirrored.size)).pvalue > FALSE_ALARM
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < N_SIGMA / math.sqrt(draws.size)


# Plain pools ------------------------------------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize("n_draws", [1, 30, 1_000])
def test_a_sum_from_a_plain_pool_has_the_mean_and_variance_of_the_rewards(n_draws: int) -> None:
    rewards = generator(33).exponential(2.0, 300) + 5.0
    sums = sums_of(pool_of(rewards, sampler="exact", form="plain"), n_draws, 200_000 if n_draws < 100 else 40_000)
    variance, kurtosis = n_draws * rewards.var(), stats.kurtosis(rewards) / n_draws
    assert abs(sums.mean() - n_draws * rewards.mean()) < N_SIGMA * math.sqrt(variance / sums.size)
    assert abs(sums.var() / variance - 1.0) < N_SIGMA * math.sqrt((kurtosis + 2.0) / sums.size)


@pytest.mark.heavy
def test_a_plain_pool_draws_every_reward_with_the_same_chance() -> None:
    rewards = np.array([0.0, 3.0, -7.0, 2.5, 11.0])
    pool, each = pool_of(rewards, sampler="exact", form="plain"), np.zeros(200_000)
    fill_each(pool, stream(18, "plain"), each)
    for draws in (sums_of(pool, 1, 200_000), each):
        values, counts = np.unique(draws, return_counts=True)
        np.testing.assert_array_equal(values, np.sort(rewards))
        assert stats.chisquare(counts).pvalue > FALSE_ALARM


def test_a_plain_pool_of_equal_rewards_pays_them() -> None:
    pool = pool_of(np.full(9, 0.25), sampler="exact", form="plain")
    assert pool.draw_sum(12, stream(19, "plain")) == 3.0


def test_a_plain_pool_has_no_fast_sampler() -> None:
    with pytest.raises(ValueError, match="pool='plain' needs sampler='exact', not 'fast'"):
        new_pool(10, form="plain")
    with pytest.raises(ValueError, match="pool must be 'mirrored' or 'plain', not 'raw'"):
        new_pool(10, "exact", form="raw")


# The normal limit against the exact law ---------------------------------------------------------------------------


def law_of_sum(rewards: FloatArray, n_draws: int, points: FloatArray) -> FloatArray:
    """Return the exact distribution function of a sum at `points`, in units of its standard deviation.

    The mirrored pool has the characteristic function mean(cos(t x)), a sum of independent draws its power. A Fourier
    series turns that back into a distribution function, on a period that holds all but a negligible part of the law.
    """
    deviations = (rewards - rewards.mean()) / rewards.std()
    scale = math.sqrt(n_draws)
    period = max(24.0, 14.0 + 6.0 * np.abs(deviations).max() / scale)
    law = 0.5 + points / period
    first, n_terms = 1, 1024
    while True:
        terms = np.arange(first, first + n_terms)
        angles = 2.0 * math.pi / period * terms
        characteristic = np.array([np.cos(angle / scale * deviations).mean() for angle in angles])
        weights = characteristic**n_draws / (math.pi * terms)
        kept = np.abs(weights) > 1e-9
        law += np.sin(np.outer(points, angles[kept])) @ weights[kept]
        if not kept.any():
            return law
        first += n_terms


def test_law_of_sum_is_right_where_it_is_known() -> None:
    # Eight fair coins of ±1 with a little room around the jumps: 2 heads - 8 <= 0 has chance P(Binomial(8) <= 4).
    points = np.array([-3.0, -1.0, 1.0, 3.0]) / math.sqrt(8.0)
    smooth = np.concatenate([1.0 + 0.02 * stats.norm.ppf((np.arange(200) + 0.5) / 200.0)] * 2) * np.repeat([1, -1], 200)
    expected = stats.binom.cdf([2, 3, 4, 5], 8, 0.5)
    np.testing.assert_allclose(law_of_sum(smooth, 8, points), expected, atol=1e-6)


def with_outliers(size: float) -> Callable[[np.random.Generator, int], FloatArray]:
    return lambda rng, n: rng.standard_normal(n) + np.where(np.arange(n) < max(n // 100, 1), size, 0.0)


def mostly_clicks(rng: np.random.Generator, n: int) -> FloatArray:
    return np.where(rng.random(n) < 0.95, (rng.random(n) < 0.5) * 1.0, rng.random(n))


POOLS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "uniform": lambda rng, n: rng.random(n),
    "beta": lambda rng, n: rng.beta(2.0, 5.0, n),
    "Gaussian": lambda rng, n: rng.standard_normal(n),
    "Laplace": lambda rng, n: rng.laplace(size=n),
    "log-normal": lambda rng, n: rng.lognormal(0.0, 1.0, n),
    "Student-t(3)": lambda rng, n: rng.standard_t(3.0, n),
    "1 % outliers": with_outliers(20.0),
    "1 % far outliers": with_outliers(100.0),
    "noisy clicks": lambda rng, n: (rng.random(n) < 0.5) + 0.05 * rng.standard_normal(n),
    "95 % clicks, 5 % continuous": mostly_clicks,
}


def distance_to_law(sorted_sums: FloatArray, points: FloatArray, law: FloatArray) -> float:
    return float(np.abs(np.searchsorted(sorted_sums, points, side="right") / sorted_sums.size - law).max())


@pytest.mark.heavy
@pytest.mark.parametrize("name", often(["log-normal", "1 % outliers", "95 % clicks, 5 % continuous"], POOLS))
@pytest.mark.parametrize("n_rewards", often([400], [400, 3_000]))
def test_fast_sums_at_the_switch_over_follow_the_law_of_exact_ones(name: str, n_rewards: int) -> None:
    rewards = POOLS[name](generator(18, n_rewards), n_rewards)
    fast, exact = pool_of(rewards), pool_of(rewards, sampler="exact")
    assert fast.tally[1] > N_ATOMS
    n_draws = math.floor(fast.limit[2]) + 1
    n_exact = 1_000_000 if n_draws < 500 <= n_rewards else 100_000
    unit = math.sqrt(n_draws) * rewards.std()
    fast_sums = np.sort(sums_of(fast, n_draws, 1_000_000, "fast")) / unit
    exact_sums = np.sort(sums_of(exact, n_draws, n_exact, "exact")) / unit
    points = np.linspace(-5.0, 5.0, 1_001)
    law = law_of_sum(rewards, n_draws, points)
    assert distance_to_law(exact_sums, points, law) < math.sqrt(-math.log(FALSE_ALARM / 2.0) / (2.0 * n_exact))
    assert distance_to_law(fast_sums, points, law) <= 0.003
    if n_exact == fast_sums.size:
        assert stats.ks_2samp(fast_sums, exact_sums, method="asymp").statistic <= 0.003


def law_of_limit(pool: Pool, n_draws: int, points: FloatArray) -> FloatArray:
    """Return the distribution function of a fast sum at `points`, in units of its standard deviation."""
    normal = np.linspace(-8.0, 8.0, 100_001)
    corrected = normal + pool.limit[1] / n_draws * (normal**3 - 3.0 * normal)
    assert np.all(np.diff(corrected[np.abs(normal) < 5.0]) > 0.0)
    return np.asarray(stats.norm.cdf(np.interp(points, corrected, normal)))


@pytest.mark.parametrize("name", [name for name in POOLS if "%" not in name or "outliers" in name])
@pytest.mark.parametrize("n_rewards", often([50], [50, 150], pytest.mark.heavy))
def test_the_limit_is_close_to_the_exact_law_for_small_pools_too(name: str, n_rewards: int) -> None:
    points = np.linspace(-4.0, 4.0, 401)
    for seed in range(4):
        rewards = POOLS[name](generator(31, n_rewards, seed), n_rewards)
        pool = pool_of(rewards)
        n_draws = math.floor(pool.limit[2]) + 1
        exact = law_of_sum(rewards, n_draws, points)
        assert np.abs(law_of_limit(pool, n_draws, points) - exact).max() <= 0.003


@pytest.mark.heavy
@pytest.mark.parametrize("factor", [1, 2, 10])
def test_fast_sums_have_the_right_variance_and_fourth_cumulant(factor: int) -> None:
    rewards = generator(19).laplace(size=1_000)
    pool = pool_of(rewards)
    n_draws = factor * (math.floor(pool.limit[2]) + 1)
    sums = sums_of(pool, n_draws, 1_000_000)
    variance, excess = n_draws * rewards.var(), stats.kurtosis(rewards) / n_draws
    assert abs(sums.var() / variance - 1.0) < N_SIGMA * math.sqrt((excess + 2.0) / sums.size) + 0.1 * excess**2
    assert abs(stats.kurtosis(sums) - excess) < N_SIGMA * math.sqrt(24.0 / sums.size) + excess**2


def test_up_to_the_switch_over_fast_and_exact_are_the_same_draws() -> None:
    rewards = generator(20).standard_normal(500)
    fast, exact = pool_of(rewards), pool_of(rewards, sampler="exact")
    switch = math.floor(fast.limit[2])
    np.testing.assert_array_equal(sums_of(fast, switch, 20, "same"), sums_of(exact, switch, 20, "same"))
    assert not np.any(sums_of(fast, switch + 1, 20, "same") == sums_of(exact, switch + 1, 20, "same"))


def test_the_exact_sampler_never_uses_the_limit() -> None:
    # Three draws in a thousand rewards of whole numbers: a sum of deviations times n_rewards is a whole number too.
    rewards = generator(21).integers(0, 1_000, 64) * 1.0
    sums = sums_of(pool_of(rewards, sampler="exact"), 5_000, 20) * rewards.size
    np.testing.assert_allclose(sums, np.rint(sums), atol=1e-5)


def test_values_that_keep_coming_back_postpone_the_limit() -> None:
    rewards = mostly_clicks(generator(22), 2_000)
    pool = pool_of(rewards)
    share = np.isin(rewards, [0.0, 1.0]).mean()
    assert pool.tally[1] == N_ATOMS + 1
    assert pool.limit[2] >= 0.5 * 16.0 / (1.0 - share) > 100.0
    assert pool_of(generator(23).random(2_000)).limit[2] < 50.0


def test_a_value_that_comes_back_only_later_is_noticed() -> None:
    rewards = np.concatenate([generator(24).random(500), np.where(generator(25).random(3_000) < 0.9, 0.5, 0.0)])
    rewards[-3_000:] += np.where(rewards[-3_000:] == 0.0, generator(26).random(3_000), 0.0)
    share = (rewards == 0.5).mean()
    assert pool_of(rewards).limit[2] > 0.8 * 16.0 / (1.0 - share)


# Limited and growing pools ----------------------------------------------------------------------------------------


@compiled_once
def count_kept(pool: Pool, n_seen: int, n_repeats: int, rng: Stream, counts: IntArray) -> None:
    for _ in range(n_repeats):
        pool.moments[:] = 0.0
        pool.atoms[:] = 0.0
        pool.tally[:] = 0
        pool.wear[:] = 0.0
        for value in range(n_seen):
            pool.add(float(value), rng)
        for kept in pool.values:
            counts[int(kept)] += 1


@pytest.mark.heavy
@pytest.mark.parametrize(("size", "n_seen"), [(2, 11), (20, 21), (20, 200)])
def test_a_full_pool_keeps_a_uniform_sample(size: int, n_seen: int) -> None:
    counts, n_repeats = np.zeros(n_seen, np.int64), 40_000 if n_seen < 100 else 10_000
    count_kept(new_pool(1, pool_size=size), n_seen, n_repeats, stream(9, "kept", size), counts)
    assert counts.sum() == n_repeats * size
    share = size / n_seen
    statistic = ((counts - n_repeats * share) ** 2).sum() / (n_repeats * share * (1.0 - share)) * (n_seen - 1) / n_seen
    assert stats.chi2.sf(statistic, n_seen - 1) > FALSE_ALARM
    assert stats.chi2.cdf(statistic, n_seen - 1) > FALSE_ALARM


@pytest.mark.parametrize("n_rewards", [10, 50, 51, 60, 1_000])
def test_a_full_pool_has_the_moments_of_what_it_keeps(n_rewards: int) -> None:
    rewards = 1e6 + generator(27).exponential(1.0, n_rewards)
    pool = new_pool(n_rewards, pool_size=50)
    add_all(pool, rewards, stream(10, "reservoir"))
    kept = pool.values[: min(n_rewards, 50)]
    assert pool.tally[0] == n_rewards
    assert pool.values.size == 50
    assert np.unique(kept).size == kept.size
    assert np.isin(kept, rewards).all()
    assert_moments_are_those_of(kept, pool, 1e-9)
    if kept.size > N_ATOMS:
        assert math.isclose(pool.limit[0], kept.std(), rel_tol=1e-8)
        assert math.isclose(pool.limit[1], stats.kurtosis(kept) / 24.0, rel_tol=1e-6, abs_tol=1e-8)


@compiled_once
def replace_all(pool: Pool, places: IntArray, rewards: FloatArray) -> None:
    for index in range(places.size):
        pool.replace(places[index], rewards[index])


def outliers_now_and_then(rng: np.random.Generator, n: int) -> FloatArray:
    return rng.standard_normal(n) * np.where(rng.random(n) < 0.01, 1e6, 1.0)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.standard_normal(n),
        lambda rng, n: rng.standard_normal(n) + 1e9,
        lambda rng, n: rng.integers(0, 5, n) * 0.1 - 1e9,
        lambda rng, n: rng.standard_t(1.5, n),
        outliers_now_and_then,
    ],
    ids=["normal", "around 1e9", "stars around -1e9", "heavy tails", "outliers"],
)
@pytest.mark.parametrize("size", [7, 64, 1_000])
def test_moments_stay_right_over_thousands_of_replacements(
    draw: Callable[[np.random.Generator, int], FloatArray], size: int
) -> None:
    rng = generator(34, size)
    pool = new_pool(1, pool_size=size)
    add_all(pool, draw(rng, size), stream(20, "replace"))
    for n_more in (size - 1, 1, 3_000, 517):
        replace_all(pool, rng.integers(0, size, n_more), draw(rng, n_more))
        assert_moments_are_those_of(pool.values, pool, 1e-9)


def test_outliers_that_leave_take_no_digits_with_them() -> None:
    rng, pool, outliers = generator(37), new_pool(1, pool_size=200), np.array([1e6, 3e5, -1e5, 1e4, 1e3, -100.0, 30.0])
    add_all(pool, np.append(outliers, rng.standard_normal(200 - outliers.size)), stream(24, "outliers"))
    for place in range(outliers.size):
        replace_all(pool, np.array([place]), rng.standard_normal(1))
        assert_moments_are_those_of(pool.values, pool, 1e-9)


def test_a_pool_whose_rewards_become_equal_has_no_variance() -> None:
    pool = new_pool(1, pool_size=40)
    add_all(pool, np.append(generator(35).standard_normal(20), np.full(20, 0.1)), stream(21, "equal"))
    replace_all(pool, np.arange(20), np.full(20, 0.1))
    assert pool.moments[2] == 0.0
    assert pool.draw_sum(10, stream(22, "equal")) == 0.0


def test_an_incomplete_table_counts_no_value_too_often() -> None:
    rng, pool = generator(36), new_pool(1, pool_size=200)
    add_all(pool, rng.integers(0, 40, 200) * 1.0, stream(23, "table"))
    for _ in range(500):
        replace_all(pool, rng.integers(0, 200, 3), np.floor(40.0 * rng.random(3) ** 2))
        assert pool.tally[1] == N_ATOMS + 1
        for value, count in pool.atoms.T:
            assert 0 <= count <= (pool.values == value).sum()
    assert pool.atoms[1].sum() > 20


@pytest.mark.parametrize("n_values", [2, 4, 16])
def test_a_full_pool_lists_the_distinct_values_it_keeps(n_values: int) -> None:
    pool, rng = new_pool(1, pool_size=30), generator(28, n_values)
    add_all(pool, np.zeros(30), stream(11, "atoms"))
    for _ in range(200):
        replace_all(pool, rng.integers(0, 30, 5), rng.integers(0, n_values, 5) * 1.0)
        values, counts = np.unique(pool.values, return_counts=True)
        n_listed = int(pool.tally[1])
        order = np.argsort(pool.atoms[0, :n_listed])
        np.testing.assert_array_equal(pool.atoms[0, order], values)
        np.testing.assert_array_equal(pool.atoms[1, order], counts)
        assert not pool.atoms[:, n_listed:].any()


def test_a_full_pool_forgets_that_there_were_many_values_once_it_keeps_few() -> None:
    pool = new_pool(1, pool_size=20)
    add_all(pool, np.arange(20.0), stream(12, "forget"))
    assert pool.tally[1] == N_ATOMS + 1
    replace_all(pool, np.arange(10), np.zeros(10))
    replace_all(pool, np.arange(11), np.ones(11))  # by now it has started over once: 1 is kept eleven times, 11 ... 19
    fresh = pool_of(pool.values)
    assert pool.tally[1] == fresh.tally[1] == 10
    np.testing.assert_array_equal(np.sort(pool.atoms), np.sort(fresh.atoms))


@pytest.mark.parametrize("n_before", [0, 3, 100])
@pytest.mark.parametrize("kind", ["clicks", "numbers"])
def test_a_grown_pool_equals_one_that_was_large_from_the_start(n_before: int, kind: str) -> None:
    rewards = generator(29).standard_normal(300)
    if kind == "clicks":
        rewards = (rewards > 0.0) * 1.0
    small, grown, large = new_pool(n_before), new_pool(1_000), new_pool(1_000)
    add_all(small, rewards[:n_before], stream(13, "grow"))
    carry_over(small, grown)
    add_all(grown, rewards[n_before:], stream(14, "grow"))
    add_all(large, rewards, stream(15, "grow"))
    for field in ("values", "moments", "atoms", "tally", "limit", "wear"):
        np.testing.assert_array_equal(getattr(grown, field), getattr(large, field))
    for n_draws in (5, 500):
        np.testing.assert_array_equal(sums_of(grown, n_draws, 10), sums_of(large, n_draws, 10))


def test_a_pool_added_to_one_by_one_in_python_equals_a_compiled_one() -> None:
    rewards = generator(30).standard_t(3.0, 200).round(1)
    pool, rng = new_pool(1, pool_size=150), stream(1, "pool")
    for reward in rewards.tolist():
        pool.add(reward, rng)
    compiled = pool_of(rewards, pool_size=150)
    for field in ("values", "moments", "atoms", "tally", "limit", "wear"):
        np.testing.assert_array_equal(getattr(pool, field), getattr(compiled, field))
    for n_draws in (3, 5_000):
        by_hand = [pool.draw_sum(n_draws, rng) for rng in [stream(2, "sums", n_draws)] for _ in range(10)]
        np.testing.assert_allclose(sums_of(compiled, n_draws, 10), by_hand, rtol=1e-12)


@pytest.mark.heavy
@pytest.mark.parametrize("n_draws", often([1_000], [1_000, 10_000]))
def test_sums_of_very_many_draws_have_no_fat_tails(n_draws: int) -> None:
    """A weak mix of draw and key shows here first: it correlates the draws of some keys."""
    sums = np.zeros(30_000)
    for seed in range(2):
        fill_sums_around_zero(np.array([1.0, 1.0]), n_draws, stream(seed, "tails", n_draws).words, sums)
        scaled = sums / math.sqrt(n_draws)
        assert abs((scaled**2).mean() - 1.0) < N_SIGMA * math.sqrt(2.0 / sums.size)
        assert abs((scaled**4).mean() - 3.0) < N_SIGMA * math.sqrt(96.0 / sums.size)
