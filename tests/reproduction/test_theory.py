import math

import numpy as np
import pytest
from scipy import stats

from corebandit.policies import CORe
from corebandit.reproduction.theory import (
    concentration_tail,
    confidence_radius,
    lemma_failures,
    optimism_probability,
    pool_value_ceiling,
    pool_variance_floor,
    regret_bound,
    regret_shape,
    theoretical_alpha,
    variance_tail,
    warm_up_rounds,
)
from corebandit.statistics.growth import growth_exponent
from corebandit.statistics.shares import frequency_interval

# Formulas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("horizon", "z", "factor", "rounds"),
    [(10_000, 0.6, 4.0, 333.43), (10_000, 0.6, 2.0, 167.21), (50_000, 0.6, 4.0, 391.52), (10_000, 0.8, 4.0, 1592.9)],
)
def test_the_warm_up_is_as_long_as_worked_out_by_hand(horizon, z, factor, rounds):
    assert warm_up_rounds(horizon, z, factor) == pytest.approx(rounds, rel=1e-4)


@pytest.mark.parametrize("z", [0.2, 0.6, 0.9])
def test_core_warms_up_for_as_long_as_the_theory_says(z):
    assert CORe(z=z).warm_up_rounds(1, 10_000) == int(warm_up_rounds(10_000, z))


def test_the_warm_up_grows_without_end_as_z_nears_one_and_vanishes_as_it_nears_zero():
    near = [warm_up_rounds(10_000, 1.0 - 10.0**-k) for k in (1, 2, 3, 4)]
    assert near == sorted(near)
    assert near[-1] == pytest.approx(8.0 * math.log(10_000) * 1e8, rel=1e-3)  # z - 1 - ln z is (1 - z)^2 / 2 there
    assert warm_up_rounds(10_000, 1e-300) == pytest.approx(1.0, abs=0.1)


def test_the_variance_tail_is_its_formula():
    assert variance_tail(0.5, 3) == pytest.approx(0.5 * math.exp(0.5))
    assert variance_tail(0.5, 5) == pytest.approx(0.25 * math.e)
    assert variance_tail(1.0 - 1e-9, 100) == pytest.approx(1.0)


@pytest.mark.parametrize("z", [0.1, 0.5, 0.6, 0.95])
@pytest.mark.parametrize("n_observations", [2, 10, 100, 1000])
def test_the_variance_tail_bounds_the_exact_one_and_not_by_far(z, n_observations):
    freedom = n_observations - 1
    exact = stats.chi2.logcdf(z * freedom, freedom)
    bound = math.log(variance_tail(z, n_observations))
    assert exact <= bound
    # Chernoff's bound has the right rate: it is off by a factor of at most a constant times sqrt(freedom).
    assert bound <= exact + 0.5 * math.log(freedom) + 4.0


def test_the_warm_up_makes_the_variance_tail_one_over_the_square_of_the_horizon():
    for horizon, z in [(100, 0.3), (10_000, 0.6), (10**6, 0.9)]:
        enough = math.ceil(warm_up_rounds(horizon, z))
        assert variance_tail(z, enough) <= horizon**-2.0 < variance_tail(z, enough - 1)


def test_floor_and_ceiling_are_their_formulas():
    assert pool_variance_floor(2.0, 0.5, 3.0) == pytest.approx(9.0)
    assert pool_variance_floor(math.sqrt(2.0 / 0.6), 0.6, 0.7) == pytest.approx(0.7**2)  # alpha^2 z = 2 is enough
    assert pool_value_ceiling(0.5, 2.0, 1) == 0.5
    assert pool_value_ceiling(2.0, 0.5, 54) == pytest.approx(2.0 * (2.0 * math.sqrt(math.log(54)) + 1.0))


def test_the_concentration_tail_is_its_formula_and_bounds_sums_of_signs():
    assert concentration_tail(2.0, 2.0) == pytest.approx(2.0 * math.exp(-0.5))
    assert concentration_tail(1e-9, 1.0) == pytest.approx(2.0)
    # 100 noises of ±1 on one arm: c |x| is c times sqrt(100) of their sum (without lambda).
    for c in (0.5, 1.0, 2.0, 3.0):
        heads_at_most = math.floor((100 - c * 10.0) / 2)
        assert 2.0 * stats.binom.cdf(heads_at_most, 100, 0.5) <= concentration_tail(c, 1.0)


def test_the_confidence_radius_is_its_formula():
    # ln(10 + 100 * 4 / (2 * 0.25)) = ln 810
    radius = confidence_radius(10, 2, sigma=3.0, longest_row=2.0, lam=0.25, longest_theta=5.0)
    assert radius == pytest.approx(3.0 * math.sqrt(2.0 * math.log(810.0)) + 2.5)


