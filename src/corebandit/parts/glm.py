r"""Generalised linear models: what every policy with a logistic, Poisson or identity link stands on.

The mean reward of a row x is mu(x' theta), mu = b'. Observations are gathered in groups that share a row: N_i of them
with responses that add up to R_i. theta maximises the penalised log-likelihood

    sum of [R_i x_i' theta - N_i b(x_i' theta)] - |theta|^2 / (2 sigma0^2),   b = ln(1 + e^eta), e^eta or eta^2 / 2

Responses may be any real numbers, as perturbed rewards are: thanks to the penalty the maximum exists and is unique.
It is found by Newton's method, which is iteratively reweighted least squares, from the estimate or from zero, whichever
is better; a step that does not gain what it should is cut to where it does, so no step is ever for the worse.

There are two fits. The *estimate* is of the rewards as they are, and learnt: policies that use it bring it up to date
in `prepare`. The fit to perturbed rewards is scratch. It starts from the estimate, so no decision depends on those
before it; policies that perturb make a new estimate once a quarter of the rewards is new.

A step costs O(m d^2 + d^3) for m groups. With fixed features there is a group for each arm that was ever chosen, so
a round costs the same however long the run; with features that change in every round m is the number of past rewards.

Each step is measured twice: by its length s in units of the posterior's standard deviation, and by the most that it
changes any x_i' theta, c. For all three links |b'''| <= b'', so what is left after a whole step is of the order of s c:
when that falls below `TOLERANCE` the fit has converged. It has also if no step gains anything and the gain promised by
the next is within `ROUNDING` of the likelihood's terms: with huge features or responses floats say no more, and theta
may then be a posterior's standard deviation, or a few, from the maximum. A fit that has not converged after the steps
it is allowed says so, is counted, and leaves the best estimate it has found.
"""

import math
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, kernel
from corebandit.contracts.recipe import REAL_LINE, UNIT_INTERVAL
from corebandit.contracts.state import FloatArray, IntArray, IntScratch, Scratch
from corebandit.contracts.validate import check_choice, check_number
from corebandit.parts.curvature import ETA, RESIDUAL, STEP_ETA, factorise
from corebandit.parts.groups import Groups, new_groups
from corebandit.parts.likelihood import LINKS, LOGISTIC, POISSON, log_likelihood, magnitude
from corebandit.parts.ridge import solve_lower, solve_upper

MADE, FAILED = 0, 1  # what `fits` holds where
LEARNT, FITTED = 0, 1  # what `n_rewards` holds where
STALE = 4  # the estimate is stale once one in so many rewards is new
REWARD_RANGES = {"logistic": UNIT_INTERVAL, "poisson": (0.0, math.inf), "identity": REAL_LINE}
STEEPEST = {"logistic": 0.25, "poisson": 1.0, "identity": 1.0}  # largest slope of mu; Poisson: for means up to 1

TOLERANCE = 1e-8
MOST_STEPS = 200  # most fits need about three; with features 1000 times too large some need more than 30
LEAST_GAIN = 1e-4  # share of the gain promised by the slope that a step must bring
MOST_HALVINGS = 60  # a step that must be halved more often than that leads nowhere
LEVEL = 0.1  # share of the slope at its start that may be left at the end of a step that was too long
ROUNDING = 1e-13  # share of the likelihood's terms that rounding may hide
LEAST_SIGMA0, LARGEST_SIGMA0 = 1e-50, 1e50  # their squares, times squares of features, are still floats


def check_glm(link: str, sigma0: float) -> None:
    """Raise BadInput unless there is such a model."""
    check_choice("link", link, LINKS)
    check_sigma0(sigma0)


def check_sigma0(sigma0: float) -> None:
    """Raise BadInput unless a prior can have this standard deviation."""
    check_number("sigma0", sigma0, at_least=LEAST_SIGMA0, at_most=LARGEST_SIGMA0)


