"""Where the sources can be read in several ways: what a figure shows, what else is run, and claims judged for each.

The paper's text leaves parameters of rivals open, and its authors' code sometimes says something else. A figure shows
one reading; the others are further policies of the same experiments, which take the part of those they stand for.
`sources.py` has who says what.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from corebandit.experiments.result import Result
from corebandit.report.claim import Claim, Finding
from corebandit.reproduction.claims import Finals, judged


class Reading(NamedTuple):
    """Another reading of the sources: its name, and which policies take the part of which."""

    name: str
    instead_of: Mapping[str, str]


class Said(NamedTuple):
    """What the paper says, of which rivals, and the comparisons that must hold: by the regrets, and CORe's label."""

    id: str
    text: str
    rivals: Sequence[str]
    comparisons: Callable[[Finals, str], list[Finding]]


AS_DRAWN = Reading("", {})


def judge_readings(
    result: Result, figure: str, all_said: Sequence[Said], cores: Mapping[float, str], readings: Sequence[Reading]
) -> list[Claim]:
    """Judge claims as the figure is drawn, then under each reading that concerns their rivals, for every warm-up."""
    return [
        judged(said.id, said.text, factor, said.comparisons(finals, core), reading.name)
        for said in all_said
        for reading in (AS_DRAWN, *concerning(said.rivals, readings))
        for finals in [Finals(result, figure, instead_of=reading.instead_of)]
        for factor, core in cores.items()
    ]


def concerning(rivals: Sequence[str], readings: Sequence[Reading]) -> list[Reading]:
    """Return the readings in which somebody takes the part of one of these rivals."""
    return [reading for reading in readings if reading.instead_of.keys() & set(rivals)]
