import numpy as np
import pytest
from scipy import stats

from corebandit.statistics.estimates import (
    Largest,
    exponential,
    largest_log_ratio,
    log_estimate,
    log_ratio,
    mean_estimate,
    mean_interval,
    mean_intervals,
    standard_error,
)
from corebandit.statistics.growth import growth_exponent, log_growth_ratio
from corebandit.statistics.resampling import resampled_means


def studentised(values, statistic, error, seed, n_resamples=4000, level=0.95):
    """Return the interval of the studentised bootstrap, resample by resample."""
    rng = np.random.default_rng(seed)
    value, own_error = statistic(values), error(values)
    distances = []
    for _ in range(n_resamples):
        drawn = values[rng.integers(len(values), size=len(values))]
        distances.append((statistic(drawn) - value) / error(drawn))
    low, high = np.quantile(distances, [0.5 - level / 2, 0.5 + level / 2])
    return value - high * own_error, value - low * own_error


def test_the_interval_of_a_mean_is_the_studentised_bootstrap_s():
    values = np.random.default_rng(1).lognormal(sigma=1.2, size=40)
    low, high = studentised(values, np.mean, standard_error, seed=5)
    found = mean_interval(values)
    assert found.low == pytest.approx(low, abs=0.03 * (high - low))
    assert found.high == pytest.approx(high, abs=0.06 * (high - low))
    assert found.high - found.value > 1.5 * (found.value - found.low)  # longer to where the tail is


def test_the_interval_of_a_ratio_is_the_studentised_bootstrap_s_of_its_logarithm():
    rng = np.random.default_rng(2)
    own = rng.lognormal(size=60)
    pairs = np.stack([own * rng.lognormal(sigma=0.4, size=60), own + rng.exponential(size=60)], axis=1)

    def statistic(drawn):
        return np.log(drawn[:, 0].mean() / drawn[:, 1].mean())

    def error(drawn):
        means = drawn.mean(axis=0)
        return standard_error(drawn[:, 0] / means[0] - drawn[:, 1] / means[1])

    low, high = studentised(pairs, statistic, error, seed=6)
    found = log_ratio(*pairs.T).interval()
    assert found.value == pytest.approx(statistic(pairs))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.05 * (high - low))


def test_each_resample_has_the_mean_and_the_error_of_the_runs_it_drew():
    values = np.random.default_rng(13).exponential(size=(6, 2)) + 0.5
    mean, ratio = mean_estimate(values[:, 0]), log_ratio(*values.T)
    for place, weights in enumerate(resampled_means(np.eye(6))[:40]):
        drawn = np.repeat(values, np.rint(6 * weights).astype(int), axis=0)
        means = drawn.mean(axis=0)
        assert mean.resampled[place] == pytest.approx(means[0])
        assert mean.errors[place] == pytest.approx(standard_error(drawn[:, 0]))
        assert ratio.resampled[place] == pytest.approx(np.log(means[0] / means[1]))
        assert ratio.errors[place] == pytest.approx(standard_error(drawn[:, 0] / means[0] - drawn[:, 1] / means[1]))


def test_many_runs_are_drawn_in_blocks_as_few_are_at_once(monkeypatch):
    values = np.random.default_rng(14).normal(size=(30, 2))
    at_once = resampled_means(values)
    monkeypatch.setattr("corebandit.statistics.resampling.MOST_WEIGHTS", 0)
    np.testing.assert_allclose(resampled_means(values), at_once, atol=1e-12)


def covered(draw, truth, interval, n_samples=300):
    found = [interval(draw()) for _ in range(n_samples)]
    return np.mean([low <= truth <= high for _, low, high in found])


@pytest.mark.heavy
def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(3)
    assert 0.92 <= covered(lambda: rng.normal(3.0, 2.0, size=60), 3.0, mean_interval) <= 0.98
    skewed = covered(lambda: rng.lognormal(size=200), np.exp(0.5), mean_interval)
    assert 0.92 <= skewed <= 0.98
    assert 0.92 <= covered(lambda: rng.exponential(size=60), 1.0, mean_interval) <= 0.98


def test_the_interval_is_about_two_standard_errors_wide():
    values = np.random.default_rng(2).normal(size=400)
    value, low, high = mean_interval(values)
    assert value == values.mean()
    assert high - low == pytest.approx(2 * 1.96 * standard_error(values), rel=0.1)