@allocating_nothing
class GLM(NamedTuple):
    """A generalised linear model. Make one with `new_glm`."""

    groups: Groups  # rows, and N of each
    columns: FloatArray  # (d, capacity) the same rows, transposed: sums over groups then fit vector registers
    sums: FloatArray  # (capacity,) the rewards of each group
    theta: FloatArray  # (d,) the estimate
    factor: FloatArray  # (d, d) upper triangle R, R'R = sum of N b'' x x' + I / sigma0^2, to within the last step
    n_rewards: IntArray  # (2,) rewards learnt; of those, rewards that the estimate is of
    responses: Scratch  # (capacity,) R, what is fitted: the rewards, perturbed or not
    perturbed: Scratch  # (d,) what was fitted to perturbed rewards
    perturbed_factor: Scratch  # (d, d) the curvature there
    gradient: Scratch  # (d,)
    step: Scratch  # (d,)
    row: Scratch  # (d,)
    work: Scratch  # (5, capacity) what `curvature` names from ETA to SCALED
    fits: IntScratch  # (2,) fits made; of those, fits that did not converge
    link: int
    precision: float  # 1 / sigma0^2
    most_steps: int

    def learn(self, arm: int, x: FloatArray, reward: float, weight: float) -> int:
        """Add `weight` observations whose rewards add up to `reward`, and return their group."""
        group = self.groups.add(arm, x, weight)
        self.sums[group] += reward
        self.n_rewards[LEARNT] += 1
        for j in range(x.size):
            self.columns[j, group] = x[j]
        return group

    def fit_rewards(self) -> bool:
        """Bring the estimate up to date, and tell whether it was not."""
        if self.n_rewards[FITTED] == self.n_rewards[LEARNT]:
            return False
        for group in range(self.groups.n_used[0]):
            self.responses[group] = self.sums[group]
        self.fit()
        return True

    def is_stale(self) -> bool:
        """Tell whether so much is new that perturbed fits should start from another estimate."""
        n_learnt = self.n_rewards[LEARNT]
        return bool(STALE * (n_learnt - self.n_rewards[FITTED]) > n_learnt)

    def fit(self) -> bool:
        """Fit the estimate to the responses, and tell whether that converged; else the next fit goes on from there."""
        has_converged = self.maximise(False)
        if has_converged:
            self.n_rewards[FITTED] = self.n_rewards[LEARNT]
        return has_converged

    def fit_perturbed(self) -> bool:
        """Fit `perturbed` to the responses, and tell whether that converged."""
        for j in range(self.theta.size):
            self.perturbed[j] = self.theta[j]
        return self.maximise(True)

    def maximise(self, is_perturbed: bool) -> bool:
        """Fit to the responses, and count that."""
        has_converged = _maximise(self, is_perturbed)
        self.fits[MADE] += 1
        self.fits[FAILED] += 0 if has_converged else 1
        return has_converged


