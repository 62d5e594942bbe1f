r"""Generalised linear models: what every policy with a logistic, Poisson or identity link stands on.

The mean reward of a row x is mu(x' theta), mu = b'. Observations are gathered in groups that share a row: N_i of them
with responses that add up to R_i. theta maximises the penalised log-likelihood

    sum of [R_i x_i' theta - N_i b(x_i' theta)] - |theta|^2 / (2 sigma0^2),   b = ln(1 + e^eta), e^eta or eta^2 / 2

Responses may be any real numbers, as perturbed rewards are: thanks to the penalty the maximum exists and is unique.
It is found by Newton's method, which is iteratively reweighted least squares, from the last estimate or from zero,
whichever is better; a step that does not gain what it should is halved until it does, so no step is ever for the worse.

A step costs O(m d^2 + d^3) for m groups. With fixed features there is a group for each arm that was ever chosen, so
a round costs the same however long the run; with features that change in every round m is the number of past rewards.

Each step is measured twice: by its length s in units of the posterior's standard deviation, and by the most that it
changes any x_i' theta, c. For all three links |b'''| <= b'', so what is left after a whole step is of the order of s c:
when that falls below `TOLERANCE` the fit has converged. A fit that has not after the steps it is allowed says so, is
counted, and leaves the best estimate it has found.
"""

import math
from typing import NamedTuple

import numpy as np

from corebandit.compiled import allocating_nothing, inlined, kernel, kernel_reassociated
from corebandit.groups import Groups, new_groups
from corebandit.linear import rotate_in, solve_lower, solve_upper
from corebandit.recipe import REAL_LINE, UNIT_INTERVAL
from corebandit.state import FloatArray, IntArray
from corebandit.validate import check_choice, check_number

LINKS = ("logistic", "poisson", "identity")
LOGISTIC, POISSON, IDENTITY = range(3)
REWARD_RANGES = {"logistic": UNIT_INTERVAL, "poisson": (0.0, math.inf), "identity": REAL_LINE}
STEEPEST = {"logistic": 0.25, "poisson": 1.0, "identity": 1.0}  # largest slope of mu; Poisson: for means up to 1

TOLERANCE = 1e-8
MOST_STEPS = 30
LEAST_GAIN = 1e-4  # share of the gain promised by the slope that a step must bring
SMALLEST_SCALE = 2.0**-60  # a step that must be halved more often than that leads nowhere
ROUNDING = 1e-13  # share of the likelihood's terms that rounding may hide
LEAST_PIVOT = 1e-8  # share of a diagonal entry that elimination may leave: less has lost too many digits
ETA, STEP_ETA, RESIDUAL, SLOPE, SCALED = range(5)  # of each group: x' theta; x' step; R - N mu; N b''; scratch
LARGEST_LOG = 200.0  # of a Poisson mean; squares of the features times such a mean are still floats


def check_glm(link: str, sigma0: float) -> None:
    """Raise a ValueError unless there is such a model."""
    check_choice("link", link, LINKS)
    check_number("sigma0", sigma0, above=0)


@inlined
def mean_reward(link: int, eta: float) -> float:
    """Return mu(eta)."""
    if link == LOGISTIC:
        rare = math.exp(-abs(eta))
        return (rare if eta < 0.0 else 1.0) / (1.0 + rare)
    return math.exp(min(eta, LARGEST_LOG)) if link == POISSON else eta


@allocating_nothing
class GLM(NamedTuple):
    """A generalised linear model. Make one with `new_glm`."""

    groups: Groups  # rows, and N of each
    columns: FloatArray  # (d, capacity) the same rows, transposed: sums over groups then fit vector registers
    sums: FloatArray  # (capacity,) the rewards of each group
    responses: FloatArray  # (capacity,) R, what is fitted: the rewards, perturbed or not
    theta: FloatArray  # (d,) the estimate
    factor: FloatArray  # (d, d) upper triangle R, R'R = sum of N b'' x x' + I / sigma0^2, to within the last step
    gradient: FloatArray  # (d,) scratch
    step: FloatArray  # (d,) scratch
    row: FloatArray  # (d,) scratch
    work: FloatArray  # (5, capacity) scratch: what the constants ETA to SCALED name
    fits: IntArray  # (2,) fits made; of those, fits that did not converge
    link: int
    precision: float  # 1 / sigma0^2
    most_steps: int

    def learn(self, arm: int, x: FloatArray, reward: float, weight: float) -> int:
        """Add `weight` observations whose rewards add up to `reward`, and return their group."""
        group = self.groups.add(arm, x, weight)
        self.sums[group] += reward
        for j in range(x.size):
            self.columns[j, group] = x[j]
        return group

    def fit(self) -> bool:
        """Fit theta to the responses, and tell whether that converged."""
        has_converged = _maximise(self)
        self.fits[0] += 1
        self.fits[1] += 0 if has_converged else 1
        return has_converged

    def fit_rewards(self) -> bool:
        """Fit theta to the rewards as they are, and tell whether that converged."""
        for group in range(self.groups.n_used[0]):
            self.responses[group] = self.sums[group]
        return self.fit()


def new_glm(n_arms: int, n_features: int, capacity: int, link: str, sigma0: float, most_steps: int = MOST_STEPS) -> GLM:
    """Return a model that has seen nothing, with room for `capacity` observations."""
    d = n_features
    return GLM(
        groups=new_groups(n_arms, d, capacity),
        columns=np.zeros((d, capacity)),
        sums=np.zeros(capacity),
        responses=np.zeros(capacity),
        theta=np.zeros(d),
        factor=np.eye(d) / sigma0,
        gradient=np.zeros(d),
        step=np.zeros(d),
        row=np.zeros(d),
        work=np.zeros((5, capacity)),
        fits=np.zeros(2, np.int64),
        link=LINKS.index(link),
        precision=float(sigma0) ** -2,
        most_steps=most_steps,
    )


