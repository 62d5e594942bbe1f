"""Bandit exploration without tuning: CORe, its rivals, and experiments whose numbers can be trusted.

The public names. They are imported when first used, so that `import corebandit` stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corebandit.agent import Agent as Agent, Decision as Decision
    from corebandit.checks import (
        CheckFailed as CheckFailed,
        check_policy as check_policy,
        check_problem as check_problem,
        check_ranking_policy as check_ranking_policy,
    )
    from corebandit.compiled import allocating_nothing as allocating_nothing
    from corebandit.estimators import RidgeRegression as RidgeRegression
    from corebandit.experiment import Experiment as Experiment
    from corebandit.policies import (
        GLMFPL as GLMFPL,
        GLMTSL as GLMTSL,
        GLMUCB as GLMUCB,
        KLUCB as KLUCB,
        NPTS as NPTS,
        PHE as PHE,
        SSMC as SSMC,
        UCB1 as UCB1,
        UCBGLM as UCBGLM,
        UCBV as UCBV,
        BernoulliTS as BernoulliTS,
        BootstrapTS as BootstrapTS,
        CORe as CORe,
        EpsilonGreedy as EpsilonGreedy,
        EstimatorCORe as EstimatorCORe,
        GaussianTS as GaussianTS,
        Giro as Giro,
        GLMCORe as GLMCORe,
        GLMRandUCB as GLMRandUCB,
        LinCORe as LinCORe,
        LinEpsilonGreedy as LinEpsilonGreedy,
        LinGreedy as LinGreedy,
        LinPHE as LinPHE,
        LinRandUCB as LinRandUCB,
        LinRewardExchange as LinRewardExchange,
        LinTS as LinTS,
        LinUCB as LinUCB,
        LogEpsilonGreedy as LogEpsilonGreedy,
        LogPHE as LogPHE,
        MultinomialTS as MultinomialTS,
        NeuralCORe as NeuralCORe,
        NeuralEnsemble as NeuralEnsemble,
        NeuralTS as NeuralTS,
        NeuralUCB as NeuralUCB,
        RandUCB as RandUCB,
        RecommendedCORe as RecommendedCORe,
        RecommendedLinCORe as RecommendedLinCORe,
        RewardExchange as RewardExchange,
        UniformRandom as UniformRandom,
        WeightedBootstrap as WeightedBootstrap,
    )
    from corebandit.problems import (
        Bernoulli as Bernoulli,
        BernoulliBandit as BernoulliBandit,
        Beta as Beta,
        BetaBandit as BetaBandit,
        ClassificationBandit as ClassificationBandit,
        ContextualBandit as ContextualBandit,
        Exponential as Exponential,
        FixedArms as FixedArms,
        FixedClassification as FixedClassification,
        FixedLinear as FixedLinear,
        Gaussian as Gaussian,
        GaussianBandit as GaussianBandit,
        Given as Given,
        LinearBandit as LinearBandit,
        LogisticBandit as LogisticBandit,
        MixedBandit as MixedBandit,
        NonlinearBandit as NonlinearBandit,
        PoissonBandit as PoissonBandit,
        Uniform as Uniform,
    )
    from corebandit.ranking.policies import (
        PBMUCB as PBMUCB,
        BatchRank as BatchRank,
        CascadeKLUCB as CascadeKLUCB,
        CascadeUCB1 as CascadeUCB1,
        Ranked as Ranked,
        RankedBandits as RankedBandits,
        TopRank as TopRank,
    )
    from corebandit.ranking.problems import (
        RankingBandit as RankingBandit,
        StoredQuery as StoredQuery,
        YandexLike as YandexLike,
    )
    from corebandit.ranking_agent import RankingAgent as RankingAgent
    from corebandit.recipe import (
        AnyPolicy as AnyPolicy,
        FeaturePolicy as FeaturePolicy,
        Policy as Policy,
        Problem as Problem,
        RankingPolicy as RankingPolicy,
    )
    from corebandit.result import Result as Result
    from corebandit.runner import run as run
    from corebandit.stream import Stream as Stream
    from corebandit.sweeps import sweep as sweep

__version__ = "0.4.0"

_HOME = {
    "agent": ("Agent", "Decision"),
    "checks": ("CheckFailed", "check_policy", "check_problem", "check_ranking_policy"),
    "compiled": ("allocating_nothing",),
    "estimators": ("RidgeRegression",),
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
        "RandUCB",
        "BootstrapTS",
        "WeightedBootstrap",
        "RewardExchange",
        "EpsilonGreedy",
        "UniformRandom",
        "RecommendedCORe",
        "LinCORe",
        "LinUCB",
        "LinTS",
        "LinPHE",
        "LinRandUCB",
        "LinRewardExchange",
        "LinEpsilonGreedy",
        "LinGreedy",
        "RecommendedLinCORe",
        "EstimatorCORe",
        "GLMCORe",
        "GLMUCB",
        "UCBGLM",
        "GLMRandUCB",
        "GLMTSL",
        "GLMFPL",
        "LogPHE",
        "LogEpsilonGreedy",
        "NeuralCORe",
        "NeuralEnsemble",
        "NeuralUCB",
        "NeuralTS",
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
        "LinearBandit",
        "ContextualBandit",
        "FixedLinear",
        "LogisticBandit",
        "NonlinearBandit",
        "PoissonBandit",
        "ClassificationBandit",
        "FixedClassification",
    ),
    "ranking.policies": (
        "Ranked",
        "CascadeKLUCB",
        "CascadeUCB1",
        "TopRank",
        "BatchRank",
        "RankedBandits",
        "PBMUCB",
    ),
    "ranking.problems": ("RankingBandit", "StoredQuery", "YandexLike"),
    "ranking_agent": ("RankingAgent",),
    "recipe": ("Policy", "FeaturePolicy", "RankingPolicy", "AnyPolicy", "Problem"),
    "result": ("Result",),
    "runner": ("run",),
    "stream": ("Stream",),
    "sweeps": ("sweep",),
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
