r"""Ridge regression one observation at a time: what every linear policy stands on.

The Gram matrix G = lam I + sum of x x' is never formed. What is kept is its Cholesky factor, an upper triangle R with
R'R = G, and z with R'z = sum of x y, so that the estimate solves R theta = z. An observation is rotated into both by
Givens rotations: O(d^2), no subtraction, so R'R is positive definite whatever comes, and accurate to the condition
of the *rows* and not to its square, which is what anything computed from G, or from an explicit inverse, loses. For the
same reason the factor is not computed anew from time to time: rotations do not drift (20,000 and 10^6 updates are
tested against a fresh decomposition of all the rows), and a factor recomputed from G would be less accurate.
"""

import math
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, inlined, kernel, kernel_reassociated
from corebandit.contracts.state import FloatArray, Scratch
from corebandit.randomness.stream import Stream

# Between this and its inverse, the square of a length is an ordinary number: neither lost nor infinite.
SQUARABLE = 1e-140


@kernel
def rotate_in(factor: FloatArray, target: FloatArray, row: FloatArray, y: float) -> None:
    """Add the observation (row, y) to a factor `(d, d)` and target `(d,)`; the row is used up."""
    d = row.size
    for k in range(d):
        entry = row[k]
        if entry == 0.0:
            continue
        diagonal = factor[k, k]
        length = math.sqrt(diagonal * diagonal + entry * entry)
        if not SQUARABLE < length < 1.0 / SQUARABLE:
            length = math.hypot(diagonal, entry)
        cosine, sine = diagonal / length, entry / length
        factor[k, k] = length
        for j in range(k + 1, d):
            kept = factor[k, j]
            factor[k, j] = cosine * kept + sine * row[j]
            row[j] = cosine * row[j] - sine * kept
        kept = target[k]
        target[k] = cosine * kept + sine * y
        y = cosine * y - sine * kept


@kernel
def solve_upper(factor: FloatArray, b: FloatArray, solution: FloatArray) -> None:
    """Solve R u = b for an upper triangle R `(d, d)`; `solution` may be `b` itself.

    Four entries are found at a time, as their sums do not wait for each other; what was found last, which they do wait
    for, is taken out of them last.
    """
    d = b.size
    k = d
    while k >= 4:
        k -= 4
        row0, row1, row2, row3 = factor[k], factor[k + 1], factor[k + 2], factor[k + 3]
        total0, total1, total2, total3 = b[k], b[k + 1], b[k + 2], b[k + 3]
        for j in range(d - 1, k + 3, -1):
            total0 -= row0[j] * solution[j]
            total1 -= row1[j] * solution[j]
            total2 -= row2[j] * solution[j]
            total3 -= row3[j] * solution[j]
        u3 = total3 / row3[k + 3]
        u2 = (total2 - row2[k + 3] * u3) / row2[k + 2]
        u1 = (total1 - row1[k + 3] * u3 - row1[k + 2] * u2) / row1[k + 1]
        u0 = (total0 - row0[k + 3] * u3 - row0[k + 2] * u2 - row0[k + 1] * u1) / row0[k]
        solution[k], solution[k + 1], solution[k + 2], solution[k + 3] = u0, u1, u2, u3
    while k > 0:
        k -= 1
        total = b[k]
        for j in range(d - 1, k, -1):
            total -= factor[k, j] * solution[j]
        solution[k] = total / factor[k, k]


@kernel
def solve_lower(factor: FloatArray, b: FloatArray, solution: FloatArray) -> None:
    """Solve R' u = b for an upper triangle R `(d, d)`; `solution` may be `b` itself.

    Four entries are found, and taken out of all that follow at once: one after the other they would each wait until
    what the one before has changed is written. Sums are added up in the same order either way.
    """
    d = b.size
    for k in range(d):
        solution[k] = b[k]
    k = 0
    while k + 4 <= d:
        row0, row1, row2, row3 = factor[k], factor[k + 1], factor[k + 2], factor[k + 3]
        u0 = solution[k] / row0[k]
        u1 = (solution[k + 1] - row0[k + 1] * u0) / row1[k + 1]
        u2 = (solution[k + 2] - row0[k + 2] * u0 - row1[k + 2] * u1) / row2[k + 2]
        u3 = (solution[k + 3] - row0[k + 3] * u0 - row1[k + 3] * u1 - row2[k + 3] * u2) / row3[k + 3]
        solution[k], solution[k + 1], solution[k + 2], solution[k + 3] = u0, u1, u2, u3
        for j in range(k + 4, d):
            solution[j] = solution[j] - row0[j] * u0 - row1[j] * u1 - row2[j] * u2 - row3[j] * u3
        k += 4
    while k < d:
        entry = solution[k] / factor[k, k]
        solution[k] = entry
        for j in range(k + 1, d):
            solution[j] -= factor[k, j] * entry
        k += 1


