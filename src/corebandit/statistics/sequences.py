"""Confidence sequences: intervals that hold at all times at once, so that one may look whenever one likes.

Where a mean has the standard error s after n numbers, the interval is

    mean ± s sqrt(2 (1 + 1 / r) log(sqrt(1 + r) / error)),    r = c n / n*,

tightest about n*. It is asymptotic: it holds from the n on where the central limit theorem does (Waudby-Smith, Arbour,
Sinha, Kennedy and Ramdas, 2024: "Time-uniform central limit theory and asymptotic confidence sequences").
"""

import math

TIGHTEST = 10  # times as many numbers: where the interval is tightest for its number


def width(n: int, start: int, error: float) -> float:
    """Return how many standard errors a confidence sequence is wide to either side after n numbers.

    >>> [round(width(n, start=100, error=0.05), 2) for n in (100, 1_000, 100_000)]
    [3.76, 3.04, 3.58]
    """
    log = -2.0 * math.log(error)
    ratio = (log + math.log(log) + 1.0) * n / (TIGHTEST * start)
    return math.sqrt(2.0 * (1.0 + 1.0 / ratio) * (0.5 * math.log1p(ratio) - math.log(error)))
