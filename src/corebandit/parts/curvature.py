"""The curvature of a generalised linear model's log-likelihood, sum of N b'' x x' + I / sigma0^2, factorised.

Cholesky's method is quick but works with squares, which lose half of the digits; where too few are left, the factor is
built from the rows themselves.
"""

import math

from corebandit.compiled.bridge import kernel, kernel_reassociated
from corebandit.contracts.state import FloatArray
from corebandit.parts.ridge import rotate_in

LEAST_PIVOT = 1e-8  # share of a diagonal entry that elimination may leave: less has lost too many digits
ETA, STEP_ETA, RESIDUAL, SLOPE, SCALED = range(5)  # of each group: x' theta; x' step; R - N mu; N b''; scratch


@kernel
def factorise(
    precision: float,
    n_groups: int,
    columns: FloatArray,
    work: FloatArray,
    factor: FloatArray,
    gradient: FloatArray,
    row: FloatArray,
    unused: FloatArray,
) -> None:
    """Factorise the curvature, by Cholesky or, where that loses digits, by rotations; add to the gradient."""
    d = gradient.size
    _gather(n_groups, columns, work, factor, gradient)
    for k in range(d):
        factor[k, k] += precision
        row[k] = factor[k, k]
    for k in range(d):
        if not factor[k, k] > LEAST_PIVOT * row[k]:
            _rotate(precision, n_groups, columns, work, factor, row, unused)
            return
        pivot = math.sqrt(factor[k, k])
        factor[k, k] = pivot
        for j in range(k + 1, d):
            factor[k, j] /= pivot
        for i in range(k + 1, d):
            for j in range(i, d):
                factor[i, j] -= factor[k, i] * factor[k, j]


@kernel_reassociated
def _gather(n_groups: int, columns: FloatArray, work: FloatArray, factor: FloatArray, gradient: FloatArray) -> None:
    """Fill the upper triangle of `factor` with the sum of N b'' x x', and add the sum of x (R - N mu) to `gradient`.

    No loop that adds up stores anything: the order of its sum would depend on how far apart the arrays are.
    """
    for j in range(gradient.size):
        for i in range(n_groups):
            work[SCALED, i] = work[SLOPE, i] * columns[j, i]
        total = 0.0
        for i in range(n_groups):
            total += work[RESIDUAL, i] * columns[j, i]
        gradient[j] += total
        for k in range(j, gradient.size):
            total = 0.0
            for i in range(n_groups):
                total += work[SCALED, i] * columns[k, i]
            factor[j, k] = total


@kernel
def _rotate(
    precision: float,
    n_groups: int,
    columns: FloatArray,
    work: FloatArray,
    factor: FloatArray,
    row: FloatArray,
    unused: FloatArray,
) -> None:
    """Factorise the curvature from the rows, without ever forming it."""
    for j in range(row.size):
        for k in range(row.size):
            factor[j, k] = 0.0
        factor[j, j] = math.sqrt(precision)
    for i in range(n_groups):
        for j in range(row.size):
            row[j] = math.sqrt(work[SLOPE, i]) * columns[j, i]
        rotate_in(factor, unused, row, 0.0)
