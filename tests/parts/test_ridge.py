"""Regression one observation at a time, against solutions in exact arithmetic and decompositions of all the rows."""

import math
from fractions import Fraction

import numpy as np
import pytest

from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.state import FloatArray
from corebandit.parts.ridge import (
    Noise,
    Ridge,
    longest_squared,
    new_noise,
    new_ridge,
    predict,
    rotate_in,
    solve_lower,
    solve_upper,
    squared_widths,
    times_transposed,
)
from corebandit.parts.span import new_span

EPSILON = float(np.finfo(float).eps)


@EntryPoint
def add_all(ridge: Ridge, rows: FloatArray, y: FloatArray, times: int) -> float:
    """Add all rows, again and again; return the least that was ever on the diagonal of the factor."""
    least = np.inf
    for _ in range(times):
        for i in range(rows.shape[0]):
            ridge.add(rows[i], y[i], 1.0)
            for k in range(rows.shape[1]):
                least = min(least, ridge.factor[k, k])
    return least


def generator(*key: int) -> np.random.Generator:
    return np.random.default_rng(list(key))


def ridge_of(rows: FloatArray, y: FloatArray, lam: float) -> Ridge:
    ridge = new_ridge(rows.shape[1], lam)
    assert add_all.compiled(ridge, rows, y, 1) > 0.0
    return ridge


def stacked(rows: FloatArray, y: FloatArray, lam: float) -> tuple[FloatArray, FloatArray]:
    """Return the least-squares problem that ridge regression is."""
    d = rows.shape[1]
    return np.vstack([math.sqrt(lam) * np.eye(d), rows]), np.concatenate([np.zeros(d), y])


def exact_theta(rows: FloatArray, y: FloatArray, lam: float, times: int = 1) -> FloatArray:
    """Solve (lam I + times X'X) theta = times X'y without any rounding: floats are whole numbers over a power of 2."""
    d = rows.shape[1]
    mantissas, exponents = np.frexp(np.column_stack([rows, y]))
    lowest = int(exponents.min())
    whole = np.ldexp(mantissas, 53).astype(np.int64).astype(object) << (exponents - lowest).astype(object)
    unit = Fraction(2) ** (2 * (lowest - 53))
    table = [[times * unit * int(entry) for entry in row] for row in whole[:, :d].T.dot(whole)]
    for k in range(d):
        table[k][k] += Fraction(lam)
    for k in range(d):  # Gauss and Jordan; positive definite, so no pivots are needed
        table[k] = [entry / table[k][k] for entry in table[k]]
        for other in range(d):
            if other != k:
                factor = table[other][k]
                table[other] = [a - factor * b for a, b in zip(table[other], table[k], strict=True)]
    return np.array([float(row[d]) for row in table])


def distance(theta: FloatArray, other: FloatArray, lengths: FloatArray) -> float:
    """Return the relative distance in columns of unit length: rotations do not see how columns are scaled."""
    return float(np.linalg.norm((theta - other) * lengths) / np.linalg.norm(other * lengths))


def sensitivity(theta: FloatArray, rows: FloatArray, y: FloatArray, lam: float) -> float:
    """Return how much relative errors of the data count for in the least-squares solution theta (Wedin's bound).

    That is the condition of the matrix, plus its square times the size of the residual; in columns of unit length.
    """
    a, b = stacked(rows, y, lam)
    lengths = np.linalg.norm(a, axis=0)
    condition = float(np.linalg.cond(a / lengths))
    residual = float(np.linalg.norm(a @ theta - b) / np.linalg.norm(theta * lengths))
    return condition * (1.0 + (condition + 1.0) * residual)


def random_rows(d: int, n: int) -> FloatArray:
    return generator(1, d).normal(size=(n, d))


def collinear_rows(gap: float) -> FloatArray:
    rows = random_rows(5, 20_000)
    rows[:, 1] = rows[:, 0] * (1.0 + gap * rows[:, 1])
    rows[:, 4] = rows[:, 2] - rows[:, 3] * (1.0 + gap * rows[:, 4])
    return rows


def scaled_rows() -> FloatArray:
    return random_rows(6, 20_000) * [1e-6, 1e3, 1.0, 1e-3, 1e2, 1e-5]


CASES = {
    "random": (random_rows(6, 20_000), 2.0**-10),
    "random, large ridge": (random_rows(6, 20_000), 1024.0),
    "collinear to 1e-5": (collinear_rows(1e-5), 2.0**-40),
    "collinear to 1e-6": (collinear_rows(1e-6), 2.0**-40),
    "collinear to 1e-7": (collinear_rows(1e-7), 2.0**-40),
    "collinear to 1e-8": (collinear_rows(1e-8), 2.0**-40),
    "scaled": (scaled_rows(), 2.0**-10),
    "scaled, small ridge": (scaled_rows(), 2.0**-60),
}
every_case = pytest.mark.parametrize("case", CASES)
every_noise = pytest.mark.parametrize("sigma", [0.0, 0.5])


