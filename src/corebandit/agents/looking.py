"""What an agent shows of itself: what became of each option's decisions, as a data frame and in a notebook."""

import html
import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from corebandit.agents.traffic import Tally
from corebandit.contracts.errors import BadInput
from corebandit.randomness.stream import Stream, stream

if TYPE_CHECKING:
    import polars as pl

LEVEL = 0.95  # of the intervals
MOST_SHOWN = 100  # options in a notebook
LARGEST_INTEGER = 2**63 - 1  # of a column

Columns = dict[str, list[Any]]


class ShowsItself:
    """An agent that can be looked at while it works."""

    policy: Any
    seed: int
    _lock: Any
    _options: Any
    _desk: Any
    _ledger: Any

    @property
    @abstractmethod
    def _n_learnt(self) -> int:
        """Return how many decisions, made here or elsewhere, were learnt from."""

    def _spare_stream(self) -> Stream:
        """Return random numbers for a look: others than decisions take, and the same until something happens."""
        return stream(self.seed, "look", self._desk.n_observations, self._ledger.ids.n_given)

    def _columns(self) -> Columns | None:
        """Return what is known of each option; None where options have no names."""
        with self._lock:
            options = self._options
            if options.names is None:
                return None
            return columns_of(options.noun, options.names, options.retired, self._ledger.traffic.tallies)

    def _frame(self, probability: Mapping[int, float] | None) -> "pl.DataFrame":
        """Return what is known of each option as a data frame."""
        columns = self._columns()
        if columns is None:
            raise BadInput("there is no table of arms: this agent was made without arms, so its options are rows")
        return as_frame(columns, probability)

    def _repr_html_(self) -> str:
        """Return what a notebook shows. Probabilities are left to `table`: they may have to be compiled."""
        with self._lock:
            n_waiting, columns = len(self._ledger.waiting), self._columns()
        facts = [f"{self._n_learnt:,} learnt from", f"{n_waiting:,} open"]
        return as_html(f"{type(self).__name__}: {self.policy.label}", facts, columns)


def columns_of(noun: str, names: Sequence[Hashable], retired: Iterable[int], tallies: Sequence[Tally]) -> Columns:
    """Return what is known of each option, column by column."""
    off_offer = frozenset(retired)
    changes = [None if tally.watch is None else tally.watch.change for tally in tallies]
    intervals = [interval_of_mean(tally.told, tally.mean, tally.spread) for tally in tallies]
    return {
        noun: shown_names(names),
        "on_offer": [index not in off_offer for index in range(len(names))],
        "told": [tally.told for tally in tallies],
        "open": [tally.open for tally in tallies],
        "late": [tally.late for tally in tallies],
        "mean": [tally.mean if tally.told else None for tally in tallies],
        "ci_low": [interval[0] for interval in intervals],
        "ci_high": [interval[1] for interval in intervals],
        "before": [None if change is None else change.before for change in changes],
        "after": [None if change is None else change.after for change in changes],
        "last_told": [in_utc(tally.last_told) for tally in tallies],
    }


def shown_names(names: Sequence[Hashable]) -> list[Any]:
    """Return names as a column can hold them: strings, or whole numbers, as they are; anything else as its repr.

    >>> shown_names(["red", "blue"]), shown_names([1, 2]), shown_names(["red", 2])
    (['red', 'blue'], [1, 2], ["'red'", '2'])
    """
    are_texts = all(type(name) is str and is_text(name) for name in names)
    are_counts = all(type(name) is int and abs(name) <= LARGEST_INTEGER for name in names)
    return list(names) if are_texts or are_counts else [repr(name) for name in names]


def is_text(name: str) -> bool:
    """Tell whether a column can hold a string: not one with half a character in it."""
    return name.isascii() or name.encode(errors="replace").decode() == name


def interval_of_mean(n: int, mean: float, spread: float) -> tuple[float | None, float | None]:
    """Return the 95 % interval of a mean by the t distribution; None for both ends of fewer than 2 numbers.

    `spread` is the sum of their squared distances to the mean.
    """
    if n < 2:
        return None, None
    from scipy.special import stdtrit  # what decides live does without

    half = float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * math.sqrt(spread / (n - 1) / n)
    return mean - half, mean + half


def in_utc(seconds: float | None) -> datetime | None:
    """Return a time, unless there is none or a clock of the user's counts from elsewhere."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def as_frame(columns: Columns, probability: Mapping[int, float] | None) -> "pl.DataFrame":
    """Return the columns as a data frame, with the probability of each option; None if it is not known."""
    import polars as pl

    noun, *_ = columns
    rows = range(len(columns[noun]))
    whole, number = pl.Int64, pl.Float64
    schema = {
        noun: pl.Int64 if isinstance(columns[noun][0], int) else pl.String,
        "on_offer": pl.Boolean,
        **dict.fromkeys(("told", "open", "late"), whole),
        **dict.fromkeys(("mean", "ci_low", "ci_high", "before", "after", "probability"), number),
        "last_told": pl.Datetime("us", "UTC"),
    }
    chances = [None if probability is None else probability.get(index, 0.0) for index in rows]
    return pl.DataFrame({**columns, "probability": chances}, schema=schema)


def as_html(title: str, facts: Sequence[str], columns: Columns | None) -> str:
    """Return what a notebook shows: a title, some facts, and the columns as a table. Everything is escaped."""
    parts = [f"<p><b>{html.escape(title)}</b><br>{html.escape(', '.join(facts))}</p>"]
    if columns is not None:
        heads = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        rows = list(zip(*columns.values(), strict=True))
        cells = ["".join(f"<td>{html.escape(_in_words(value))}</td>" for value in row) for row in rows[:MOST_SHOWN]]
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        parts.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>")
        if len(rows) > MOST_SHOWN:
            parts.append(f"<p>and {len(rows) - MOST_SHOWN:,} more</p>")
    return "".join(parts)


def _in_words(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:%Y-%m-%d %H:%M:%S}" if isinstance(value, datetime) else str(value)
