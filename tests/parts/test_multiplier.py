"""The law of RandUCB's multiple, against its formula."""

import numpy as np
import pytest
from scipy import stats

from corebandit.parts.multiplier import check_multiplier, new_multiplier
from corebandit.randomness.stream import stream


@pytest.mark.parametrize(("optimistic", "lowest"), [(True, 0.0), (False, -1.0)])
@pytest.mark.parametrize(("n_points", "spread"), [(20, 0.125), (5, 1.0)])
def test_multiples_have_the_weights_of_a_normal_density(optimistic, lowest, n_points, spread):
    points = np.linspace(lowest, 1.0, n_points)
    weights = stats.norm.pdf(points, scale=spread)
    weights[-1] = 1e-6 * weights.max() / stats.norm.pdf(0.0, scale=0.125)
    multiplier, rng = new_multiplier(n_points, spread, optimistic), stream(1, "multiple")
    draws = np.array([multiplier.multiple(rng) for _ in range(20_000)])
    observed = np.array([(draws == point).sum() for point in points])
    assert observed.sum() == draws.size
    expected = weights / weights.sum() * draws.size
    likely = expected > 5
    assert observed[~likely].sum() <= 3 * expected[~likely].sum() + 3
    shares = expected[likely] / expected[likely].sum()
    assert stats.chisquare(observed[likely], shares * observed[likely].sum()).pvalue > 1e-3


def test_the_default_law_has_a_millionth_in_place_of_the_last_density():
    weights = stats.norm.pdf(np.linspace(0.0, 1.0, 20), scale=0.125)
    weights[-1] = 1e-6
    assert np.abs(new_multiplier(20, 0.125, True).up_to - np.cumsum(weights / weights.sum())).max() < 1e-15


@pytest.mark.parametrize("optimistic", [True, False])
@pytest.mark.parametrize("spread", [1e-320, 0.001, 0.01, 1e6, 1e300])
def test_the_full_width_is_unlikely_however_small_or_large_the_spread(spread, optimistic):
    multiplier = new_multiplier(20, spread, optimistic)
    shares = np.diff(multiplier.up_to, prepend=0.0)
    assert 0.0 < shares[-1] < 1e-6
    if spread >= 1e6:
        assert shares[:-1] == pytest.approx(np.full(19, 1 / 19), abs=1e-6)
    else:  # the points next to 0 take it all
        distances = np.abs(multiplier.points)
        assert shares[distances < distances.min() + 1e-9].sum() == pytest.approx(1.0, abs=1e-5)


def test_probabilities_end_at_one():
    assert new_multiplier(20, 0.125, True).up_to[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ((1, 0.1, True, True), "n_points must be a whole number of at least 2, not 1"),
        ((2, 0.0, True, True), "spread must be a number above 0, not 0.0"),
        ((2, 0.1, 1, True), "optimistic must be True or False, not 1"),
        ((2, 0.1, True, "no"), "coupled must be True or False, not 'no'"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_multiplier(*parameters)