def targets(rows: FloatArray, sigma: float) -> FloatArray:
    d = rows.shape[1]
    return rows @ np.linspace(-1.0, 1.0, d) + sigma * generator(2, d).normal(size=len(rows))


# Ridge ------------------------------------------------------------------------------------------------------------


@pytest.mark.heavy
@every_case
@every_noise
def test_20000_updates_are_as_accurate_as_the_condition_allows(case, sigma):
    rows, lam = CASES[case]
    y = targets(rows, sigma)
    a, b = stacked(rows, y, lam)
    lengths = np.linalg.norm(a, axis=0)
    fresh = np.linalg.lstsq(a / lengths, b)[0] / lengths
    exact = exact_theta(rows, y, lam)
    condition = sensitivity(exact, rows, y, lam)
    allowed = EPSILON * (2.0 * math.sqrt(len(rows)) + condition)  # roundings of every update, and what they count for
    theta = ridge_of(rows, y, lam).theta
    assert distance(theta, exact, lengths) < allowed
    assert distance(theta, fresh, lengths) < 2.0 * allowed
    allows_it = condition < 1e9
    assert allows_it == (sigma == 0.0 or case not in ("collinear to 1e-7", "collinear to 1e-8"))
    if allows_it:
        assert distance(theta, fresh, lengths) < 1e-6


@pytest.mark.heavy
@pytest.mark.parametrize("gap", [1e-6, 1e-7])
def test_collinear_features_cost_less_accuracy_than_with_normal_equations(gap):
    rows, lam = collinear_rows(gap), 2.0**-40
    y = targets(rows, 0.0)
    gram = rows.T @ rows + lam * np.eye(5)
    solutions = ridge_of(rows, y, lam).theta, np.linalg.solve(gram, rows.T @ y)
    exact, lengths = exact_theta(rows, y, lam), np.sqrt(np.diag(gram))
    error, error_of_normal = (distance(theta, exact, lengths) for theta in solutions)
    assert error < 1e-6 < error_of_normal
    assert 1000.0 * error < error_of_normal


@pytest.mark.heavy
def test_a_million_updates_do_not_drift():
    rows = random_rows(8, 1000)
    rows[:, 1] = rows[:, 0] + 1e-3 * rows[:, 1]
    y = targets(rows, 0.5)
    ridge, lam = new_ridge(8, 2.0**-10), 2.0**-10
    assert add_all.compiled(ridge, rows, y, 1000) > 0.0
    exact = exact_theta(rows, y, lam, times=1000)
    assert np.linalg.norm(ridge.theta - exact) < 1e-8 * np.linalg.norm(exact)
    gram = 1000.0 * rows.T @ rows + lam * np.eye(8)
    np.testing.assert_allclose(ridge.factor.T @ ridge.factor, gram, rtol=0, atol=1e-11 * gram.max())


@every_case
def test_the_factor_stays_an_upper_triangle_of_the_gram_matrix_and_positive_definite(case):
    rows, lam = CASES[case]
    rows = rows[:2000]
    ridge = ridge_of(rows, targets(rows, 0.5), lam)
    assert np.array_equal(ridge.factor, np.triu(ridge.factor))
    gram = rows.T @ rows + lam * np.eye(rows.shape[1])
    lengths = np.sqrt(np.diag(gram))
    scaled = ridge.factor / lengths
    np.testing.assert_allclose(scaled.T @ scaled, gram / np.outer(lengths, lengths), rtol=0, atol=1e-12)
    assert np.linalg.svd(scaled, compute_uv=False).min() > 0.0


def test_before_any_observation_the_estimate_is_zero_and_the_gram_matrix_the_ridge():
    ridge = new_ridge(3, 0.25)
    assert not ridge.theta.any()
    np.testing.assert_array_equal(ridge.factor.T @ ridge.factor, 0.25 * np.eye(3))
    assert ridge.log_det_ratio(0.25) == pytest.approx(0.0, abs=1e-15)


def test_weights_count_for_the_gram_matrix_and_not_for_the_right_hand_side():
    noise = generator(3)
    rows, y, weights = noise.normal(size=(40, 4)), noise.normal(size=40), noise.uniform(0.1, 9.0, 40)
    ridge = new_ridge(4, 0.5)
    for x, reward, weight in zip(rows, y, weights, strict=True):
        ridge.add(x, float(reward), float(weight))
    gram = 0.5 * np.eye(4) + np.einsum("i,ij,ik->jk", weights, rows, rows)
    np.testing.assert_allclose(ridge.factor.T @ ridge.factor, gram, rtol=1e-12)
    np.testing.assert_allclose(ridge.factor.T @ ridge.target, rows.T @ y, rtol=1e-10)
    np.testing.assert_allclose(ridge.theta, np.linalg.solve(gram, rows.T @ y), rtol=1e-10)