def test_the_theoretical_alpha_makes_the_floor_twice_the_squared_radius():
    alpha = theoretical_alpha(7.0, z=0.6, sigma=0.5)
    assert alpha**2 == pytest.approx(4.0 * 49.0 / (0.6 * 0.25))
    assert pool_variance_floor(alpha, 0.6, 0.5) == pytest.approx(2.0 * 49.0)


def test_the_chance_of_optimism_is_its_formula():
    # [8/4 * 3/4 - 1/4 - 2/27] / (16 ln 3)
    expected = (1.5 - 0.25 - 2.0 / 27.0) / (16.0 * math.log(3.0))
    assert optimism_probability(3, floor=8.0, ceiling=2.0, radius=1.0) == pytest.approx(expected)
    assert optimism_probability(3, 8.0, 2.0, 1.0, shrinkage=0.0) > expected
    assert optimism_probability(3, 8.0, 2.0, 1.0, shrinkage=1.0) < 0.0


def test_the_shape_is_linear_in_d_and_a_square_root_in_the_horizon():
    assert regret_shape(100, 3, 10) == pytest.approx(3.0 * math.sqrt(100.0 * math.log(10.0)))
    assert regret_shape(100, 1, 1) == 0.0


# The bound --------------------------------------------------------------------------------------------------------


def test_the_bound_is_the_one_worked_out_by_hand():
    bound = regret_bound(1000, d=2, n_arms=3, sigma=1.0, z=0.5, longest_row=2.0, lam=0.25, longest_theta=4.0)
    log = math.log(1000.0)
    c1 = math.sqrt(2.0 * math.log(1000.0 + 8e6)) + 2.0
    a = math.sqrt(8.0) * c1 * (4.0 * math.sqrt(log) + 1.0)
    c2 = math.sqrt(2.0 * a * a * math.log(3e12))
    gap = (0.5 * (c1 / a) ** 2 - 2e-9) / (16.0 * log) - 1e-12
    start = 4.0 * log / (math.log(2.0) - 0.5) + 1.0
    value = (c1 + c2) * (1.0 + 2.0 / gap) * math.sqrt(4.0 * math.log(8001.0) * 1000.0) + 1.0 + 1e-9 + start + 2.0
    assert (bound.c1, bound.a, bound.c2, bound.gap) == pytest.approx((c1, a, c2, gap))
    assert bound.value == pytest.approx(value)
    assert (bound.p1, bound.p2) == (1e-3, 1e-12)
    assert bound.eta2 == pytest.approx(2.0 * c1**2)
    assert bound.simple_gap == pytest.approx((0.5 / (256.0 * log) - 36e-9) / (32.0 * log))


@pytest.mark.parametrize("horizon", [24, 41, 1000, 10**6, 10**12])
@pytest.mark.parametrize("z", [0.5, 0.75, 0.99])
@pytest.mark.parametrize("sigma", [0.25, 1.0, 30.0])
def test_the_gap_is_positive_and_above_its_simple_form(horizon, z, sigma):
    bound = regret_bound(horizon, 10, 50, sigma=sigma, z=z)
    assert bound.gap == bound.p3 - bound.p2
    assert bound.gap > max(0.0, bound.simple_gap)


def test_the_simple_gap_turns_positive_later_than_the_theorem_starts():
    assert [regret_bound(n, 10, 50, sigma=1.0, z=0.5).simple_gap > 0.0 for n in (24, 40, 41)] == [False, False, True]


@pytest.mark.parametrize(("name", "values"), [("horizon", (100, 1000, 10**5, 10**9)), ("d", (1, 2, 10, 50))])
def test_the_bound_grows(name, values):
    setting = {"horizon": 10_000, "d": 10, "n_arms": 50}
    bounds = [regret_bound(**{**setting, name: value}).value for value in values]
    assert bounds == sorted(set(bounds))


def test_the_bound_grows_with_arms_no_faster_than_its_shape():
    few, many = regret_bound(10_000, 2, 10).value, regret_bound(10_000, 2, 10**6).value
    assert 1.0 < many / few < regret_shape(10_000, 2, 10**6) / regret_shape(10_000, 2, 10)


def test_the_bound_is_sublinear_and_below_the_horizon_at_last():
    ratios = [regret_bound(10**k, 10, 50).value / 10.0**k for k in (10, 20, 30)]
    assert ratios[0] > ratios[1] > 1.0 > ratios[2]


def test_a_small_alpha_leaves_the_bound_without_a_value():
    bound = regret_bound(10_000, 10, 50, alpha=0.6)
    assert bound.value == math.inf
    assert bound.gap < 0.0


