"""What pays rewards. A new problem is one class, and one line here."""

from corebandit.problems.arms import (
    LAWS,
    Arms,
    Bernoulli,
    Beta,
    Exponential,
    FixedArms,
    Gaussian,
    Law,
    Uniform,
    arms_of,
)
from corebandit.problems.draw import BernoulliBandit, BetaBandit, GaussianBandit, MixedBandit
from corebandit.problems.given import Given
from corebandit.recipe import Problem

__all__ = [
    "LAWS",
    "Arms",
    "Bernoulli",
    "BernoulliBandit",
    "Beta",
    "BetaBandit",
    "Exponential",
    "FixedArms",
    "Gaussian",
    "GaussianBandit",
    "Given",
    "Law",
    "MixedBandit",
    "Uniform",
    "all_problems",
    "arms_of",
]


def all_problems() -> dict[str, type[Problem]]:
    """Return the problems that can be named, by name."""
    found = (BernoulliBandit, BetaBandit, GaussianBandit, MixedBandit, FixedArms)
    return {problem.name: problem for problem in found}
