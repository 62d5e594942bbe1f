"""The laws that random bits are turned into.

Ziggurats of 256 layers for the normal and the exponential law (Marsaglia and Tsang, 2000), Marsaglia and Tsang's
rejection for gamma (2000), Hörmann's transformed rejection for binomial (1993) and Poisson (1993). A binomial of few
trials compares 64 uniforms with p at once, bit by bit. All are checked against SciPy.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from corebandit.compiled.bridge import inlined, kernel
from corebandit.randomness.bits import U11, UNIT, Words, count_ones, next_word, positive_uniform, uniform

ZERO, ALL_BITS, LAYER_BITS = (np.uint64(bits) for bits in (0, 2**64 - 1, 255))
WORD_SIZE = 64


# Normal and exponential: ziggurats --------------------------------------------------------------------------------


def _layers(
    edge: float, tail_area: float, density: Callable[[float], float], inverse: Callable[[float], float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cut a decreasing density into 256 layers of equal area; return their right ends and the density there."""
    area = edge * density(edge) + tail_area
    ends = np.zeros(257)
    ends[0], ends[1] = area / density(edge), edge
    for layer in range(2, 256):
        ends[layer] = inverse(area / ends[layer - 1] + density(ends[layer - 1]))
    return ends, np.array([density(end) for end in ends])


NORMAL_EDGE = 3.6541528853610088
NORMAL_ENDS, NORMAL_HEIGHTS = _layers(
    NORMAL_EDGE,
    math.sqrt(math.pi / 2.0) * math.erfc(NORMAL_EDGE / math.sqrt(2.0)),
    lambda x: math.exp(-0.5 * x * x),
    lambda y: math.sqrt(-2.0 * math.log(y)),
)
EXPONENTIAL_EDGE = 7.69711747013104972
EXPONENTIAL_ENDS, EXPONENTIAL_HEIGHTS = _layers(
    EXPONENTIAL_EDGE, math.exp(-EXPONENTIAL_EDGE), lambda x: math.exp(-x), lambda y: -math.log(y)
)


@kernel
def _normal_outside(words: Words, layer: int, x: float) -> float:
    """Finish a normal draw that fell outside its layer's inner box; NaN asks for a new one."""
    if layer == 0:
        while True:
            beyond = -math.log(positive_uniform(words)) / NORMAL_EDGE
            if -2.0 * math.log(positive_uniform(words)) > beyond * beyond:
                return math.copysign(NORMAL_EDGE + beyond, x)
    low, high = NORMAL_HEIGHTS[layer], NORMAL_HEIGHTS[layer + 1]
    if low + uniform(words) * (high - low) < math.exp(-0.5 * x * x):
        return x
    return math.nan


@inlined
def standard_normal(words: Words) -> float:
    """Draw from N(0, 1)."""
    while True:
        word = next_word(words)
        layer = int(word & LAYER_BITS)
        x = (2.0 * (float(word >> U11) * UNIT) - 1.0) * NORMAL_ENDS[layer]
        if abs(x) < NORMAL_ENDS[layer + 1]:
            return float(x)
        x = _normal_outside(words, layer, x)
        if not math.isnan(x):
            return x


@kernel
def _exponential_outside(words: Words, layer: int, x: float) -> float:
    """Finish an exponential draw that fell outside its layer's inner box; NaN asks for a new one."""
    if layer == 0:
        return EXPONENTIAL_EDGE - math.log(positive_uniform(words))
    low, high = EXPONENTIAL_HEIGHTS[layer], EXPONENTIAL_HEIGHTS[layer + 1]
    if low + uniform(words) * (high - low) < math.exp(-x):
        return x
    return math.nan


@inlined
def standard_exponential(words: Words) -> float:
    """Draw from the exponential law of mean 1."""
    while True:
        word = next_word(words)
        layer = int(word & LAYER_BITS)
        x = float(word >> U11) * UNIT * EXPONENTIAL_ENDS[layer]
        if x < EXPONENTIAL_ENDS[layer + 1]:
            return float(x)
        x = _exponential_outside(words, layer, x)
        if not math.isnan(x):
            return x