# The lemmas tried out ---------------------------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize("means", [(0.5,), (0.0, 1.0)])
def test_the_lemmas_fail_at_most_once_in_a_horizon_of_runs(means):
    variance, ceiling, runs = lemma_failures(100, 20_000, z=0.3, means=means)
    assert frequency_interval(variance, runs).high < 1 / 100
    assert frequency_interval(ceiling, runs).high < 1 / 100


@pytest.mark.heavy
def test_bounds_that_do_not_hold_are_found_out():
    variance, ceiling, runs = lemma_failures(1000, 2000, z=0.6, tightening=1.0 / 0.3)  # a floor of sigma^2 alpha^2
    assert variance / runs > stats.chi2.cdf(999, 998)  # what the last round's pool of 999 rewards alone would make
    assert frequency_interval(ceiling, runs).low > 1 / 1000


@pytest.mark.heavy
def test_the_variance_of_a_single_round_fails_as_often_as_chi_square_says():
    factor = 18.5 * (0.6 - 1.0 - math.log(0.6)) / math.log(20)  # a warm-up of 19.5 rounds leaves the last of 20
    tightening = 2.5  # a floor of 0.75 sigma^2, for 19 rewards
    variance, _, runs = lemma_failures(20, 40_000, sigma=2.0, z=0.6, alpha=0.7, factor=factor, tightening=tightening)
    _, low, high = frequency_interval(variance, runs)
    assert low < stats.chi2.cdf(0.75 * 19, 18) < high


@pytest.mark.heavy
def test_failures_are_as_frequent_as_in_pools_built_value_by_value():
    horizon, sigma, z, alpha, factor, tightening = 12, 0.5, 0.6, 0.6, 0.1, 3.0
    rewards = np.tile([0.0, 1.0], 6)[: horizon - 1] + sigma * np.random.default_rng(1).standard_normal((4000, 11))
    start = warm_up_rounds(horizon, z, factor)
    floor = tightening * pool_variance_floor(alpha, z, sigma)
    ceiling = pool_value_ceiling(alpha, sigma, horizon) / tightening
    calm, wild = np.zeros(4000, bool), np.zeros(4000, bool)
    for current_round in range(2, horizon + 1):
        seen = rewards[:, : current_round - 1]
        pool = alpha * (seen - seen.mean(axis=1, keepdims=True))
        wild |= np.abs(pool).max(axis=1) > ceiling
        if current_round > start:
            calm |= np.mean(pool**2, axis=1) < floor
    found = lemma_failures(horizon, 40_000, sigma, z, alpha, factor, means=(0.0, 1.0), tightening=tightening)
    for expected, count in [(calm.mean(), found.variance), (wild.mean(), found.ceiling)]:
        assert 0.05 < expected < 0.95
        error = math.sqrt(expected * (1.0 - expected) * (1 / 4000 + 1 / found.runs))
        assert count / found.runs == pytest.approx(expected, abs=4.0 * error)


def test_equal_means_are_hardest_for_the_variance_and_spread_ones_for_the_ceiling():
    equal, spread = (
        lemma_failures(100, 1000, sigma=0.5, z=0.3, means=means, tightening=3.0) for means in [(0.5,), (0.0, 1.0)]
    )
    assert equal.variance > spread.variance
    assert equal.ceiling < spread.ceiling


def test_simulated_runs_depend_on_the_seed_alone():
    first, again, other = (lemma_failures(100, 500, z=0.3, tightening=3.5, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


# Estimates --------------------------------------------------------------------------------------------------------


def test_the_exact_interval_agrees_with_scipy():
    for failures, runs in [(0, 50), (1, 50), (20, 50), (50, 50)]:
        expected = stats.binomtest(failures, runs).proportion_ci(0.95, method="exact")
        assert frequency_interval(failures, runs) == pytest.approx((failures / runs, expected.low, expected.high))


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.3])
def test_the_exponent_of_a_power_law_is_recovered(exponent):
    sizes = [100, 1000, 5000, 20_000]
    value, low, high = growth_exponent(sizes, [np.full(3, 7.0 * size**exponent) for size in sizes]).interval()
    assert (value, low, high) == pytest.approx((exponent, exponent, exponent))


@pytest.mark.heavy
def test_the_interval_of_the_exponent_covers_it_as_often_as_it_says():
    rng = np.random.default_rng(5)
    sizes, covered, widths = np.array([100.0, 400.0, 1600.0]), 0, []
    for _ in range(200):
        regret = [np.sqrt(size) * rng.gamma(4.0, size=runs) for size, runs in zip(sizes, (40, 60, 80), strict=True)]
        _, low, high = growth_exponent(sizes, regret).interval()
        covered += low <= 0.5 <= high
        widths.append(high - low)
    assert 179 <= covered <= 199  # 190 of 200, give or take four deviations of 3.1
    # The slope from three evenly spaced points has the ends' errors alone, each of deviation 0.5 / sqrt(runs).
    expected = 2.0 * 1.96 * 0.5 * math.sqrt(1 / 40 + 1 / 80) / math.log(16.0)
    assert np.mean(widths) == pytest.approx(expected, rel=0.1)