def test_chances_are_those_of_student_s_test_for_normal_values():
    values = np.random.default_rng(8).normal(size=300)
    for bound in (-0.15, -0.05, 0.0, 0.1):
        expected = stats.ttest_1samp(values, bound, alternative="less").pvalue
        assert mean_estimate(values).chance_above(bound) == pytest.approx(expected, abs=0.02)
        assert mean_estimate(values).chance_below(bound) == pytest.approx(1.0 - expected, abs=0.02)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_an_interval_ends_where_the_chance_does(level):
    estimate = mean_estimate(np.random.default_rng(9).exponential(size=80))
    _, low, high = estimate.interval(level)
    tail = (1.0 - level) / 2.0
    assert estimate.chance_above(high + 1e-9) <= tail + 1e-3 < estimate.chance_above(high - 0.02)
    assert estimate.chance_below(low - 1e-9) <= tail + 1e-3 < estimate.chance_below(low + 0.02)


@pytest.mark.heavy
@pytest.mark.parametrize("runs", [50, 2_100])  # weights that are kept, and that are not
def test_a_band_is_the_interval_of_each_column_from_fewer_resamples(runs):
    values = np.random.default_rng(3).normal(size=(runs, 3))
    values[:, 2] = 7.0
    means, lows, highs = mean_intervals(values)
    for column in range(3):
        one = values[:, column]
        near = 0.25 * standard_error(one)
        assert (means[column], lows[column], highs[column]) == pytest.approx(mean_interval(one), abs=near)
    assert (lows[2], highs[2]) == (7.0, 7.0)
    alone = mean_intervals(values[:, 1:2])
    assert [end[0] for end in alone] == pytest.approx([means[1], lows[1], highs[1]])


def test_a_ratio_of_paired_runs_is_narrow():
    hardness = np.random.default_rng(4).lognormal(size=100)
    assert exponential(log_ratio(2.0 * hardness, hardness).interval()) == pytest.approx((2.0, 2.0, 2.0))


def test_a_single_run_says_nothing_about_the_spread():
    assert mean_interval(np.array([5.0])) == (5.0, -np.inf, np.inf)
    assert [part.tolist() for part in mean_intervals(np.array([[5.0, 6.0]]))] == [[5, 6], [-np.inf] * 2, [np.inf] * 2]
    assert mean_estimate(np.array([5.0])).chance_above(9.0) == mean_estimate(np.array([5.0])).chance_below(1.0) == 1.0
    assert standard_error(np.array([5.0])) == 0.0


def test_two_runs_have_an_endless_interval():
    assert mean_interval(np.array([5.0, 6.0])) == (5.5, -np.inf, np.inf)


def test_the_largest_of_one_is_that_one():
    (one,) = Largest([mean_estimate(np.random.default_rng(5).lognormal(size=50))]).parts
    assert Largest([one]).interval() == one.interval()
    for bound in (1.0, 1.5, 2.0):
        assert Largest([one]).chance_above(bound) == one.chance_above(bound)
        assert Largest([one]).chance_below(bound) == pytest.approx(one.chance_below(bound))


def test_the_largest_is_as_unsure_as_the_least_sure_of_all():
    noise = np.random.default_rng(12).normal(size=60)
    noise -= noise.mean()
    sure, unsure = mean_estimate(1.0 + 0.1 * noise), mean_estimate(0.9 + 5.0 * noise)
    both = Largest([sure, unsure])
    assert both.value == sure.value
    assert both.chance_above(1.2) == unsure.chance_above(1.2) > 0.1 > sure.chance_above(1.2)
    assert both.interval().high == unsure.interval().high > 1.5 > sure.interval().high


@pytest.mark.heavy
@pytest.mark.parametrize("others", [0.0, -5.0])  # all alike, which is hardest, or one alone in front
def test_the_largest_of_several_keeps_its_level(others):
    rng = np.random.default_rng(11)
    n_above = n_below = n_covered = 0
    for _ in range(200):
        parts = [mean_estimate(rng.normal(1.0 + others * (place > 0), 1.0, size=40)) for place in range(8)]
        found = Largest(parts)
        n_above += found.chance_below(1.0) <= 0.025
        n_below += found.chance_above(1.0) <= 0.025
        n_covered += found.interval().low <= 1.0 <= found.interval().high
    assert n_above <= 12  # 2.5 % of 200 is 5; the largest alone, judged as if it were the only one, gives 18 %
    assert n_below <= 12
    assert n_covered >= 184


