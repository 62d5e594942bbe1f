"""Reproducible random streams.

A `Stream` is the four words of a generator and the method names of NumPy's `Generator`, so a policy cannot tell which
of the two it was given. It is one small array: cheap to pass to compiled code, saved as 32 bytes. `stream(seed,
*identity)` gives every use its own, by what it is for and never by order.
"""

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corebandit.compiled.bridge import allocating_nothing, kernel
from corebandit.randomness.bits import Words, uniform
from corebandit.randomness.samplers import (
    beta,
    binomial,
    poisson,
    standard_exponential,
    standard_gamma,
    standard_normal,
)


@allocating_nothing
class Stream(NamedTuple):
    """A source of random numbers, with the method names of NumPy's `Generator`.

    >>> stream(7, "example").random() == stream(7, "example").random()
    True
    """

    words: Words  # (4,)

    def random(self) -> float:
        """Draw uniformly from [0, 1)."""
        return uniform(self.words)

    def integers(self, high: int) -> int:
        """Draw uniformly from 0, ..., high - 1."""
        return int(uniform(self.words) * high)

    def standard_normal(self) -> float:
        """Draw from N(0, 1)."""
        return standard_normal(self.words)

    def standard_exponential(self) -> float:
        """Draw from the exponential law of mean 1."""
        return standard_exponential(self.words)

    def standard_gamma(self, shape: float) -> float:
        """Draw from the gamma law of this shape and scale 1."""
        return standard_gamma(self.words, shape)

    def beta(self, a: float, b: float) -> float:
        """Draw from the beta law."""
        return beta(self.words, a, b)

    def binomial(self, n: int, p: float) -> int:
        """Count successes in n trials of probability p."""
        return binomial(self.words, n, p)

    def poisson(self, mean: float) -> int:
        """Draw from the Poisson law."""
        return poisson(self.words, mean)


@kernel
def uniforms(words: Words, out: NDArray[np.float64]) -> None:
    """Fill `out` `(count, streams)` with uniforms from [0, 1), in turn from each of the streams `(streams, 4)`."""
    for index in range(words.shape[0]):
        for place in range(out.shape[0]):
            out[place, index] = uniform(words[index])


def stream(seed: int, *identity: str | int) -> Stream:
    """Return the stream that belongs to `identity`, for instance `stream(7, "problem", 3)`."""
    return Stream(streams(1, seed, *identity)[0])


def streams(count: int, seed: int, *identity: str | int) -> Words:
    """Return the words of `count` streams, `(count, 4)`; the i-th does not depend on `count`."""
    name = repr([str(part) if isinstance(part, str) else int(part) for part in identity])
    key = np.frombuffer(hashlib.sha256(name.encode()).digest(), dtype=np.uint32)
    sequence = np.random.SeedSequence(seed, spawn_key=key.tolist())
    return np.random.PCG64(sequence).random_raw(4 * count).reshape(count, 4)