# Gamma and beta ---------------------------------------------------------------------------------------------------


@inlined
def standard_gamma(words: Words, shape: float) -> float:
    """Draw from the gamma law of this shape and scale 1."""
    if shape == 1.0:
        return standard_exponential(words)
    if shape < 1.0:
        return math.exp(_log_gamma_draw(words, shape))
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = standard_normal(words)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = positive_uniform(words)
        if u < 1.0 - 0.0331 * (x * x) * (x * x) or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@kernel
def _log_gamma_draw(words: Words, shape: float) -> float:
    """Draw the logarithm of a gamma variable: of a small shape, the variable itself may be too small for a float."""
    d = shape + 1.0 - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = standard_normal(words)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = positive_uniform(words)
        if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return math.log(d * v) + math.log(positive_uniform(words)) / shape


@inlined
def beta(words: Words, a: float, b: float) -> float:
    """Draw from the beta law."""
    if a >= 1.0 and b >= 1.0:
        x = standard_gamma(words, a)
        return x / (x + standard_gamma(words, b))
    log_odds = _log_gamma_draw(words, a) - _log_gamma_draw(words, b)
    if log_odds > 0.0:
        return 1.0 / (1.0 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1.0 + odds)


# Binomial and Poisson ---------------------------------------------------------------------------------------------


STIRLING_ERRORS = np.array(
    [math.lgamma(x) - (x - 0.5) * math.log(x) + x - 0.5 * math.log(2.0 * math.pi) for x in range(1, 11)]
)


@inlined
def _stirling_error(k: float) -> float:
    """Return log k! minus Stirling's formula, k log k - k + log(2 pi k)/2, written for k + 1, for whole k."""
    if k < 10.0:
        return float(STIRLING_ERRORS[int(k)])
    square = (k + 1.0) * (k + 1.0)
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)


@inlined
def trials(words: Words, lanes: np.uint64, p: float) -> np.uint64:
    """Try each bit of `lanes` with probability p: compare 64 uniforms with p at once, from the highest digit down."""
    undecided, successes = lanes, ZERO
    while undecided != ZERO and p > 0.0:
        p *= 2.0  # brings the next binary digit of p before the point, exactly
        word = next_word(words)
        if p >= 1.0:
            p -= 1.0
            successes |= undecided & ~word
            undecided &= word
        else:
            undecided &= ~word
    return successes


@inlined
def first_lanes(n: int) -> np.uint64:
    """Return a word whose first n bits are set, all 64 if n is larger; n must be positive."""
    return ALL_BITS >> np.uint64(WORD_SIZE - min(n, WORD_SIZE))


@kernel
def _few_trials(words: Words, n: int, p: float) -> int:
    """Count successes in blocks of 64 trials."""
    total = 0
    while n > 0:
        total += count_ones(trials(words, first_lanes(n), p))
        n -= WORD_SIZE
    return total


@kernel
def _rare_successes(words: Words, n: int, p: float) -> int:
    """Count successes by inversion: for n p below 10."""
    odds = p / (1.0 - p)
    start = math.exp(n * math.log1p(-p))
    while True:
        u, chance, k = uniform(words), start, 0
        while u > chance:
            u -= chance
            k += 1
            if k > n or chance == 0.0:
                break
            chance *= odds * (n - k + 1) / k
        if k <= n and chance > 0.0:
            return k


