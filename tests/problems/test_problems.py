import numpy as np
import pytest
from scipy import stats

import corebandit as cb
from corebandit.randomness.stream import stream


@pytest.mark.parametrize(
    "problem",
    [
        cb.BernoulliBandit(),
        cb.BetaBandit(),
        cb.GaussianBandit(),
        cb.MixedBandit(),
        cb.StudentTBandit(),
        cb.UnequalBandit(),
    ],
)
def test_means_are_uniform_as_in_the_paper(problem):
    means = np.concatenate([problem.draw(stream(1, run)).means for run in range(300)])
    assert stats.kstest(means, stats.uniform(0.25, 0.5).cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    ("law", "oracle"),
    [
        (cb.Beta(1.2, 2.8), stats.beta(1.2, 2.8)),
        (cb.Gaussian(0.3, sigma=0.5), stats.norm(0.3, 0.5)),
        (cb.Uniform(-1, 3), stats.uniform(-1, 4)),
        (cb.Exponential(2.0), stats.expon(scale=2.0)),
        (cb.StudentT(0.3, sigma=0.5), stats.t(3, loc=0.3, scale=0.5 / 3**0.5)),
        (cb.Purchase(1.0, amount=2.0), stats.lognorm(1.0, scale=2.0 * np.exp(-0.5))),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
def test_arms_pay_by_their_law(law, oracle):
    arms, rng = cb.FixedArms([law]).draw(None), stream(2, law.name)
    rewards = [arms.pull(0, rng) for _ in range(20_000)]
    assert stats.kstest(rewards, oracle.cdf).pvalue > 1e-4
    assert law.mean == pytest.approx(oracle.mean())


def test_mixed_arms_differ_in_law_and_variance():
    arms = cb.MixedBandit(n_arms=9).draw(stream(3))
    assert arms.laws.tolist() == [0, 1, 2] * 3
    assert len(set(arms.b[2::3])) == 3


def test_a_purchase_is_as_frequent_as_it_says():
    arms, rng = cb.FixedArms([cb.Purchase(0.3, amount=2.0)]).draw(None), stream(5)
    is_paid = np.array([arms.pull(0, rng) for _ in range(20_000)]) > 0.0
    assert stats.binomtest(int(is_paid.sum()), is_paid.size, 0.3).pvalue > 1e-4
    assert cb.Purchase(0.3, amount=2.0).mean == 0.6


def test_unequal_arms_have_noise_of_log_uniform_size():
    drawn = [cb.UnequalBandit().draw(stream(6, run)) for run in range(300)]
    logs = np.log(np.concatenate([arms.b for arms in drawn]))
    assert stats.kstest(logs, stats.uniform(np.log(0.1), np.log(10.0)).cdf).pvalue > 1e-4
    assert abs(np.corrcoef(logs, np.concatenate([arms.means for arms in drawn]))[0, 1]) < 0.1


def test_arms_of_purchases_differ_in_how_often_and_how_much():
    drawn = [cb.PurchaseBandit().draw(stream(7, run)) for run in range(300)]
    often, amounts = (np.concatenate([getattr(arms, name) for arms in drawn]) for name in ("a", "b"))
    assert stats.kstest(often, stats.uniform(0.02, 0.03).cdf).pvalue > 1e-4
    assert stats.kstest(amounts, stats.uniform(10.0, 20.0).cdf).pvalue > 1e-4
    np.testing.assert_array_equal(often * amounts, np.concatenate([arms.means for arms in drawn]))


def test_the_beta_arms_have_the_papers_variance():
    arms = cb.BetaBandit().draw(stream(4))
    assert arms.a + arms.b == pytest.approx(np.full(10, 4.0))
    assert arms.a / 4.0 == pytest.approx(arms.means)


def test_the_support_covers_all_arms():
    assert cb.FixedArms([cb.Bernoulli(0.3), cb.Uniform(-1, 0.5)]).support == (-1, 1)
    assert cb.FixedArms([cb.Exponential(), cb.Bernoulli(1)]).support == (0, np.inf)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: cb.BernoulliBandit(n_arms=0), "n_arms must be a whole number of at least 1, not 0"),
        (lambda: cb.BernoulliBandit(high=1.5), "high must be a number of at least 0.25 and of at most 1, not 1.5"),
        (lambda: cb.BetaBandit(v=0), "v must be a number above 0, not 0"),
        (lambda: cb.BetaBandit(low=0), "low must be a number of at least 1e-06"),
        (lambda: cb.GaussianBandit(sigma=-1), "sigma must be a number of at least 0, not -1"),
        (lambda: cb.GaussianBandit(low=1, high=0), "high must be a number of at least 1, not 0"),
        (lambda: cb.FixedArms([]), "laws must name at least one arm"),
        (lambda: cb.FixedArms([0.5]), "laws must be a list of laws such as Bernoulli"),
        (lambda: cb.Bernoulli(2), "p must be a number of at least 0 and of at most 1, not 2"),
        (lambda: cb.Uniform(2, 1), "high must be a number of at least 2, not 1"),
        (lambda: cb.StudentTBandit(sigma=-1), "sigma must be a number of at least 0, not -1"),
        (lambda: cb.UnequalBandit(least_sigma=0), "least_sigma must be a number above 0, not 0"),
        (lambda: cb.PurchaseBandit(most=1), "most must be a number of at least 10, not 1"),
        (lambda: cb.Purchase(2), "p must be a number of at least 0 and of at most 1, not 2"),
        (lambda: cb.StudentT(0, sigma=-1), "sigma must be a number of at least 0, not -1"),
        (lambda: cb.MixedBandit(most_sigma=0), "most_sigma must be a number of at least 0.1, not 0"),
    ],
)
def test_bad_parameters_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
