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
from corebandit.problems.classification import ClassificationArms, ClassificationBandit, FixedClassification
from corebandit.problems.counts import CountArms, PoissonBandit
from corebandit.problems.draw import BernoulliBandit, BetaBandit, GaussianBandit, MixedBandit
from corebandit.problems.given import Given
from corebandit.problems.linear import ContextualBandit, FixedLinear, LinearArms, LinearBandit
from corebandit.problems.logistic import LogisticBandit
from corebandit.problems.nonlinear import NonlinearArms, NonlinearBandit
from corebandit.recipe import Problem

__all__ = [
    "LAWS",
    "Arms",
    "Bernoulli",
    "BernoulliBandit",
    "Beta",
    "BetaBandit",
    "ClassificationArms",
    "ClassificationBandit",
    "ContextualBandit",
    "CountArms",
    "Exponential",
    "FixedArms",
    "FixedClassification",
    "FixedLinear",
    "Gaussian",
    "GaussianBandit",
    "Given",
    "Law",
    "LinearArms",
    "LinearBandit",
    "LogisticBandit",
    "MixedBandit",
    "NonlinearArms",
    "NonlinearBandit",
    "PoissonBandit",
    "Uniform",
    "all_problems",
    "arms_of",
]


def all_problems() -> dict[str, type[Problem]]:
    """Return the problems that can be named, by name."""
    found: tuple[type[Problem], ...] = (BernoulliBandit, BetaBandit, GaussianBandit, MixedBandit, FixedArms)
    found += (LinearBandit, ContextualBandit, FixedLinear, LogisticBandit, PoissonBandit)
    found += (NonlinearBandit, ClassificationBandit, FixedClassification)
    return {problem.name: problem for problem in found}