# Fitting ----------------------------------------------------------------------------------------------------------
# What follows takes the arrays it needs and not the model, which would take longer to compile.


@kernel
def _maximise(model: GLM) -> bool:
    """Maximise the penalised log-likelihood of the responses."""
    n_groups, weights, columns, work = model.groups.n_used[0], model.groups.weights, model.columns, model.work
    theta, step, gradient, factor = model.theta, model.step, model.gradient, model.factor
    link, precision, responses = model.link, model.precision, model.responses
    best = _start(link, precision, n_groups, columns, weights, responses, theta, step, work)
    for _ in range(model.most_steps):
        for j in range(theta.size):
            gradient[j] = -precision * theta[j]
        _factorise(precision, n_groups, columns, work, factor, gradient, model.row, step)
        solve_lower(factor, gradient, step)
        solve_upper(factor, step, step)
        promised, largest = 0.0, 0.0
        for j in range(theta.size):
            promised += gradient[j] * step[j]
        _add_up(n_groups, columns, step, work, STEP_ETA)
        for i in range(n_groups):
            largest = max(largest, abs(work[STEP_ETA, i]))
        scale, is_last = 1.0, math.sqrt(max(promised, 0.0)) * largest <= TOLERANCE and largest <= 1.0
        while not is_last:
            found = _look(link, precision, n_groups, weights, responses, theta, step, work, scale)
            if found >= best + LEAST_GAIN * scale * promised:
                best = found
                break
            scale *= 0.5
            if scale < SMALLEST_SCALE:
                return promised <= ROUNDING * _magnitude(link, n_groups, weights, responses, work)
        for j in range(theta.size):
            theta[j] += scale * step[j]
        for i in range(n_groups):
            work[ETA, i] += scale * work[STEP_ETA, i]
        if is_last:
            return True
    return False


@kernel
def _start(
    link: int,
    precision: float,
    n_groups: int,
    columns: FloatArray,
    weights: FloatArray,
    responses: FloatArray,
    theta: FloatArray,
    step: FloatArray,
    work: FloatArray,
) -> float:
    """Start from the last estimate, or from zero if that is better, and return the log-likelihood there."""
    total = 0.0
    for i in range(n_groups):
        total += weights[i]
        work[STEP_ETA, i] = 0.0
    for j in range(theta.size):
        step[j] = 0.0
    _add_up(n_groups, columns, theta, work, ETA)
    at_zero = -total * (math.log(2.0) if link == LOGISTIC else 1.0 if link == POISSON else 0.0)
    found = _look(link, precision, n_groups, weights, responses, theta, step, work, 0.0)
    if found >= at_zero:
        return found
    for j in range(theta.size):
        theta[j] = 0.0
    for i in range(n_groups):
        work[ETA, i] = 0.0
    return _look(link, precision, n_groups, weights, responses, theta, step, work, 0.0)


@kernel
def _add_up(n_groups: int, columns: FloatArray, direction: FloatArray, work: FloatArray, place: int) -> None:
    """Fill a row of `work` with x' `direction` for the row x of every group."""
    for i in range(n_groups):
        work[place, i] = 0.0
    for j in range(direction.size):
        for i in range(n_groups):
            work[place, i] += direction[j] * columns[j, i]


@kernel
def _look(
    link: int,
    precision: float,
    n_groups: int,
    weights: FloatArray,
    responses: FloatArray,
    theta: FloatArray,
    step: FloatArray,
    work: FloatArray,
    scale: float,
) -> float:
    """Return the penalised log-likelihood at theta + `scale` step, and leave the residuals and slopes there."""
    total = 0.0
    for i in range(n_groups):
        eta, n, response = work[ETA, i] + scale * work[STEP_ETA, i], weights[i], responses[i]
        if link == LOGISTIC:
            rare = math.exp(-abs(eta))
            share = rare / (1.0 + rare)
            # Written in terms of the rarer outcome, so that nothing cancels where the other is nearly certain.
            left = response if eta < 0.0 else response - n
            work[RESIDUAL, i] = left - n * share if eta < 0.0 else left + n * share
            work[SLOPE, i] = n * share / (1.0 + rare)
            total += left * eta - n * math.log1p(rare)
        elif link == POISSON:
            if not eta <= LARGEST_LOG:
                return -math.inf
            mean = math.exp(eta)
            work[RESIDUAL, i] = response - n * mean
            work[SLOPE, i] = n * mean
            total += response * eta - n * mean
        else:
            work[RESIDUAL, i] = response - n * eta
            work[SLOPE, i] = n
            total += (response - 0.5 * n * eta) * eta
    for j in range(theta.size):
        entry = theta[j] + scale * step[j]
        total -= 0.5 * precision * entry * entry
    return total


@kernel
def _factorise(
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


@kernel
def _magnitude(link: int, n_groups: int, weights: FloatArray, responses: FloatArray, work: FloatArray) -> float:
    """Return the sizes of the log-likelihood's terms, added up: rounding hides a share of that."""
    total = 0.0
    for i in range(n_groups):
        eta, mean = abs(work[ETA, i]), abs(mean_reward(link, work[ETA, i]))
        total += abs(responses[i]) * eta + weights[i] * max(eta, mean, mean * eta)
    return total