@kernel
def times_transposed(factor: FloatArray, g: FloatArray, product: FloatArray) -> None:
    """Fill `product` with R' g for an upper triangle R `(d, d)`; four rows at once, as in `solve_lower`."""
    d = g.size
    for j in range(d):
        product[j] = 0.0
    k = 0
    while k + 4 <= d:
        row0, row1, row2, row3 = factor[k], factor[k + 1], factor[k + 2], factor[k + 3]
        g0, g1, g2, g3 = g[k], g[k + 1], g[k + 2], g[k + 3]
        product[k] += row0[k] * g0
        product[k + 1] = product[k + 1] + row0[k + 1] * g0 + row1[k + 1] * g1
        product[k + 2] = product[k + 2] + row0[k + 2] * g0 + row1[k + 2] * g1 + row2[k + 2] * g2
        for j in range(k + 3, d):
            product[j] = product[j] + row0[j] * g0 + row1[j] * g1 + row2[j] * g2 + row3[j] * g3
        k += 4
    while k < d:
        for j in range(k, d):
            product[j] += factor[k, j] * g[k]
        k += 1


@kernel_reassociated
def predict(features: FloatArray, theta: FloatArray, scores: FloatArray) -> None:
    """Fill `scores` with x' theta for every row x of `features` `(rows, d)`, four rows at a time.

    Where fewer are left the last takes the place of those that are missing: with a loop of their own they would be
    added up in another order, and equal rows would not tie.
    """
    n_rows, d = features.shape
    last, first = n_rows - 1, 0
    while first < n_rows:
        second, third, fourth = min(first + 1, last), min(first + 2, last), min(first + 3, last)
        row0, row1, row2, row3 = features[first], features[second], features[third], features[fourth]
        total0, total1, total2, total3 = 0.0, 0.0, 0.0, 0.0
        for j in range(d):
            entry = theta[j]
            total0 += row0[j] * entry
            total1 += row1[j] * entry
            total2 += row2[j] * entry
            total3 += row3[j] * entry
        scores[first], scores[second], scores[third], scores[fourth] = total0, total1, total2, total3
        first += 4


@kernel
def squared_widths(factor: FloatArray, features: FloatArray, solved: FloatArray, widths: FloatArray) -> None:
    """Fill `widths` with x' (R'R)^-1 x for every row x of `features` `(rows, d)`; `solved` `(d, rows)` is scratch.

    R'u = x is solved for all rows at once, since the rows fit vector registers and the steps of one row wait for each
    other; and in steps of four entries of u, as in `solve_lower`.
    """
    n_rows, d = features.shape
    for row in range(n_rows):
        widths[row] = 0.0
        for k in range(d):
            solved[k, row] = features[row, k]
    k = 0
    while k + 4 <= d:
        row0, row1, row2, row3 = factor[k], factor[k + 1], factor[k + 2], factor[k + 3]
        entries0, entries1, entries2, entries3 = solved[k], solved[k + 1], solved[k + 2], solved[k + 3]
        f00, f01, f02, f03 = row0[k], row0[k + 1], row0[k + 2], row0[k + 3]  # read once, not for every row
        f11, f12, f13, f22, f23, f33 = row1[k + 1], row1[k + 2], row1[k + 3], row2[k + 2], row2[k + 3], row3[k + 3]
        for row in range(n_rows):
            u0 = entries0[row] / f00
            u1 = (entries1[row] - f01 * u0) / f11
            u2 = (entries2[row] - f02 * u0 - f12 * u1) / f22
            u3 = (entries3[row] - f03 * u0 - f13 * u1 - f23 * u2) / f33
            entries0[row], entries1[row], entries2[row], entries3[row] = u0, u1, u2, u3
            widths[row] = widths[row] + u0 * u0 + u1 * u1 + u2 * u2 + u3 * u3
        for j in range(k + 4, d):
            later, f0, f1, f2, f3 = solved[j], row0[j], row1[j], row2[j], row3[j]
            for row in range(n_rows):
                taken = later[row] - f0 * entries0[row] - f1 * entries1[row]
                later[row] = taken - f2 * entries2[row] - f3 * entries3[row]
        k += 4
    while k < d:
        entries, diagonal = solved[k], factor[k, k]
        for row in range(n_rows):
            entries[row] /= diagonal
            widths[row] += entries[row] * entries[row]
        for j in range(k + 1, d):
            later, f0 = solved[j], factor[k, j]
            for row in range(n_rows):
                later[row] -= f0 * entries[row]
        k += 1