def new_glm(n_arms: int, n_features: int, capacity: int, link: str, sigma0: float, most_steps: int = MOST_STEPS) -> GLM:
    """Return a model that has seen nothing, with room for `capacity` observations."""
    d = n_features
    return GLM(
        groups=new_groups(n_arms, d, capacity),
        columns=np.zeros((d, capacity)),
        sums=np.zeros(capacity),
        theta=np.zeros(d),
        factor=np.eye(d) * math.sqrt(float(sigma0) ** -2),
        n_rewards=np.zeros(2, np.int64),
        responses=np.zeros(capacity),
        perturbed=np.zeros(d),
        perturbed_factor=np.zeros((d, d)),
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
def _maximise(model: GLM, is_perturbed: bool) -> bool:
    """Maximise the penalised log-likelihood of the responses."""
    n_groups, weights, columns, work = model.groups.n_used[0], model.groups.weights, model.columns, model.work
    # Picked here: passed beside the model, they would cost a tenth of a fit.
    theta = model.perturbed if is_perturbed else model.theta
    factor = model.perturbed_factor if is_perturbed else model.factor
    step, gradient = model.step, model.gradient
    link, precision, responses = model.link, model.precision, model.responses
    best = _start(link, precision, n_groups, columns, weights, responses, theta, step, work)
    has_restarted = False
    for _ in range(model.most_steps):
        for j in range(theta.size):
            gradient[j] = -precision * theta[j]
        factorise(precision, n_groups, columns, work, factor, gradient, model.row, step)
        solve_lower(factor, gradient, step)
        solve_upper(factor, step, step)
        promised, largest = 0.0, 0.0
        for j in range(theta.size):
            promised += gradient[j] * step[j]
        _add_up(n_groups, columns, step, work, STEP_ETA)
        for i in range(n_groups):
            largest = max(largest, abs(work[STEP_ETA, i]))
        is_last = math.sqrt(max(promised, 0.0)) * largest <= TOLERANCE and largest <= 1.0
        scale, found = 1.0, best
        if not is_last:
            scale, found = _search(link, precision, n_groups, weights, responses, theta, step, work, best, promised)
        if scale == 0.0:
            is_at_top = promised <= ROUNDING * magnitude(link, n_groups, weights, responses, work)
            if is_at_top or has_restarted:
                return is_at_top
            # The x' theta of many steps, added up, may have drifted away from theta: work them out again, once.
            best = _start(link, precision, n_groups, columns, weights, responses, theta, step, work)
            has_restarted = True
            continue
        best = found
        for j in range(theta.size):
            theta[j] += scale * step[j]
        for i in range(n_groups):
            work[ETA, i] += scale * work[STEP_ETA, i]
        if is_last:
            return True
    return False


@kernel
def _search(
    link: int,
    precision: float,
    n_groups: int,
    weights: FloatArray,
    responses: FloatArray,
    theta: FloatArray,
    step: FloatArray,
    work: FloatArray,
    best: float,
    promised: float,
) -> tuple[float, float]:
    """Return how much of the step to take, 0 if none of it gains anything, and the log-likelihood there.

    Where means are nearly certain the log-likelihood has edges, and steps that merely gain would zigzag across them: a
    step that is too long ends where the log-likelihood along it is nearly level, on the edge. It is concave, so the
    sign of its slope says on which side that is.
    """
    low, high = 0.0, 1.0
    for halvings in range(MOST_HALVINGS + 1):
        scale = 0.5 * (low + high) if halvings > 0 else 1.0
        found = log_likelihood(link, precision, n_groups, weights, responses, theta, step, work, scale)
        is_gain = found >= best + LEAST_GAIN * scale * promised
        if is_gain and halvings == 0:
            return scale, found
        slope = 0.0
        for i in range(n_groups):
            slope += work[RESIDUAL, i] * work[STEP_ETA, i]
        for j in range(theta.size):
            slope -= precision * (theta[j] + scale * step[j]) * step[j]
        if is_gain and abs(slope) <= LEVEL * promised:
            return scale, found
        if is_gain and slope > 0.0:
            low = scale
        else:
            high = scale
    return low, log_likelihood(link, precision, n_groups, weights, responses, theta, step, work, low)


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
    found = log_likelihood(link, precision, n_groups, weights, responses, theta, step, work, 0.0)
    if found >= at_zero:
        return found
    for j in range(theta.size):
        theta[j] = 0.0
    for i in range(n_groups):
        work[ETA, i] = 0.0
    return log_likelihood(link, precision, n_groups, weights, responses, theta, step, work, 0.0)


@kernel
def _add_up(n_groups: int, columns: FloatArray, direction: FloatArray, work: FloatArray, place: int) -> None:
    """Fill a row of `work` with x' `direction` for the row x of every group."""
    for i in range(n_groups):
        work[place, i] = 0.0
    for j in range(direction.size):
        for i in range(n_groups):
            work[place, i] += direction[j] * columns[j, i]