def test_runs_of_different_sizes_are_resampled_independently():
    runs = np.random.default_rng(6).gamma(1.0, size=30)
    _, low, high = growth_exponent(
        [100, 200], [runs, 2.0 * runs]
    ).interval()  # resampled alike, the slope would always be 1
    assert high - low > 0.1


def test_paired_runs_are_resampled_together():
    runs = np.random.default_rng(6).gamma(1.0, size=30)
    value, low, high = growth_exponent([100, 200], [runs, 2.0 * runs], paired=True).interval()
    assert (value, low, high) == pytest.approx((1.0, 1.0, 1.0))


# Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: warm_up_rounds(0), "horizon must be a whole number of at least 1, not 0"),
        (lambda: warm_up_rounds(10, z=1.0), "z must be a number above 0 and below 1, not 1.0"),
        (lambda: warm_up_rounds(10, z=1.0 - 1e-16), "z is so close to 1 that the warm-up would never end"),
        (lambda: warm_up_rounds(10, factor=-1.0), "factor must be a number of at least 0"),
        (lambda: variance_tail(0.5, 1), "n_observations must be a whole number of at least 2, not 1"),
        (lambda: pool_variance_floor(0.0, 0.5, 1.0), "alpha must be a number above 0, not 0.0"),
        (lambda: pool_value_ceiling(1.0, math.nan, 10), "sigma must be a number above 0, not nan"),
        (lambda: concentration_tail(1.0, 0.0), "ceiling must be a number above 0"),
        (lambda: confidence_radius(10, 0, 1.0, 1.0, 1.0, 1.0), "d must be a whole number of at least 1, not 0"),
        (lambda: confidence_radius(10, 1, 1.0, 1.0, 0.0, 1.0), "lam must be a number above 0"),
        (lambda: confidence_radius(10, 1, 1.0, 1.0, 1.0, -1.0), "longest_theta must be a number of at least 0"),
        (lambda: theoretical_alpha(1.0, 0.0, 1.0), "z must be a number above 0 and below 1, not 0.0"),
        (lambda: optimism_probability(10, 1.0, 1.0, 1.0, shrinkage=2.0), "shrinkage must be a number of at least 0"),
        (lambda: regret_bound(23, 1, 2), "horizon must be a whole number of at least 24, not 23"),
        (lambda: regret_bound(100, 1, 2, z=0.49), "z must be a number of at least 0.5 and below 1, not 0.49"),
        (lambda: regret_bound(100, 5, 4), "n_arms must be a whole number of at least 5, not 4"),
        (lambda: regret_bound(100, 5, 9, sigma=0.11), "sigma must be at least 0.1165, so that .* >= 1, not 0.11"),
        (lambda: regret_bound(100, 1, 2, sigma=0.12, longest_theta=0.0), "sigma must be so large that c1, now 0.3"),
        (lambda: regret_shape(10, 1, 0), "n_arms must be a whole number of at least 1, not 0"),
        (lambda: lemma_failures(100, 1, z=0.6), "horizon must be above the warm-up of 167.2 rounds"),
        (lambda: lemma_failures(1000, 0), "runs must be a whole number of at least 1, not 0"),
        (lambda: lemma_failures(1000, 1, seed=-1), "seed must be a whole number of at least 0, not -1"),
        (lambda: lemma_failures(1000, 1, means=()), "means must hold the mean reward of at least one arm"),
        (lambda: lemma_failures(1000, 1, means=(0.0, 2.0)), "means must be a number of at least 0 and of at most 1"),
        (lambda: lemma_failures(1000, 1, tightening=0.0), "tightening must be a number above 0"),
        (lambda: frequency_interval(3, 2), "failures must be a whole number of at most 2, the runs, not 3"),
        (lambda: growth_exponent([10, 10], [np.ones(2)] * 2), "sizes must hold at least two different numbers"),
        (lambda: growth_exponent([10, 20], [np.ones(2)]), "regret must hold one array for each of the 2 sizes, not 1"),
        (lambda: growth_exponent([10, 20], [np.ones(2), np.ones(0)]), "regret must be finite numbers .* at 20"),
        (
            lambda: growth_exponent([10, 20], [np.zeros(2), np.ones(2)]),
            "regret must be above 0 on average, but is not at 10",
        ),
    ],
)
def test_bad_arguments_are_named_in_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        call()
