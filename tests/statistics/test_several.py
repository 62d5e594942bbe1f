import numpy as np
import pytest

from corebandit.statistics.estimates import mean_interval
from corebandit.statistics.several import holm, maybe_lowest


def test_holm_steps_down():
    assert holm([0.04, 0.01, 0.03], 0.05) == [False, True, False]
    assert holm([0.01, 0.02, 0.049], 0.05) == [True, True, True]
    assert holm([0.025, 0.05], 0.05) == [True, True]  # as small as the level is small enough, as for one alone
    assert holm([], 0.05) == []


def alike(rng, n_runs, failing=0.0):
    """Return regrets of eight policies that are alike, paired."""
    regret = rng.lognormal(sigma=0.5, size=(n_runs, 1)) * rng.lognormal(sigma=0.4, size=(n_runs, 8))
    return np.where(rng.random((n_runs, 8)) < failing, regret + 30.0, regret)


def beside_the_luckiest(samples):
    """Tell which may be the lowest as version 0.5 did: each compared with the lowest mean, one by one."""
    best = samples[:, samples.mean(axis=0).argmin()]
    return [mean_interval(sample - best).low <= 0.0 for sample in samples.T]


@pytest.mark.heavy
@pytest.mark.parametrize(("n_runs", "failing"), [(20, 0.0), (200, 0.0), (20, 0.03), (400, 0.03)])
def test_of_equal_policies_hardly_ever_is_one_called_worse(n_runs, failing):
    rng = np.random.default_rng(1)
    samples = [alike(rng, n_runs, failing) for _ in range(100)]
    assert sum(not maybe_lowest(each).all() for each in samples) <= 9  # 5 of 100; more than 9 in 3 % of tests
    assert sum(not all(beside_the_luckiest(each)) for each in samples[:30]) >= 9


@pytest.mark.parametrize("failing", [0.0, 0.03])
def test_what_is_worse_is_found(failing):
    samples = alike(np.random.default_rng(2), 1_000, failing)
    samples[:, 3:] += 1.0
    assert maybe_lowest(samples).tolist() == [True] * 3 + [False] * 5


def test_what_is_far_off_does_not_hide_what_is_a_little_worse():
    """Once the dear and noisy ones are out, the rest is compared with less to allow for."""
    rng = np.random.default_rng(3)
    pair = rng.normal(size=(50, 2)) * 0.1
    pair[:, 1] += 0.051 - (pair[:, 1] - pair[:, 0]).mean()
    far = 100.0 + rng.lognormal(sigma=1.5, size=(50, 30))
    assert maybe_lowest(pair).tolist() == [True, False]
    assert maybe_lowest(np.hstack([pair, far])).tolist() == [True, False] + [False] * 30


def test_what_cannot_be_told_apart_is_left():
    assert maybe_lowest(np.ones((1, 3))).all()  # a single run
    assert maybe_lowest(np.array([[1.0, 9.0], [2.0, 1.0]])).all()
    same = np.random.default_rng(4).normal(size=(30, 1))
    assert maybe_lowest(np.hstack([same, same])).all()
    assert maybe_lowest(np.hstack([same, same + 1.0])).tolist() == [True, False]
    assert maybe_lowest(same).all()


def test_many_pairs_are_compared_in_pieces(monkeypatch):
    samples = alike(np.random.default_rng(5), 60)
    samples[:, 5:] += 0.3
    at_once = maybe_lowest(samples)
    monkeypatch.setattr("corebandit.statistics.several.MOST_CELLS", 6_000)
    assert maybe_lowest(samples).tolist() == at_once.tolist()
    assert 0 < at_once.sum() < 8
