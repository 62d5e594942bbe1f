r"""Ridge regression whose memory fades, and one of the last rounds alone. Both keep the triangular factor of `ridge`.

Where memory fades, G <- discount G + x x' + (1 - discount) lam I: the ridge itself never fades, so the regression stays
one. The factor is scaled by the root of the discount, and what the ridge lost is rotated in again, a row for each
feature.

With a window, the row that leaves is rotated out of the factor, which loses digits where rotating in does not; so the
factor is made afresh from the rows of the window once in every window.
"""

import math
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, kernel
from corebandit.contracts.state import FloatArray, IntArray, Scratch
from corebandit.parts.recent import MOST_LOST
from corebandit.parts.ridge import (
    Noise,
    Ridge,
    new_noise,
    new_ridge,
    rotate_in,
    solve_lower,
    solve_upper,
)
from corebandit.parts.span import Span, new_span
from corebandit.randomness.stream import Stream

LEAST_REST = 1e-6  # of a row's length squared, in the metric of the factor, that taking it out must leave


@kernel
def fade_factor(factor: FloatArray, target: FloatArray, row: FloatArray, discount: float, lam: float) -> None:
    """Let a factor `(d, d)` and its target `(d,)` fade, but for the ridge `lam` in it; `row` `(d,)` is scratch."""
    if discount >= 1.0:
        return
    d, scale = row.size, math.sqrt(discount)
    for k in range(d):
        target[k] *= scale
        for j in range(k, d):
            factor[k, j] *= scale
    if lam > 0.0:
        for k in range(d):
            for j in range(d):
                row[j] = 0.0
            row[k] = math.sqrt((1.0 - discount) * lam)
            rotate_in(factor, target, row, 0.0)


@kernel
def rotate_out(factor: FloatArray, sines: FloatArray, cosines: FloatArray) -> bool:
    """Take a row, which is given in `sines` and used up, out of a factor `(d, d)`; tell whether the digits allow it.

    The rotations that turn (u, rest), where R'u = x and the length is 1, into (0, 1) turn R and a row of zeros into the
    factor without x, and x: the downdate of LINPACK (Dongarra, Bunch, Moler and Stewart, 1979).
    """
    d, rest = sines.size, 1.0
    solve_lower(factor, sines, sines)
    for k in range(d):
        rest -= sines[k] * sines[k]
    if not rest > LEAST_REST:
        return False
    rest = math.sqrt(rest)
    for k in range(d - 1, -1, -1):
        length = math.hypot(rest, sines[k])
        cosines[k], sines[k] = rest / length, sines[k] / length
        rest = length
    for j in range(d):
        carried = 0.0
        for k in range(j, -1, -1):
            entry = factor[k, j]
            factor[k, j] = cosines[k] * entry - sines[k] * carried
            carried = cosines[k] * carried + sines[k] * entry
    return True


@allocating_nothing
class RecentRidge(NamedTuple):
    """Ridge regression of the last rounds. Make one with `new_recent_ridge`."""

    factor: FloatArray  # (d, d) upper triangle R, R'R = lam I + sum of x x' over the window
    rhs: FloatArray  # (d,) sum of x y over the window
    theta: FloatArray  # (d,) the estimate
    rows: FloatArray  # (window, d) in the order of the rounds, the newest in the place of the oldest
    rewards: FloatArray  # (window,)
    seen: IntArray  # (1,) rewards ever
    row: Scratch  # (d,)
    cosines: Scratch  # (d,)
    window: int
    lam: float

    def push(self, x: FloatArray, y: float) -> None:
        """Learn an observation, and forget the one that leaves the window."""
        n_seen, d = self.seen[0], x.size
        self.seen[0] = n_seen + 1
        place = n_seen % self.window
        is_downdated = True
        if n_seen >= self.window:
            old = self.rewards[place]
            is_lost = False
            for j in range(d):
                self.row[j] = self.rows[place, j]
                self.rhs[j] -= self.rows[place, j] * old
                is_lost |= abs(self.rows[place, j] * old) > MOST_LOST * abs(self.rhs[j])
            is_downdated = rotate_out(self.factor, self.row, self.cosines) and not is_lost
        self.rewards[place] = y
        for j in range(d):
            self.rows[place, j] = x[j]
        if not is_downdated or (n_seen >= self.window and place == 0):
            self.fit_afresh()
        else:
            self.take_in(place)
        for j in range(d):
            self.theta[j] = self.rhs[j]
        solve_lower(self.factor, self.theta, self.theta)
        solve_upper(self.factor, self.theta, self.theta)

    def take_in(self, place: int) -> None:
        """Add the observation at a place of the window."""
        for j in range(self.row.size):
            self.row[j] = self.rows[place, j]
            self.cosines[j] = 0.0
            self.rhs[j] += self.rows[place, j] * self.rewards[place]
        rotate_in(self.factor, self.cosines, self.row, 0.0)  # the target is nobody's

    def fit_afresh(self) -> None:
        """Make the factor of a full window from its rows."""
        for k in range(self.row.size):
            self.rhs[k] = 0.0
            for j in range(self.row.size):
                self.factor[k, j] = math.sqrt(self.lam) if j == k else 0.0
        for place in range(self.window):
            self.take_in(place)