@kernel
def _is_below_ratio(v: float, n: int, p: float, k: int) -> bool:
    """Tell whether v > 0 is at most the ratio of the binomial probabilities of k and of the mode."""
    variance = n * p * (1.0 - p)
    odds = p / (1.0 - p)
    mode = math.floor((n + 1) * p)
    distance = abs(k - mode)
    if distance <= 15:  # factor by factor
        ratio = 1.0
        for i in range(min(k, mode) + 1, max(k, mode) + 1):
            ratio *= odds * (n - i + 1) / i
        return v <= ratio if k > mode else v * ratio <= 1.0
    log_v = math.log(v)
    if distance < 0.5 * variance:  # the normal law's ratio is near enough to decide most cases (not so further out)
        normal = -0.5 * distance * distance / variance
        error = distance / variance * (((distance / 3.0 + 0.625) * distance + 1.0 / 6.0) / variance + 0.5)
        if abs(log_v - normal) > error:
            return log_v < normal
    return log_v <= (
        (mode + 0.5) * math.log((mode + 1.0) / (odds * (n - mode + 1.0)))
        + (n + 1.0) * math.log((n - mode + 1.0) / (n - k + 1.0))
        + (k + 0.5) * math.log(odds * (n - k + 1.0) / (k + 1.0))
        + (_stirling_error(mode) + _stirling_error(n - mode) - _stirling_error(k) - _stirling_error(n - k))
    )


@kernel
def many_successes(words: Words, n: int, p: float) -> int:
    """Count successes by transformed rejection with a squeeze (BTRD): for p up to 1/2 and n p of at least 10."""
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    while True:
        v = uniform(words)
        u = uniform(words) - 0.5
        near = 0.5 - abs(u)
        if near == 0.0:
            continue
        k = math.floor((2.0 * a / near + b) * u + (n * p + 0.5))
        if near >= 0.07 and (0.92 - v) * b >= 4.2:  # most draws end here, after one square root and one division
            return k
        v *= (2.83 + 5.1 / b) * spread / (a / (near * near) + b)
        if 0 <= k <= n and v > 0.0 and _is_below_ratio(v, n, p, k):
            return k


@kernel
def _many_heads(words: Words, n: int) -> int:
    """Count the heads of more than 64 fair coins, word by word while that is faster than rejection."""
    if n > 32 * WORD_SIZE:
        return many_successes(words, n, 0.5)
    total = 0
    while n > WORD_SIZE:
        total += count_ones(next_word(words))
        n -= WORD_SIZE
    return total + count_ones(next_word(words) & first_lanes(n))


@inlined
def heads(words: Words, n: int) -> int:
    """Count the heads of n fair coins: a binomial with p = 1/2, from one word up to 64 coins."""
    if n > WORD_SIZE:
        return _many_heads(words, n)
    return count_ones(next_word(words) & first_lanes(n)) if n > 0 else 0


@kernel
def binomial(words: Words, n: int, p: float) -> int:
    """Count successes in n trials of probability p."""
    if n <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    if p == 0.5:
        return heads(words, n)
    if n <= 2 * WORD_SIZE:  # a block of 64 trials takes about 7 words
        return _few_trials(words, n, p)
    if p > 0.5:
        return n - binomial_up_to_half(words, n, 1.0 - p)
    return binomial_up_to_half(words, n, p)


@inlined
def binomial_up_to_half(words: Words, n: int, p: float) -> int:
    """Count successes in many trials of probability p <= 1/2."""
    return _rare_successes(words, n, p) if n * p < 10.0 else many_successes(words, n, p)


@kernel
def poisson(words: Words, mean: float) -> int:
    """Draw from the Poisson law."""
    if mean < 10.0:
        u, chance, k = uniform(words), math.exp(-mean), 0
        while u > chance and chance > 0.0:
            u -= chance
            k += 1
            chance *= mean / k
        return k
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inner = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        v = positive_uniform(words)
        u = uniform(words) - 0.5
        near = 0.5 - abs(u)
        if near <= 0.0:
            continue
        k = math.floor((2.0 * a / near + b) * u + mean + 0.43)
        if near >= 0.07 and v <= inner:
            return int(k)
        if k < 0 or (near < 0.013 and v > near):
            continue
        scaled = math.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (near * near) + b))
        if scaled <= k * math.log(mean) - mean - math.lgamma(k + 1.0):
            return int(k)