def test_an_observation_leaves_its_features_as_they_are():
    x = np.array([1.0, -2.0, 3.0])
    ridge, noise, span = new_ridge(3, 0.1), new_noise(3), new_span(3)
    ridge.add(x, 1.0, 1.0)
    noise.add(x, 1.0)
    span.add(x)
    widths_of(ridge, x[None])
    assert list(x) == [1.0, -2.0, 3.0]


def widths_of(ridge: Ridge, rows: FloatArray) -> FloatArray:
    widths = np.empty(len(rows))
    squared_widths(ridge.factor, rows, np.empty(rows.T.shape), widths)
    return widths


def some_ridge() -> tuple[Ridge, FloatArray]:
    rows = random_rows(6, 30) * [1.0, 2.0, 0.1, 1.0, 5.0, 1.0]
    return ridge_of(rows, targets(rows, 0.5), 0.5), rows.T @ rows + 0.5 * np.eye(6)


def test_the_response_to_a_right_hand_side_is_the_gram_matrix_solved():
    ridge, gram = some_ridge()
    rhs = generator(4).normal(size=6)
    answer, estimate = rhs.copy(), ridge.theta.copy()
    ridge.respond(answer)
    np.testing.assert_allclose(answer, np.linalg.solve(gram, rhs), rtol=1e-11)
    assert np.array_equal(ridge.theta, estimate)


def test_widths_and_determinants_are_those_of_the_gram_matrix():
    ridge, gram = some_ridge()
    rows = generator(5).normal(size=(10, 6))
    expected = [x @ np.linalg.solve(gram, x) for x in rows]
    np.testing.assert_allclose(widths_of(ridge, rows), expected, rtol=1e-11)
    assert ridge.log_det_ratio(0.5) == pytest.approx(np.linalg.slogdet(gram)[1] - 6 * math.log(0.5), rel=1e-12)


def test_triangles_are_solved_and_multiplied_in_place_too():
    noise = generator(6)
    factor, b = np.triu(noise.normal(size=(7, 7))) + 3.0 * np.eye(7), noise.normal(size=7)
    product, upper, lower, both = np.empty(7), np.empty(7), np.empty(7), b.copy()
    times_transposed(factor, b, product)
    solve_upper(factor, b, upper)
    solve_lower(factor, b, lower)
    np.testing.assert_allclose(product, factor.T @ b, rtol=1e-12)
    np.testing.assert_allclose(factor @ upper, b, rtol=1e-11)
    np.testing.assert_allclose(factor.T @ lower, b, rtol=1e-11)
    solve_lower(factor, both, both)
    assert np.array_equal(both, lower)
    solve_upper(factor, both, both)
    np.testing.assert_allclose(factor.T @ factor @ both, b, rtol=1e-10)


@pytest.mark.parametrize("d", [2, 10, 33, 128])
def test_equal_rows_tie_wherever_they_stand(d):
    rng = np.random.default_rng(d)
    for _ in range(50):
        features, scores = np.tile(rng.normal(size=d), (7, 1)), np.empty(7)
        predict(features, rng.normal(size=d), scores)
        assert np.unique(scores).size == 1


def test_predictions_are_products_with_the_rows():
    features, theta = generator(7).normal(size=(2, 9, 5))
    scores = np.empty(9)
    predict(features, theta[0], scores)
    np.testing.assert_allclose(scores, features @ theta[0], rtol=1e-12)
    ridge = new_ridge(5, 1.0)
    ridge.theta[:] = theta[0]
    ridge.predict_shifted(features, theta[1].copy(), scores)
    np.testing.assert_allclose(scores, features @ (theta[0] + theta[1]), rtol=1e-12)
    assert np.array_equal(ridge.theta, theta[0])


# Noise ------------------------------------------------------------------------------------------------------------


def noise_of(rows: FloatArray, weights: FloatArray) -> Noise:
    noise = new_noise(rows.shape[1])
    for x, weight in zip(rows, weights, strict=True):
        noise.add(x, float(weight))
    return noise


