import numpy as np
import pytest

from corebandit.experiments.statistics import (
    growth_ratio_interval,
    mean_interval,
    mean_intervals,
    ratio_interval,
    standard_error,
)


def test_the_interval_of_a_mean_covers_it_as_often_as_it_says():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(300):
        _, low, high = mean_interval(rng.normal(3.0, 2.0, size=60))
        covered += low <= 3.0 <= high
    assert 270 <= covered <= 297  # 95 % of 300 is 285


def test_the_interval_is_about_two_standard_errors_wide():
    values = np.random.default_rng(2).normal(size=400)
    value, low, high = mean_interval(values)
    assert value == values.mean()
    assert high - low == pytest.approx(2 * 1.96 * standard_error(values), rel=0.1)


def test_columns_are_treated_alike():
    values = np.random.default_rng(3).normal(size=(50, 3))
    means, lows, highs = mean_intervals(values)
    for column in range(3):
        assert mean_interval(values[:, column]) == pytest.approx((means[column], lows[column], highs[column]))


def test_a_ratio_of_paired_runs_is_narrow():
    hardness = np.random.default_rng(4).lognormal(size=100)
    value, low, high = ratio_interval(2.0 * hardness, hardness)
    assert (value, low, high) == pytest.approx((2.0, 2.0, 2.0))


def test_a_single_run_has_an_interval_of_no_width():
    assert mean_interval(np.array([5.0])) == (5.0, 5.0, 5.0)
    assert standard_error(np.array([5.0])) == 0.0


def test_growth_of_one_over_growth_of_another_is_paired():
    runs = np.random.default_rng(6).lognormal(size=50)  # how hard each run was, for both
    value, low, high = growth_ratio_interval((4.0 * runs, 2.0 * runs), (3.0 * runs, 2.0 * runs))
    assert (value, low, high) == pytest.approx((4 / 3, 4 / 3, 4 / 3))
    noise = np.random.default_rng(7).normal(size=50)
    value, low, high = growth_ratio_interval((40.0 + noise, 20.0 + 0.0 * noise), (3.0 * runs, 2.0 * runs))
    assert low < value < high
    assert value == pytest.approx((40.0 + noise.mean()) / 20.0 / 1.5)
    assert high - low == pytest.approx(2 * 1.96 * standard_error(noise) / 30.0, rel=0.1)