@inlined
def squared_length(x: FloatArray) -> float:
    """Return x'x."""
    total = 0.0
    for j in range(x.size):
        total += x[j] * x[j]
    return total


@kernel
def longest_squared(features: FloatArray, at_least: float) -> float:
    """Return the squared length of the longest row of `features` `(rows, d)`, or `at_least`.

    Four rows are added up at a time: the additions of one wait for each other.
    """
    n_rows, d = features.shape
    row = 0
    while row + 4 <= n_rows:
        first, second, third, fourth = features[row], features[row + 1], features[row + 2], features[row + 3]
        length0, length1, length2, length3 = 0.0, 0.0, 0.0, 0.0
        for j in range(d):
            length0 += first[j] * first[j]
            length1 += second[j] * second[j]
            length2 += third[j] * third[j]
            length3 += fourth[j] * fourth[j]
        at_least = max(at_least, length0, length1, length2, length3)
        row += 4
    while row < n_rows:
        at_least = max(at_least, squared_length(features[row]))
        row += 1
    return at_least


@allocating_nothing
class Ridge(NamedTuple):
    """Ridge regression. Make one with `new_ridge`."""

    factor: FloatArray  # (d, d) upper triangle R, R'R = lam I + sum of weight x x'
    target: FloatArray  # (d,) z, R'z = sum of x y
    theta: FloatArray  # (d,) the estimate
    row: Scratch  # (d,)

    def add(self, x: FloatArray, y: float, weight: float) -> None:
        """Add `weight` x x' to the Gram matrix and x y to the right-hand side."""
        scale = math.sqrt(weight)
        for j in range(x.size):
            self.row[j] = scale * x[j]
        rotate_in(self.factor, self.target, self.row, y / scale)
        solve_upper(self.factor, self.target, self.theta)

    def shift(self, rhs: FloatArray) -> None:
        """Add a vector b, which is used up, to the right-hand side.

        It is rotated as the observations were, R'u = b. A row that was observed is then no longer than 1, however badly
        the rows are scaled, so many small shifts lose nothing that one would keep.
        """
        solve_lower(self.factor, rhs, rhs)
        for k in range(rhs.size):
            self.target[k] += rhs[k]
        solve_upper(self.factor, self.target, self.theta)

    def respond(self, rhs: FloatArray) -> None:
        """Replace a right-hand side b by G^-1 b, what it adds to the estimate."""
        solve_lower(self.factor, rhs, rhs)
        solve_upper(self.factor, rhs, rhs)

    def predict_shifted(self, features: FloatArray, shift: FloatArray, scores: FloatArray) -> None:
        """Fill `scores` with x' (theta + shift) for every row x of `features` `(rows, d)`; `shift` is used up."""
        for j in range(shift.size):
            shift[j] += self.theta[j]
        predict(features, shift, scores)

    def log_det_ratio(self, lam: float) -> float:
        """Return ln(det G / lam^d)."""
        total = 0.0
        for k in range(self.theta.size):
            total += 2.0 * math.log(self.factor[k, k])
        return total - self.theta.size * math.log(lam)


def new_ridge(n_features: int, lam: float) -> Ridge:
    """Return a regression that has seen nothing, with the ridge lam > 0."""
    return Ridge(
        factor=math.sqrt(lam) * np.eye(n_features),
        target=np.zeros(n_features),
        theta=np.zeros(n_features),
        row=np.zeros(n_features),
    )


@allocating_nothing
class Noise(NamedTuple):
    """The factor of sum of weight x x', without a ridge: turns d standard normals into noise of that covariance."""

    factor: FloatArray  # (d, d)
    nothing: FloatArray  # (d,) the target nobody asks for
    row: Scratch  # (d,)

    def add(self, x: FloatArray, weight: float) -> None:
        """Add `weight` x x' to the covariance."""
        scale = math.sqrt(weight)
        for j in range(x.size):
            self.row[j] = scale * x[j]
        rotate_in(self.factor, self.nothing, self.row, 0.0)

    def draw(self, scale: float, rng: Stream, total: FloatArray) -> None:
        """Fill `total` `(d,)` with `scale` times a draw from N(0, covariance)."""
        for j in range(total.size):
            self.row[j] = scale * rng.standard_normal()
        times_transposed(self.factor, self.row, total)


def new_noise(n_features: int) -> Noise:
    """Return noise of covariance zero."""
    return Noise(np.zeros((n_features, n_features)), np.zeros(n_features), np.zeros(n_features))