REPEATED = np.repeat(random_rows(5, 2), 6, axis=0)
BEGINNINGS = {
    "nothing": np.zeros((0, 5)),
    "one row": random_rows(5, 1),
    "fewer rows than dimensions": random_rows(5, 3),
    "rows of zeros": np.zeros((4, 5)),
    "zeros among others": np.vstack([np.zeros(5), random_rows(5, 2), np.zeros(5), random_rows(5, 3)]),
    "repeated": REPEATED,
    "repeated, then all": np.vstack([REPEATED, random_rows(5, 20)]),
    "one-hot from the last": np.eye(5)[::-1],
    "columns of zeros": random_rows(5, 20) * [0.0, 1.0, 0.0, 1.0, 0.0],
    "many": random_rows(5, 300),
    "of all scales": random_rows(5, 300) * [1e-6, 1.0, 1e3, 1e-3, 1.0],
}


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_noise_has_the_covariance_of_the_rows_whatever_they_span(beginning):
    rows = BEGINNINGS[beginning]
    weights = generator(8).uniform(0.5, 4.0, len(rows))
    factor = noise_of(rows, weights).factor
    covariance = np.einsum("i,ij,ik->jk", weights, rows, rows)
    lengths = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(factor.T @ factor - covariance) <= 1e-13 * np.outer(lengths, lengths))
    assert np.all(np.diag(factor) >= 0.0)
    assert np.array_equal(factor, np.triu(factor))


def one_step_at_a_time(factor: FloatArray, b: FloatArray) -> FloatArray:
    """Solve R'u = b for many columns b, each entry of u taken out of all that follow before the next."""
    solution = b.copy()
    for k in range(len(b)):
        solution[k] = solution[k] / factor[k, k]
        for j in range(k + 1, len(b)):
            solution[j] = solution[j] - factor[k, j] * solution[k]
    return solution


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 8, 11, 30])
def test_steps_of_four_round_as_single_steps_do(d):
    noise = generator(7, d)
    factor, rows = np.triu(noise.normal(size=(d, d))) + 3.0 * np.eye(d), noise.normal(size=(21, d))
    lower, product, widths, expected = np.empty(d), np.empty(d), np.empty(21), np.zeros(21)
    solve_lower(factor, rows[0], lower)
    times_transposed(factor, rows[0], product)
    squared_widths(factor, rows, np.empty((d, 21)), widths)
    solved = one_step_at_a_time(factor, rows.T)
    for entries in solved:
        expected += entries * entries
    assert np.array_equal(lower, solved[:, 0])
    assert np.array_equal(widths, expected)
    total = np.zeros(d)
    for k in range(d):
        total[k:] += factor[k, k:] * rows[0, k]
    assert np.array_equal(product, total)


@pytest.mark.parametrize("n_rows", [1, 3, 4, 6, 9])
def test_the_longest_row_is_found_wherever_it_is(n_rows):
    for place in range(n_rows):
        rows = generator(8, place).random(size=(n_rows, 5))
        rows[place] += 2.0
        expected = 0.0
        for entry in rows[place].tolist():
            expected += entry * entry
        assert longest_squared(rows, 1.0) == expected
        assert longest_squared(rows, 1e9) == 1e9


# Numbers near the ends of what a float can hold -----------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e-150, 1e-80, 1e80, 1e100])
@pytest.mark.parametrize("is_mixed", [False, True])
def test_tiny_and_huge_features_never_give_nan(scale, is_mixed):
    rows = random_rows(4, 50) * (np.array([1.0, scale, 1.0, scale]) if is_mixed else scale)
    ridge, noise, span = new_ridge(4, 1e-3), new_noise(4), new_span(4)
    for x in rows:
        ridge.add(x, 1.0, 1.0)
        noise.add(x, 1.0)
        span.add(x)
        assert np.isfinite(ridge.factor).all()
        assert np.isfinite(ridge.theta).all()
        assert np.isfinite(noise.factor).all()
        assert np.isfinite(x @ ridge.theta)
        assert np.isfinite(widths_of(ridge, x[None])).all()
    answer = np.empty(4)
    times_transposed(noise.factor, np.ones(4), answer)
    ridge.respond(answer)
    assert np.isfinite(answer).all()
    assert np.isfinite(ridge.log_det_ratio(1e-3))
    assert (np.diag(ridge.factor) > 0.0).all()
    if scale > 1e-300 and not is_mixed:
        assert span.is_whole()


@pytest.mark.parametrize("scale", [1e-250, 1e-160, 1e-145, 1e-135, 1e135, 1e145, 1e200])
def test_the_factor_scales_with_the_rows(scale):
    rows = random_rows(4, 30)
    plain, scaled = (noise_of(factor * rows, np.ones(30)).factor for factor in (1.0, scale))
    np.testing.assert_allclose(scaled / scale, plain, rtol=1e-12, atol=1e-13)


def test_a_rotation_uses_the_row_up_and_keeps_the_sum_of_squares():
    factor, target, row = np.eye(3), np.zeros(3), np.array([3.0, -4.0, 12.0])
    rotate_in(factor, target, row, 2.0)
    np.testing.assert_allclose(
        factor.T @ factor, np.eye(3) + np.outer([3.0, -4.0, 12.0], [3.0, -4.0, 12.0]), rtol=1e-14
    )
    np.testing.assert_allclose(factor.T @ target, [6.0, -8.0, 24.0], rtol=1e-14)
