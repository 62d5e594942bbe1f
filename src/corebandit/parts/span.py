"""The space that rows of features span: which of them point out of all that was seen before."""

import math
from typing import NamedTuple, Self

import numpy as np

from corebandit.compiled.bridge import allocating_nothing, inlined
from corebandit.contracts.state import FloatArray, IntArray, Scratch

# A row that keeps less than this share of its length outside the span of others counts as inside.
INSIDE = 1e-12


@inlined
def _squared_beginning(x: FloatArray, n: int) -> float:
    total = 0.0
    for k in range(n):
        total += x[k] * x[k]
    return total


@allocating_nothing
class Span(NamedTuple):
    """The space spanned by the rows seen so far. Make one with `new_span`.

    What is kept is a basis of its complement, all of R^d at first: a row is new if it has a part in there. So the test
    costs less the more is spanned, O(d) for a row where features are redundant and one dimension is never reached.
    """

    complement: FloatArray  # (d, d) orthonormal rows, the first d - n_spanned of them span the complement
    n_spanned: IntArray  # (1,)
    part: Scratch  # (d,) coordinates of a row in the complement

    def is_whole(self) -> bool:
        """Tell whether the rows seen so far span everything."""
        return bool(self.n_spanned[0] == self.part.size)

    def is_new(self, x: FloatArray) -> bool:
        """Tell whether `x` points out of what the rows so far span; leave its direction out there in `part`."""
        largest = 0.0
        for j in range(x.size):
            largest = max(largest, abs(x[j]))
        if largest == 0.0:
            return False
        length, outside = 0.0, 0.0
        for j in range(x.size):
            length += (x[j] / largest) * (x[j] / largest)
        n_left = x.size - self.n_spanned[0]
        for k in range(n_left):
            self.part[k] = 0.0
            for j in range(x.size):
                self.part[k] += self.complement[k, j] * (x[j] / largest)
            outside += self.part[k] * self.part[k]
        if not outside > INSIDE * INSIDE * length:
            return False
        for k in range(n_left):
            self.part[k] /= math.sqrt(outside)
        return True

    def add(self, x: FloatArray) -> bool:
        """Take a row in, and tell whether it points out of those before it."""
        if self.is_whole() or not self.is_new(x):
            return False
        # Reflect the complement's basis so that its last row is the new direction, and give that row up.
        last = x.size - self.n_spanned[0] - 1
        self.part[last] += 1.0 if self.part[last] >= 0.0 else -1.0
        scale = 2.0 / _squared_beginning(self.part, last + 1)
        for j in range(x.size):
            along = 0.0
            for k in range(last + 1):
                along += self.part[k] * self.complement[k, j]
            for k in range(last + 1):
                self.complement[k, j] -= scale * self.part[k] * along
        self.n_spanned[0] += 1
        return True

    def favours_new(self, features: FloatArray, counts: FloatArray, scores: FloatArray) -> bool:
        """Let rows that point out of what was seen, if there are any, win by the fewest choices; tell if there are."""
        if self.is_whole():
            return False
        is_any_new = False
        for arm in range(scores.size):
            is_new = self.is_new(features[arm])
            is_any_new = is_any_new or is_new
            scores[arm] = -counts[arm] if is_new else -np.inf
        return is_any_new

    def make_way(self, old: Self) -> None:
        """Put what came with new features, of which nothing was seen, with the directions left, before those spanned.

        After a span of fewer features, `old`, was copied here, it comes after both.
        """
        n_before, n_left = old.part.size, old.part.size - int(self.n_spanned[0])
        spanned = self.complement[n_left:n_before].copy()
        n_new = self.part.size - n_before
        self.complement[n_left : n_left + n_new] = self.complement[n_before:].copy()
        self.complement[n_left + n_new :] = spanned


def new_span(n_features: int) -> Span:
    """Return the space spanned by nothing."""
    return Span(np.eye(n_features), np.zeros(1, np.int64), np.zeros(n_features))
