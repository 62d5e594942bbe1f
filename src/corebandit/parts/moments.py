"""Running moments: what a pool knows of its rewards without looking at them again.

Eight numbers: how many values there are, their mean, the sums of the 2nd to 6th powers of their deviations from it, and
the digits of the mean that a float has no room for. With these last, rewards around 1e9 lose no more than those around
0: a deviation is as precise as the rewards themselves.
"""

from corebandit.compiled.bridge import inlined
from corebandit.contracts.state import FloatArray

COUNT, MEAN, M2, M3, M4, M5, M6, REST = range(8)  # where each is
N_MOMENTS = 8


@inlined
def include(value: float, moments: FloatArray) -> None:
    """Update the moments for one value more: stable one-pass formulas (Pébay, 2008)."""
    before = moments[COUNT]
    n = before + 1.0
    gap = (value - moments[MEAN]) - moments[REST]
    step = gap / n
    square = step * step
    growth = gap * step * before
    m2, m3, m4, m5 = moments[M2], moments[M3], moments[M4], moments[M5]
    others = before * before
    moments[M6] += (
        growth * square * square * (others * others * before + 1.0) / n
        + 15.0 * square * (m4 + square * m2)
        - step * (6.0 * m5 + 20.0 * square * m3)
    )
    moments[M5] += (
        growth * step * square * (others * others - 1.0) / n
        + 10.0 * square * m3
        - step * (5.0 * m4 + 10.0 * square * m2)
    )
    moments[M4] += growth * square * (n * n - 3.0 * n + 3.0) + 6.0 * square * m2 - 4.0 * step * m3
    moments[M3] += growth * step * (n - 2.0) - 3.0 * step * m2
    moments[M2] += growth
    _move_mean(step, moments)
    moments[COUNT] = n


@inlined
def exchange(old: float, new: float, moments: FloatArray) -> None:
    """Update the moments for one value in place of another: exchange its powers, then move the centre to the mean.

    The errors of what leaves stay. Whoever calls this many times, or takes out what made up most of a sum, should start
    over now and then.
    """
    n = moments[COUNT]
    a, b = (old - moments[MEAN]) - moments[REST], (new - moments[MEAN]) - moments[REST]
    step = (b - a) / n
    a2, b2, square = a * a, b * b, step * step
    s2 = moments[M2] + (b2 - a2)
    s3 = moments[M3] + (b2 * b - a2 * a)
    s4 = moments[M4] + (b2 * b2 - a2 * a2)
    s5 = moments[M5] + (b2 * b2 * b - a2 * a2 * a)
    s6 = moments[M6] + (b2 * b2 * b2 - a2 * a2 * a2)
    shift = n * square
    moments[M2] = s2 - shift
    moments[M3] = s3 - step * (3.0 * s2 - 2.0 * shift)
    moments[M4] = s4 - 4.0 * step * s3 + square * (6.0 * s2 - 3.0 * shift)
    moments[M5] = s5 - 5.0 * step * s4 + square * (10.0 * s3 - step * (10.0 * s2 - 4.0 * shift))
    moments[M6] = s6 - 6.0 * step * s5 + square * (15.0 * s4 - 20.0 * step * s3 + square * (15.0 * s2 - 5.0 * shift))
    _move_mean(step, moments)


@inlined
def _move_mean(step: float, moments: FloatArray) -> None:
    """Add to the mean, and keep the digits that it has no room for."""
    rest = moments[REST] + step
    mean = moments[MEAN] + rest
    moments[REST] = rest - (mean - moments[MEAN])
    moments[MEAN] = mean