def new_recent_ridge(n_features: int, lam: float, window: int, capacity: int) -> RecentRidge:
    """Return a regression of the last `window` rounds that has seen nothing."""
    room = min(window, capacity)
    return RecentRidge(
        factor=math.sqrt(lam) * np.eye(n_features),
        rhs=np.zeros(n_features),
        theta=np.zeros(n_features),
        rows=np.zeros((room, n_features)),
        rewards=np.zeros(room),
        seen=np.zeros(1, np.int64),
        row=np.zeros(n_features),
        cosines=np.zeros(n_features),
        window=int(window),
        lam=float(lam),
    )


@allocating_nothing
class FadedRidge(NamedTuple):
    """Ridge regression whose memory fades. Make one with `new_faded_ridge`."""

    ridge: Ridge
    discount: float
    lam: float

    def push(self, x: FloatArray, y: float) -> None:
        """Learn an observation, and let those before it fade."""
        fade_factor(self.ridge.factor, self.ridge.target, self.ridge.row, self.discount, self.lam)
        self.ridge.add(x, y, 1.0)

    def forget(self) -> None:
        """Forget everything."""
        for k in range(self.ridge.theta.size):
            self.ridge.target[k] = 0.0
            self.ridge.theta[k] = 0.0
            for j in range(self.ridge.theta.size):
                self.ridge.factor[k, j] = math.sqrt(self.lam) if j == k else 0.0


def new_faded_ridge(n_features: int, lam: float, discount: float) -> FadedRidge:
    """Return a regression that has seen nothing."""
    return FadedRidge(new_ridge(n_features, lam), float(discount), float(lam))


@allocating_nothing
class Widened(NamedTuple):
    """CORe's noise of a linear model that forgets. Make one with `new_widened`.

    On top of noise of the regression's own covariance, rows that pointed out of everything seen before them, at most d,
    count `extra` times, and never fade: what `extra` draws are to an arm.
    """

    steady: Noise
    span: Span
    extra: float

    def add(self, x: FloatArray) -> None:
        """Take a row in if it points out of those before it."""
        if self.span.add(x) and self.extra > 0.0:
            self.steady.add(x, self.extra)

    def shift(self, factor: FloatArray, scale: float, rng: Stream, total: FloatArray) -> None:
        """Fill `total` `(d,)` with what noise of this scale adds to the estimate of a regression with this factor."""
        self.steady.draw(scale, rng, total)
        solve_lower(factor, total, total)
        for j in range(total.size):
            total[j] += scale * rng.standard_normal()
        solve_upper(factor, total, total)

    def forget(self) -> None:
        """Forget everything."""
        d = self.span.part.size
        self.span.n_spanned[0] = 0
        for k in range(d):
            for j in range(d):
                self.steady.factor[k, j] = 0.0
                self.span.complement[k, j] = 1.0 if j == k else 0.0


def new_widened(n_features: int, extra: float) -> Widened:
    """Return the noise of nothing."""
    return Widened(new_noise(n_features), new_span(n_features), float(extra))
