"""The policies, one file each. A new one is a new file and a line here; everything else finds it by `all_policies`."""

from corebandit.policies.bernoulli_ts import BernoulliTS
from corebandit.policies.bootstrap_ts import BootstrapTS
from corebandit.policies.core import CORe
from corebandit.policies.epsilon_greedy import EpsilonGreedy
from corebandit.policies.estimator_core import EstimatorCORe
from corebandit.policies.gaussian_ts import GaussianTS
from corebandit.policies.giro import Giro
from corebandit.policies.glm_rand_ucb import GLMRandUCB
from corebandit.policies.glmcore import GLMCORe
from corebandit.policies.glmfpl import GLMFPL
from corebandit.policies.glmtsl import GLMTSL
from corebandit.policies.glmucb import GLMUCB
from corebandit.policies.klucb import KLUCB
from corebandit.policies.lin_epsilon_greedy import LinEpsilonGreedy
from corebandit.policies.lin_greedy import LinGreedy
from corebandit.policies.lin_rand_ucb import LinRandUCB
from corebandit.policies.lin_reward_exchange import LinRewardExchange
from corebandit.policies.lincore import LinCORe
from corebandit.policies.linphe import LinPHE
from corebandit.policies.lints import LinTS
from corebandit.policies.linucb import LinUCB
from corebandit.policies.log_epsilon_greedy import LogEpsilonGreedy
from corebandit.policies.logphe import LogPHE
from corebandit.policies.multinomial_ts import MultinomialTS
from corebandit.policies.neural import NeuralCORe, NeuralEnsemble, NeuralTS, NeuralUCB
from corebandit.policies.neural.learner import NeuralPolicy
from corebandit.policies.npts import NPTS
from corebandit.policies.phe import PHE
from corebandit.policies.rand_ucb import RandUCB
from corebandit.policies.recommended_core import RecommendedCORe
from corebandit.policies.recommended_lincore import RecommendedLinCORe
from corebandit.policies.reward_exchange import RewardExchange
from corebandit.policies.ssmc import SSMC
from corebandit.policies.ucb1 import UCB1
from corebandit.policies.ucbglm import UCBGLM
from corebandit.policies.ucbv import UCBV
from corebandit.policies.uniform_random import UniformRandom
from corebandit.policies.weighted_bootstrap import WeightedBootstrap
from corebandit.recipe import AnyPolicy, FeaturePolicy, Policy

# In the order in which the paper speaks of them, then the rest.
__all__ = ["CORe"]
__all__ += ["UCB1", "UCBV"]
__all__ += ["BernoulliTS", "GaussianTS"]
__all__ += ["PHE"]
__all__ += ["NPTS", "SSMC"]
__all__ += ["KLUCB", "Giro", "MultinomialTS"]
__all__ += ["RandUCB"]
__all__ += ["BootstrapTS", "WeightedBootstrap"]
__all__ += ["RewardExchange"]
__all__ += ["EpsilonGreedy", "UniformRandom"]
__all__ += ["RecommendedCORe"]
# Choosing by features.
__all__ += ["LinCORe"]
__all__ += ["LinUCB"]
__all__ += ["LinTS"]
__all__ += ["LinPHE"]
__all__ += ["LinRandUCB"]
__all__ += ["LinRewardExchange"]
__all__ += ["LinEpsilonGreedy", "LinGreedy"]
__all__ += ["RecommendedLinCORe"]
# Choosing by a model of the user's own.
__all__ += ["EstimatorCORe"]
# With a generalised linear model.
__all__ += ["GLMCORe"]
__all__ += ["GLMUCB", "UCBGLM", "GLMRandUCB"]
__all__ += ["GLMFPL", "GLMTSL"]
__all__ += ["LogEpsilonGreedy", "LogPHE"]
# Choosing by features, with a network; these need PyTorch.
__all__ += ["NeuralCORe", "NeuralEnsemble"]
__all__ += ["NeuralUCB"]
__all__ += ["NeuralTS"]
__all__ += ["all_policies", "arm_policies", "feature_policies", "neural_policies"]


def all_policies() -> dict[str, type[AnyPolicy]]:
    """Return every policy of the library by its name.

    >>> list(all_policies())[:3]
    ['CORe', 'UCB1', 'UCBV']
    """
    public = (globals()[name] for name in __all__)
    return {recipe.name: recipe for recipe in public if isinstance(recipe, type) and issubclass(recipe, AnyPolicy)}


def arm_policies() -> dict[str, type[Policy]]:
    """Return the policies that choose among arms."""
    return {name: recipe for name, recipe in all_policies().items() if issubclass(recipe, Policy)}


def feature_policies() -> dict[str, type[FeaturePolicy]]:
    """Return the policies that choose by features.

    >>> list(feature_policies())[:2]
    ['LinCORe', 'LinUCB']
    """
    return {name: recipe for name, recipe in all_policies().items() if issubclass(recipe, FeaturePolicy)}


def neural_policies() -> dict[str, type[NeuralPolicy]]:
    """Return the policies that need PyTorch.

    >>> list(neural_policies())[0]
    'NeuralCORe'
    """
    return {name: recipe for name, recipe in all_policies().items() if issubclass(recipe, NeuralPolicy)}
