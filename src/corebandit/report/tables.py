"""Numbers as text, and frames as rows of text, for the console and the page alike.

Rounding follows the uncertainty: two significant digits of the error decide how many digits of the mean are shown.
Text keeps to characters that any terminal can print (a plain hyphen for minus); the page makes it typographic.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from polars import DataFrame

FEWEST_RUNS = 10  # the bootstrap of fewer is narrower than it should be
TOO_FEW = "too few runs"
PART = ("experiment", "part")
PLACE = (*PART, "problem")
UNKNOWN = "\N{EN DASH}"
_MOST_DECIMALS = 9


class ResultRow(NamedTuple):
    """Final regret of one policy on one problem."""

    policy: str
    regret: str
    interval: str
    cpu: str
    is_best: bool
    is_tied: bool  # with the best


class ResultSection(NamedTuple):
    """All policies on one problem."""

    experiment: str
    part: str
    title: str  # of the problem
    size: str
    rows: list[ResultRow]


class DifferenceRow(NamedTuple):
    """Regret of a policy minus that of the baseline, run by run."""

    policy: str
    difference: str
    interval: str
    reading: str
    share_better: str


class DifferenceSection(NamedTuple):
    """All policies against one baseline on one problem."""

    title: str  # of the problem
    baseline: str
    rows: list[DifferenceRow]


def count(value: float) -> str:
    """Return a whole number with its thousands set apart: 10,000."""
    return f"{value:,.0f}"


def large(value: float) -> str:
    """Return a large number in words: 2.2 million, 24 million."""
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{value / size:.{1 if value < 9.95 * size else 0}f} {name}"
    return count(value)


def count_range(values: Iterable[int]) -> str:
    """Return the one whole number that `values` repeat, or the smallest and the largest of them."""
    distinct = sorted(set(values))
    return count(distinct[0]) if len(distinct) == 1 else f"{count(distinct[0])} to {count(distinct[-1])}"


def run_size(runs: Iterable[int], horizons: Iterable[int]) -> str:
    """Say how long how many runs were: 1,000 runs of 10,000 rounds."""
    n_runs = count_range(runs)
    return f"{n_runs} {'run' if n_runs == '1' else 'runs'} of {count_range(horizons)} rounds"


def number(value: float | None) -> str:
    """Return a number of unknown precision with four significant digits."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return _fixed(value, _decimals(value, 4))


def with_error(mean: float, stderr: float | None) -> str:
    """Return `mean ± stderr`, the error with two significant digits and the mean with as many decimals."""
    if stderr is None or not math.isfinite(stderr):
        return number(mean)
    if stderr <= 1e-9 * abs(mean):
        return f"{number(mean)} ± 0"
    decimals = _decimals(stderr, 2)
    return f"{_fixed(mean, decimals)} ± {_fixed(stderr, decimals)}"


def interval(low: float | None, high: float | None) -> str:
    """Return `[low, high]`, rounded to its width but never so far that a bound loses its sign."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return UNKNOWN
    decimals = _interval_decimals(low, high)
    return f"[{_fixed(low, decimals)}, {_fixed(high, decimals)}]"


def value_within(value: float | None, low: float | None, high: float | None) -> str:
    """Return a value with the decimals of its interval, or with four significant digits if there is none."""
    if value is None or low is None or high is None or not all(map(math.isfinite, (value, low, high))):
        return number(value)
    return _fixed(value, _interval_decimals(low, high))


def estimate(value: float, low: float | None, high: float | None) -> str:
    """Return `value [low, high]` with the decimals of the interval, or the value alone if there is none."""
    bounds = interval(low, high)
    return number(value) if bounds == UNKNOWN else f"{value_within(value, low, high)} {bounds}"


def difference(mean: float, low: float | None, high: float | None) -> str:
    """Return a signed difference with the decimals of its interval."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        text = number(mean)
    else:
        text = _fixed(mean, _interval_decimals(low, high))
    return f"+{text}" if mean > 0 and text.strip("0.,") else text


