"""Bandit exploration without tuning: CORe, its rivals, and experiments whose numbers can be trusted.

The public names. They are imported when first used, so that `import corebandit` stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corebandit.agent import Agent, Decision
    from corebandit.checks import CheckFailed, check_policy, check_problem
    from corebandit.compiled import allocating_nothing
    from corebandit.experiment import Experiment
    from corebandit.policies import (
        KLUCB,
        NPTS,
        PHE,
        SSMC,
        UCB1,
        UCBV,
        BernoulliTS,
        CORe,
        EpsilonGreedy,
        GaussianTS,
        Giro,
        MultinomialTS,
        UniformRandom,
    )
    from corebandit.problems import (
        Bernoulli,
        BernoulliBandit,
        Beta,
        BetaBandit,
        Exponential,
        FixedArms,
        Gaussian,
        GaussianBandit,
        Given,
        MixedBandit,
        Uniform,
    )
    from corebandit.recipe import Policy, Problem
    from corebandit.result import Result
    from corebandit.runner import run
    from corebandit.stream import Stream

__version__ = "0.1.0"

_HOME = {
    "agent": ("Agent", "Decision"),
    "checks": ("CheckFailed", "check_policy", "check_problem"),
    "compiled": ("allocating_nothing",),
    "experiment": ("Experiment",),
    "policies": (
        "CORe",
        "UCB1",
        "UCBV",
        "KLUCB",
        "BernoulliTS",
        "GaussianTS",
        "PHE",
        "Giro",
        "NPTS",
        "SSMC",
        "MultinomialTS",
        "EpsilonGreedy",
        "UniformRandom",
    ),
    "problems": (
        "BernoulliBandit",
        "BetaBandit",
        "GaussianBandit",
        "MixedBandit",
        "FixedArms",
        "Given",
        "Bernoulli",
        "Beta",
        "Gaussian",
        "Uniform",
        "Exponential",
    ),
    "recipe": ("Policy", "Problem"),
    "result": ("Result",),
    "runner": ("run",),
    "stream": ("Stream",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *_MODULE]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'corebandit' has no attribute {name!r}")
    value = getattr(import_module(f"corebandit.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
