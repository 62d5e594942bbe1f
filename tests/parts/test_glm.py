"""Generalised linear models: fits against SciPy, whatever the responses, and numbers that are hard to fit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, special

from corebandit.contracts.state import carry_over
from corebandit.parts.glm import MOST_STEPS, new_glm
from corebandit.parts.likelihood import LINKS, mean_reward

every_link = pytest.mark.parametrize("link", LINKS)

CUMULANT = {
    "logistic": lambda eta: np.logaddexp(0.0, eta),
    "poisson": np.exp,
    "identity": lambda eta: 0.5 * eta * eta,
}
MEAN = {"logistic": special.expit, "poisson": np.exp, "identity": lambda eta: eta}
SLOPE = {"logistic": lambda eta: special.expit(eta) * special.expit(-eta), "poisson": np.exp, "identity": np.ones_like}


def generator(*key):
    return np.random.default_rng(list(key))


def model_of(link, rows, counts, sums, sigma0=1.0, most_steps=MOST_STEPS):
    """Return a model that has seen `counts` observations of each row, whose responses add up to `sums`."""
    rows = np.asarray(rows, dtype=float)
    model = new_glm(len(rows), rows.shape[1], len(rows), link, sigma0, most_steps)
    for arm, (x, n, total) in enumerate(zip(rows, counts, sums, strict=True)):
        model.learn(arm, x, float(total), float(n))
    return model


def objective(link, rows, counts, sums, theta, sigma0):
    """Return the penalised log-likelihood."""
    eta = rows @ theta
    return float(sums @ eta - counts @ CUMULANT[link](eta) - theta @ theta / (2 * sigma0**2))


def distance(link, rows, counts, sums, theta, sigma0):
    """Return how far theta is from the maximum, in standard deviations of the posterior."""
    eta = rows @ theta
    gradient = rows.T @ (sums - counts * MEAN[link](eta)) - theta / sigma0**2
    curvature = rows.T @ ((counts * SLOPE[link](eta))[:, None] * rows) + np.eye(rows.shape[1]) / sigma0**2
    return math.sqrt(gradient @ np.linalg.solve(curvature, gradient))


def exact_distance(link, rows, counts, sums, theta, sigma0):
    """Return `distance`, where only the mean and the slope of each row are rounded: all sums are of fractions."""
    rows = [[Fraction(entry) for entry in row] for row in rows.tolist()]
    theta = [Fraction(entry) for entry in theta.tolist()]
    eta = np.array([float(sum(a * b for a, b in zip(row, theta, strict=True))) for row in rows])
    residuals = [Fraction(r) - Fraction(n) * Fraction(m) for r, n, m in zip(sums, counts, MEAN[link](eta), strict=True)]
    weights = [Fraction(n) * Fraction(slope) for n, slope in zip(counts, SLOPE[link](eta), strict=True)]
    precision, places = 1 / Fraction(sigma0) ** 2, range(len(theta))
    gradient = [sum(r * row[j] for r, row in zip(residuals, rows, strict=True)) - precision * theta[j] for j in places]
    table = [
        [sum(w * row[j] * row[k] for w, row in zip(weights, rows, strict=True)) + (j == k) * precision for k in places]
        for j in places
    ]
    decrement, left = Fraction(0), list(gradient)
    for k in places:  # elimination, which leaves the squares to add up
        decrement += left[k] ** 2 / table[k][k]
        for j in range(k + 1, len(theta)):
            share = table[j][k] / table[k][k]
            left[j] -= share * left[k]
            table[j] = [a - share * b for a, b in zip(table[j], table[k], strict=True)]
    return math.sqrt(decrement)


def some_data(link, seed, n_rows=12, d=4):
    """Return rows, counts and sums of real-valued responses, some outside what the link can mean."""
    noise = generator(1, seed)
    rows, counts = noise.normal(size=(n_rows, d)), noise.integers(1, 30, n_rows).astype(float)
    means = MEAN[link](rows @ noise.normal(size=d) / 2)
    return rows, counts, counts * means + np.sqrt(counts) * noise.normal(size=n_rows)


# Against SciPy ----------------------------------------------------------------------------------------------------


@every_link
@pytest.mark.parametrize("sigma0", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("seed", range(5))
def test_estimates_are_those_of_scipy(link, sigma0, seed):
    rows, counts, sums = some_data(link, seed)
    model = model_of(link, rows, counts, sums, sigma0)
    assert model.fit_rewards()

    def loss(theta):
        return -objective(link, rows, counts, sums, theta, sigma0)

    def slope(theta):
        return theta / sigma0**2 - rows.T @ (sums - counts * MEAN[link](rows @ theta))

    found = optimize.minimize(loss, np.zeros(4), jac=slope, method="BFGS", options={"gtol": 1e-9, "maxiter": 1000})
    np.testing.assert_allclose(model.theta, found.x, atol=1e-6)
    assert distance(link, rows, counts, sums, model.theta, sigma0) < 1e-7


@every_link
def test_the_factor_is_that_of_the_curvature(link):
    rows, counts, sums = some_data(link, 7)
    model = model_of(link, rows, counts, sums, sigma0=2.0)
    model.fit_rewards()
    slopes = counts * SLOPE[link](rows @ model.theta)
    np.testing.assert_allclose(np.tril(model.factor, -1)[1:, 0], 0.0, atol=1e-300)
    upper = np.triu(model.factor)
    np.testing.assert_allclose(upper.T @ upper, rows.T @ (slopes[:, None] * rows) + np.eye(4) / 4.0, rtol=1e-4)


@every_link
def test_responses_may_differ_from_the_rewards(link):
    rows, counts, sums = some_data(link, 8)
    model = model_of(link, rows, counts, sums)
    model.fit_rewards()
    perturbed = sums + np.sqrt(counts) * generator(2).normal(size=sums.size)
    model.responses[:] = perturbed
    assert model.fit()
    assert distance(link, rows, counts, perturbed, model.theta, 1.0) < 1e-7
    assert distance(link, rows, counts, sums, model.theta, 1.0) > 0.1
    assert np.array_equal(model.sums, sums)


@every_link
def test_from_wherever_it_starts_a_fit_ends_at_the_same_place(link):
    rows, counts, sums = some_data(link, 9)
    fresh = model_of(link, rows, counts, sums)
    fresh.fit_rewards()
    for start in (1.0, -30.0, 1e5, 1e200):
        model = model_of(link, rows, counts, sums)
        model.theta[:] = start
        assert model.fit_rewards()
        np.testing.assert_allclose(model.theta, fresh.theta, atol=1e-7)


@every_link
def test_rewards_of_one_row_are_fitted_as_one_group(link):
    noise = generator(3)
    rows, arms = noise.normal(size=(5, 3)), noise.integers(0, 5, 80)
    rewards = noise.random(80)
    gathered, apart = new_glm(5, 3, 80, link, 1.0), new_glm(80, 3, 80, link, 1.0)
    for index, (arm, reward) in enumerate(zip(arms, rewards, strict=True)):
        gathered.learn(int(arm), rows[arm], float(reward), 1.0)
        apart.learn(index, rows[arm], float(reward), 1.0)
    assert gathered.fit_rewards()
    assert apart.fit_rewards()
    assert (gathered.groups.n_used[0], apart.groups.n_used[0]) == (5, 80)
    np.testing.assert_allclose(gathered.theta, apart.theta, atol=1e-9)


@every_link
def test_a_model_given_more_room_goes_on_as_if_it_had_been_large_from_the_start(link):
    noise = generator(4)
    small, large = new_glm(2, 3, 10, link, 1.0), new_glm(5, 3, 40, link, 1.0)
    for index in range(30):
        if index == 10:
            outgrown, small = small, new_glm(5, 3, 40, link, 1.0)
            carry_over(outgrown, small)
        arm, x, reward = int(noise.integers(2)), noise.normal(size=3), float(noise.random())
        for model in (small, large):
            model.learn(arm, x, reward, 1.0)
            model.fit_rewards()
        assert np.array_equal(small.theta, large.theta)
        assert np.array_equal(small.factor, large.factor)


def test_means_are_those_of_the_links():
    for eta in (-800.0, -2.0, 0.0, 0.7, 40.0):
        assert mean_reward(0, eta) == pytest.approx(special.expit(eta), rel=1e-12)
        assert mean_reward(2, eta) == eta
    assert mean_reward(1, 3.0) == pytest.approx(math.exp(3.0))
    assert math.isfinite(mean_reward(1, 1e6))


# What is hard to fit ----------------------------------------------------------------------------------------------


def test_before_anything_is_seen_the_estimate_is_zero():
    model = new_glm(3, 2, 10, "logistic", 2.0)
    assert not model.fit_rewards()  # there is nothing new
    assert np.array_equal(model.theta, [0.0, 0.0])
    np.testing.assert_allclose(np.triu(model.factor), np.eye(2) / 2.0)


@every_link
@pytest.mark.parametrize("scale", [0.0, 1e-100, 1e-6, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("outcome", ["separable", "all 0", "all 1", "beyond", "mixed"])
def test_fits_of_features_of_any_scale_converge(link, scale, outcome):
    noise = generator(5)
    directions = noise.normal(size=(20, 3))
    rows, counts = scale * directions, noise.integers(1, 50, 20).astype(float)
    wins = (directions @ [1.0, -2.0, 0.5] > 0).astype(float)
    sums = {
        "separable": counts * wins,
        "all 0": np.zeros(20),
        "all 1": counts,
        "beyond": counts * (3.0 * wins - 1.0),  # below 0 and above the counts, as perturbed rewards can be
        "mixed": counts * noise.random(20),
    }[outcome]
    model = model_of(link, rows, counts, sums)
    model.responses[:] = sums
    assert model.fit()
    assert model.fits.tolist() == [1, 0]
    assert np.isfinite(model.theta).all()
    assert np.isfinite(model.factor).all()
    if scale <= 1e3:
        assert distance(link, rows, counts, sums, model.theta, 1.0) < 1e-5
    best = objective(link, rows, counts, sums, model.theta, 1.0)
    assert best >= objective(link, rows, counts, sums, np.zeros(3), 1.0)
    for _ in range(20):
        elsewhere = model.theta * (1.0 + 0.01 * noise.normal(size=3))
        assert objective(link, rows, counts, sums, elsewhere, 1.0) <= best + 1e-9 * max(1.0, abs(best))


@every_link
def test_columns_of_very_different_scales_are_told_apart(link):
    rows = generator(6).normal(size=(20, 3)) * [1e6, 1.0, 1e-3]
    rows[:, 1] += rows[:, 0]  # nearly the same direction: the curvature, formed, would be singular
    counts = np.full(20, 10.0)
    sums = counts * generator(7).random(20)
    model = model_of(link, rows, counts, sums)
    model.responses[:] = sums
    assert model.fit()
    assert exact_distance(link, rows, counts, sums, model.theta, 1.0) < 1e-3
    assert np.isfinite(model.factor).all()


@every_link
@pytest.mark.parametrize("seed", range(4))
def test_the_factor_of_nearly_parallel_columns_is_that_of_their_rows(link, seed):
    rows = generator(8, seed).normal(size=(20, 3))
    rows[:, 0] *= 1e9
    rows[:, 1] += rows[:, 0]  # formed, the curvature would have lost all digits of the difference
    counts, theta = np.full(20, 10.0), np.zeros(3)
    model = model_of(link, rows, counts, counts * MEAN[link](rows @ theta))
    model.responses[:20] = model.sums[:20]
    assert model.fit()
    stacked = np.vstack([np.sqrt(counts * SLOPE[link](rows @ theta))[:, None] * rows, np.eye(3)])
    expected = np.abs(np.linalg.qr(stacked, mode="r").diagonal())
    np.testing.assert_allclose(np.abs(model.factor.diagonal()), expected, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e2, 1e3, 1e4])
def test_perturbed_responses_of_large_features_are_fitted_in_one_go(scale):
    noise = generator(12)
    rows, counts = scale * noise.normal(size=(20, 5)), noise.integers(1, 80, 20).astype(float)
    wins = counts * special.expit(rows @ noise.normal(size=5) / scale)
    model = model_of("logistic", rows, counts, wins)
    for _ in range(50):  # steps that merely gain zigzag along the edges of these likelihoods
        model.responses[:] = wins + np.sqrt(counts) * noise.normal(size=20)
        assert model.fit()
        assert distance("logistic", rows, counts, model.responses, model.theta, 1.0) < 1e-3


def test_poisson_fits_follow_large_counts():
    model = model_of("poisson", [[1.0], [1.0]], [10.0, 10.0], [1e7, 3e7], sigma0=100.0)
    assert model.fit_rewards()
    assert math.exp(model.theta[0]) == pytest.approx(2e6, rel=1e-3)


def test_a_fit_that_does_not_converge_says_so_and_is_counted():
    rows, counts, sums = some_data("logistic", 10)
    model = model_of("logistic", rows, counts, sums, sigma0=10.0, most_steps=1)
    before = objective("logistic", rows, counts, sums, model.theta, 10.0)
    assert model.fit_rewards()
    assert model.fits.tolist() == [1, 1]
    assert objective("logistic", rows, counts, sums, model.theta, 10.0) > before
    n_fits = 1
    while model.fit_rewards():  # each goes on where the last one stopped
        n_fits += 1
    assert 1 < n_fits < 10
    assert model.fits.tolist() == [n_fits, n_fits - 1]
    assert distance("logistic", rows, counts, sums, model.theta, 10.0) < 1e-7


@every_link
@pytest.mark.parametrize("reward", [1e100, 1e200, 1e300])
def test_responses_beyond_all_measure_leave_no_nan(link, reward):
    model = model_of(link, [[1.0, 2.0], [3.0, -1.0]], [1.0, 1.0], [reward, 0.5])
    model.fit_rewards()
    assert np.isfinite(model.theta).all()


@every_link
def test_no_step_is_for_the_worse(link):
    rows, counts, sums = some_data(link, 11)
    rows = 5.0 * rows
    reached = []
    for most_steps in range(1, 12):
        model = model_of(link, rows, counts, sums, sigma0=10.0, most_steps=most_steps)
        model.fit_rewards()
        reached.append(objective(link, rows, counts, sums, model.theta, 10.0))
    assert np.all(np.diff(reached) >= -1e-9)
    assert reached[-1] > reached[0]