def reading(low: float | None, high: float | None) -> str:
    """Say what an interval of (policy - baseline) shows about the policy's regret."""
    if high is not None and high < 0:
        return "lower"
    if low is not None and low > 0:
        return "higher"
    return "unclear"


def percentage(share: float | None) -> str:
    """Return a share as per cent; only exactly none and all are 0 % and 100 %."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    if 0 < share < 0.005:
        return "<1 %"
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{100 * share:.0f} %"


def duration(seconds: float | None) -> str:
    """Return a time span in the unit that suits it: 85 ms, 3.2 s, 4 min 05 s, 2 h 10 min."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def heading(experiment: str, part: str = "") -> str:
    """Return what to print above an experiment or a part of it.

    >>> heading("figure3", "heat map"), heading("theory"), heading("mine")
    ('Figure 3: heat map', 'Theory', 'mine')
    """
    numbered = re.fullmatch(r"figure[ _-]?(\d+\w*)", experiment)
    name = f"Figure {numbered[1]}" if numbered else "Theory" if experiment == "theory" else experiment
    return f"{name}: {part}" if part else name


def parameters(recipe: Mapping[str, Any]) -> str:
    """Return the parameters of a policy or problem in one line, whether they stand beside its name or below it."""
    beside = {name: value for name, value in recipe.items() if name != "name"}
    return ", ".join(f"{name} = {value}" for name, value in recipe.get("parameters", beside).items())


def results(summary: "DataFrame") -> list[ResultSection]:
    """Return one section per experiment, part and problem, with the policies in the order of the frame."""
    sections = []
    for frame in summary.partition_by(*PLACE, maintain_order=True):
        records = frame.to_dicts()
        best = min(record["mean"] for record in records)
        rows = [
            ResultRow(
                policy=record["policy"],
                # One run says nothing about the spread, whatever a bootstrap of it yields.
                regret=with_error(record["mean"], record["stderr"] if record["runs"] > 1 else None),
                interval=interval(record["ci_low"], record["ci_high"]) if record["runs"] > 1 else UNKNOWN,
                cpu=duration(record["cpu_seconds"]),
                is_best=record["mean"] == best,
                is_tied=bool(record.get("tied")) and record["mean"] != best,
            )
            for record in records
        ]
        size = run_size((record["runs"] for record in records), (record["horizon"] for record in records))
        sections.append(ResultSection(records[0]["experiment"], records[0]["part"], records[0]["title"], size, rows))
    return sections


def differences(frame: "DataFrame") -> list[DifferenceSection]:
    """Return one section per experiment, part, problem and baseline, with the policies in the order of the frame."""
    sections = []
    for part in () if len(frame) == 0 else frame.partition_by(*PLACE, "baseline", maintain_order=True):
        records = part.to_dicts()
        rows = [
            DifferenceRow(
                policy=record["policy"],
                difference=difference(record["mean"], record["ci_low"], record["ci_high"]),
                interval=interval(record["ci_low"], record["ci_high"]),
                reading=reading(record["ci_low"], record["ci_high"]) if record["runs"] >= FEWEST_RUNS else TOO_FEW,
                share_better=percentage(record["share_better"]),
            )
            for record in records
        ]
        sections.append(DifferenceSection(records[0]["title"], records[0]["baseline"], rows))
    return sections


def _decimals(value: float, significant: int) -> int:
    """Return how many decimals show `significant` digits of `value`."""
    if value == 0:
        return 0
    return min(max(significant - 1 - math.floor(math.log10(abs(value))), 0), _MOST_DECIMALS)


def _interval_decimals(low: float, high: float) -> int:
    half = (high - low) / 2
    decimals = _decimals(half, 2) if half > 1e-9 * abs(high) else _decimals(high, 4)
    while decimals < _MOST_DECIMALS and any(bound != 0 and round(bound, decimals) == 0 for bound in (low, high)):
        decimals += 1
    return decimals


def _fixed(value: float, decimals: int) -> str:
    # Adding zero turns a negative zero into a plain one.
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"
