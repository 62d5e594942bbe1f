import numpy as np
import pytest

from corebandit.statistics.estimates import mean_estimate
from corebandit.statistics.tails import share_beyond

RUNS = {
    "normal": lambda rng: rng.normal(size=300),
    "lognormal": lambda rng: rng.lognormal(sigma=1.2, size=300),
    "5 % dear": lambda rng: np.where(rng.random(300) < 0.05, 30.0, rng.lognormal(sigma=0.5, size=300)),
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", RUNS)
def test_shares_are_those_of_two_hundred_thousand_resamples(name):
    rng = np.random.default_rng(3)
    runs = RUNS[name](rng)
    centred, found = runs - runs.mean(), []
    for _ in range(100):
        weights = rng.multinomial(300, np.full(300, 1 / 300), size=2_000) / 300
        means = weights @ centred
        found.append(means / np.sqrt((weights @ centred**2 - means**2) / 299))
    many, few = np.concatenate(found), mean_estimate(runs).distances
    for sign in (1.0, -1.0):
        for share in (1e-2, 1e-3, 1e-4):
            point = np.quantile(sign * many, 1.0 - share)
            assert 0.5 * share <= share_beyond(sign * few, point) <= 5.0 * share


def test_shares_are_counted_where_there_are_enough_to_count():
    distances = np.random.default_rng(1).normal(size=8_000)
    assert share_beyond(distances, 1.0) == (1 + (distances >= 1.0).sum()) / 8_001


def test_shares_fall_without_end_and_without_a_jump():
    distances = np.random.default_rng(2).standard_t(4, size=8_000)
    shares = np.array([share_beyond(distances, point) for point in np.geomspace(0.01, 5_000.0, 1_000)])
    assert (np.diff(shares) <= 0.0).all()
    assert 0.0 < shares[-1] < 1e-9
    near = np.array([share_beyond(distances, point) for point in np.linspace(2.5, 3.5, 500)])
    assert (np.diff(near) >= -6e-4).all()


def test_what_is_endlessly_far_counts_as_often_as_it_is_seen():
    distances = np.r_[np.full(40, np.inf), np.random.default_rng(3).normal(size=7_960)]
    assert share_beyond(distances, 50.0) == pytest.approx(40 / 8_001, rel=1e-6)
    assert share_beyond(np.full(8_000, np.inf), 3.0) == 1.0
    assert share_beyond(np.zeros(8_000), 1.0) == 1.0 / 8_001  # of equals nothing finer is known
