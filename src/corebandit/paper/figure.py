"""What a figure of the paper is: experiments of a certain size, and claims to judge on their result."""

from collections.abc import Callable
from dataclasses import dataclass

from corebandit.experiment import Experiment
from corebandit.paper.claims import Claim
from corebandit.result import Result


@dataclass(frozen=True)
class Size:
    """How large, from which seed, and how CORe draws its noise."""

    horizon: int
    runs: int
    seed: int = 0
    sampler: str = "fast"


@dataclass(frozen=True)
class Figure:
    """A figure of the paper as data."""

    name: str
    caption: str
    paper_size: Size
    quick_size: Size
    experiments: Callable[[Size], list[Experiment]]
    claims: Callable[[Result], list[Claim]]