def test_growth_of_one_over_growth_of_another_is_paired():
    runs = np.random.default_rng(6).lognormal(size=50)  # how hard each run was, for both
    growth = exponential(log_growth_ratio((4.0 * runs, 2.0 * runs), (3.0 * runs, 2.0 * runs)).interval())
    assert growth == pytest.approx((4 / 3, 4 / 3, 4 / 3))
    noise = np.random.default_rng(7).normal(size=50)
    both = (40.0 + noise, 20.0 + 0.0 * noise), (3.0 * runs, 2.0 * runs)
    value, low, high = exponential(log_growth_ratio(*both).interval())
    assert low < value < high
    assert value == pytest.approx((40.0 + noise.mean()) / 20.0 / 1.5)
    assert high - low == pytest.approx(2 * 1.96 * standard_error(noise) / 30.0, rel=0.15)


@pytest.mark.heavy
@pytest.mark.parametrize("paired", [True, False])
def test_exponents_cover_the_truth(paired):
    rng = np.random.default_rng(10)
    sizes = [100.0, 400.0, 1600.0]

    def draw():
        hard = rng.lognormal(sigma=0.5, size=40)
        samples = []
        for size in sizes:
            hard = hard if paired else rng.lognormal(sigma=0.5, size=40)
            samples.append(size**0.4 * hard * rng.lognormal(sigma=0.3, size=40))
        return samples

    share = covered(draw, 0.4, lambda samples: growth_exponent(sizes, samples, paired=paired).interval(), 200)
    assert 0.9 <= share <= 0.985


def test_a_mean_of_zero_is_infinitely_far_and_no_warning():
    values = np.zeros((30, 2))
    values[0, 0], values[:, 1] = 1.0, 1.0
    estimate = log_estimate(values, (1.0, -1.0))
    assert np.isneginf(estimate.resampled).any()
    assert estimate.interval().low == -np.inf or np.isfinite(estimate.interval().low)


def test_many_ratios_at_once_are_those_one_by_one():
    rng = np.random.default_rng(8)
    samples = [rng.exponential(size=60) + 0.5 for _ in range(4)]
    samples.append(3.0 * samples[0])  # in proportion: the ratio has no error
    together = largest_log_ratio(samples[:2], samples).parts
    one_by_one = [log_ratio(above, below) for above in samples[:2] for below in samples if above is not below]
    assert len(together) == len(one_by_one) == 8
    for fast, slow in zip(together, one_by_one, strict=True):
        assert fast.value == pytest.approx(slow.value)
        assert fast.error == pytest.approx(slow.error)
        np.testing.assert_allclose(fast.resampled, slow.resampled, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(fast.errors, slow.errors, rtol=1e-6, atol=1e-12)
    assert together[3].error == 0.0


def test_a_largest_of_which_one_is_known_exactly_is_judged_by_the_others_too():
    rng = np.random.default_rng(9)
    own = rng.exponential(size=80) + 1.0
    noisy = own * 1.02 + rng.normal(0.0, 0.4, size=80)
    both = largest_log_ratio([own], [own.copy(), noisy])
    assert both.parts[0].error == 0.0
    assert both.chance_below(0.0) == 0.0  # it equals the first, which is not below it
    alone = log_ratio(own, noisy)
    assert both.chance_above(np.log(1.05)) == pytest.approx(alone.chance_above(np.log(1.05)))
    assert 0.0 < alone.chance_above(np.log(1.05)) < 1e-3
    same = largest_log_ratio([own], [own.copy(), own.copy()])
    assert (same.chance_above(0.1), same.chance_below(0.1)) == (0.0, 1.0)
    assert same.interval() == (0.0, 0.0, 0.0)


def test_a_largest_of_a_single_run_says_nothing():
    one = largest_log_ratio([np.array([2.0])], [np.array([1.0]), np.array([3.0])])
    assert one.interval()[1:] == (-np.inf, np.inf)
    assert one.chance_above(9.0) == 1.0
