"""The public names, and where they live: the one list of them, read by type checkers and by `corebandit` itself."""

# Deciding live.
from corebandit.agents.agent import Agent as Agent
from corebandit.agents.decision import Decision as Decision
from corebandit.agents.decision import Decisions as Decisions
from corebandit.agents.contexts import Context as Context
from corebandit.agents.ranking_agent import RankingAgent as RankingAgent
from corebandit.agents.open_agents import open_agent as open_agent
from corebandit.agents.open_agents import open_ranking_agent as open_ranking_agent
from corebandit.agents.open_agents import read_log as read_log

# Comparing.
from corebandit.experiments.experiment import Experiment as Experiment
from corebandit.experiments.sweep import sweep as sweep
from corebandit.experiments.run import run as run
from corebandit.experiments.result import Result as Result

# Policies that choose among arms, in the order in which the paper speaks of them, then the rest.
from corebandit.policies.arms.core import CORe as CORe
from corebandit.policies.arms.ucb1 import UCB1 as UCB1
from corebandit.policies.arms.ucbv import UCBV as UCBV
from corebandit.policies.arms.bernoulli_ts import BernoulliTS as BernoulliTS
from corebandit.policies.arms.gaussian_ts import GaussianTS as GaussianTS
from corebandit.policies.arms.phe import PHE as PHE
from corebandit.policies.arms.npts import NPTS as NPTS
from corebandit.policies.arms.ssmc import SSMC as SSMC
from corebandit.policies.arms.klucb import KLUCB as KLUCB
from corebandit.policies.arms.giro import Giro as Giro
from corebandit.policies.arms.multinomial_ts import MultinomialTS as MultinomialTS
from corebandit.policies.arms.rand_ucb import RandUCB as RandUCB
from corebandit.policies.arms.bootstrap_ts import BootstrapTS as BootstrapTS
from corebandit.policies.arms.weighted_bootstrap import WeightedBootstrap as WeightedBootstrap
from corebandit.policies.arms.reward_exchange import RewardExchange as RewardExchange
from corebandit.policies.arms.ada_ucb import AdaUCB as AdaUCB
from corebandit.policies.arms.moss import MOSS as MOSS
from corebandit.policies.arms.klucb_plus_plus import KLUCBPlusPlus as KLUCBPlusPlus
from corebandit.policies.arms.imed import IMED as IMED
from corebandit.policies.arms.maillard_sampling import MaillardSampling as MaillardSampling
from corebandit.policies.arms.rb_sda import RBSDA as RBSDA
from corebandit.policies.arms.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
from corebandit.policies.arms.uniform_random import UniformRandom as UniformRandom
from corebandit.policies.arms.recommended_core import RecommendedCORe as RecommendedCORe

# Choosing among arms of worlds that change.
from corebandit.policies.arms.drifting_core import DriftingCORe as DriftingCORe
from corebandit.policies.arms.window_core import WindowCORe as WindowCORe
from corebandit.policies.arms.discounted_core import DiscountedCORe as DiscountedCORe
from corebandit.policies.arms.restarting_core import RestartingCORe as RestartingCORe
from corebandit.policies.arms.ducb import DUCB as DUCB
from corebandit.policies.arms.swucb import SWUCB as SWUCB
from corebandit.policies.arms.dts import DTS as DTS
from corebandit.policies.arms.swts import SWTS as SWTS
from corebandit.policies.arms.cusum_ucb import CUSUMUCB as CUSUMUCB
from corebandit.policies.arms.glr_klucb import GLRKLUCB as GLRKLUCB
from corebandit.policies.arms.exp3s import Exp3S as Exp3S

# Choosing by features.
from corebandit.policies.linear.lincore import LinCORe as LinCORe
from corebandit.policies.linear.linucb import LinUCB as LinUCB
from corebandit.policies.linear.lints import LinTS as LinTS
from corebandit.policies.linear.linphe import LinPHE as LinPHE
from corebandit.policies.linear.lin_rand_ucb import LinRandUCB as LinRandUCB
from corebandit.policies.linear.lin_reward_exchange import LinRewardExchange as LinRewardExchange
from corebandit.policies.linear.square_cb import SquareCB as SquareCB
from corebandit.policies.linear.lin_epsilon_greedy import LinEpsilonGreedy as LinEpsilonGreedy
from corebandit.policies.linear.lin_greedy import LinGreedy as LinGreedy
from corebandit.policies.linear.recommended_lincore import RecommendedLinCORe as RecommendedLinCORe

# The same in worlds that change.
from corebandit.policies.linear.drifting_lincore import DriftingLinCORe as DriftingLinCORe
from corebandit.policies.linear.window_lincore import WindowLinCORe as WindowLinCORe
from corebandit.policies.linear.discounted_lincore import DiscountedLinCORe as DiscountedLinCORe
from corebandit.policies.linear.restarting_lincore import RestartingLinCORe as RestartingLinCORe
from corebandit.policies.linear.dlinucb import DLinUCB as DLinUCB
from corebandit.policies.linear.drand_linucb import DRandLinUCB as DRandLinUCB
from corebandit.policies.linear.dlints import DLinTS as DLinTS

# Choosing by a model of the user's own.
from corebandit.policies.models.estimator_core import EstimatorCORe as EstimatorCORe
from corebandit.policies.models.estimators import RidgeRegression as RidgeRegression

# With a generalised linear model.
from corebandit.policies.glm.glmcore import GLMCORe as GLMCORe
from corebandit.policies.glm.glmucb import GLMUCB as GLMUCB
from corebandit.policies.glm.ucbglm import UCBGLM as UCBGLM
from corebandit.policies.glm.glm_rand_ucb import GLMRandUCB as GLMRandUCB
from corebandit.policies.glm.glmfpl import GLMFPL as GLMFPL
from corebandit.policies.glm.glmtsl import GLMTSL as GLMTSL
from corebandit.policies.glm.log_epsilon_greedy import LogEpsilonGreedy as LogEpsilonGreedy
from corebandit.policies.glm.logphe import LogPHE as LogPHE

# With a network; these need PyTorch.
from corebandit.policies.neural.neural_core import NeuralCORe as NeuralCORe
from corebandit.policies.neural.neural_ensemble import NeuralEnsemble as NeuralEnsemble
from corebandit.policies.neural.neural_ucb import NeuralUCB as NeuralUCB
from corebandit.policies.neural.neural_ts import NeuralTS as NeuralTS

# Ranking.
from corebandit.ranking.policies.adapter import Ranked as Ranked
from corebandit.ranking.policies.cascade_klucb import CascadeKLUCB as CascadeKLUCB
from corebandit.ranking.policies.cascade_ucb1 import CascadeUCB1 as CascadeUCB1
from corebandit.ranking.policies.toprank import TopRank as TopRank
from corebandit.ranking.policies.batchrank import BatchRank as BatchRank
from corebandit.ranking.policies.ranked_bandits import RankedBandits as RankedBandits
from corebandit.ranking.policies.pbm_ucb import PBMUCB as PBMUCB

# Problems.
from corebandit.problems.random_arms import BernoulliBandit as BernoulliBandit
from corebandit.problems.random_arms import BetaBandit as BetaBandit
from corebandit.problems.random_arms import GaussianBandit as GaussianBandit
from corebandit.problems.random_arms import MixedBandit as MixedBandit
from corebandit.problems.random_arms import StudentTBandit as StudentTBandit
from corebandit.problems.random_arms import UnequalBandit as UnequalBandit
from corebandit.problems.random_arms import PurchaseBandit as PurchaseBandit
from corebandit.problems.arms import FixedArms as FixedArms
from corebandit.problems.linear import LinearBandit as LinearBandit
from corebandit.problems.linear import ContextualBandit as ContextualBandit
from corebandit.problems.linear import FixedLinear as FixedLinear
from corebandit.problems.logistic import LogisticBandit as LogisticBandit
from corebandit.problems.counts import PoissonBandit as PoissonBandit
from corebandit.problems.nonlinear import NonlinearBandit as NonlinearBandit
from corebandit.problems.classification import ClassificationBandit as ClassificationBandit
from corebandit.problems.classification import FixedClassification as FixedClassification

# Worlds that change.
from corebandit.problems.changing import ChangingBandit as ChangingBandit
from corebandit.problems.changing import ChangedArms as ChangedArms
from corebandit.problems.changing import ChangedBest as ChangedBest
from corebandit.problems.changing import QuietlyBetter as QuietlyBetter
from corebandit.problems.changing_linear import ChangingLinearBandit as ChangingLinearBandit

# Users who click.
from corebandit.ranking.ranking_problems import RankingBandit as RankingBandit
from corebandit.ranking.ranking_problems import YandexLike as YandexLike
from corebandit.ranking.ranking_problems import StoredQuery as StoredQuery

# Laws of rewards, and instances of classes of one's own.
from corebandit.problems.given import Given as Given
from corebandit.problems.arms import Bernoulli as Bernoulli
from corebandit.problems.arms import Beta as Beta
from corebandit.problems.arms import Gaussian as Gaussian
from corebandit.problems.arms import Uniform as Uniform
from corebandit.problems.arms import Exponential as Exponential
from corebandit.problems.arms import StudentT as StudentT
from corebandit.problems.arms import Purchase as Purchase

# To write policies and problems.
from corebandit.contracts.recipe import Policy as Policy
from corebandit.contracts.recipe import FeaturePolicy as FeaturePolicy
from corebandit.contracts.recipe import RankingPolicy as RankingPolicy
from corebandit.contracts.recipe import AnyPolicy as AnyPolicy
from corebandit.contracts.recipe import Problem as Problem

# What they are given, and how they are compiled.
from corebandit.randomness.stream import Stream as Stream
from corebandit.compiled.bridge import allocating_nothing as allocating_nothing

# The contract, as functions.
from corebandit.checks.sentences import CheckFailed as CheckFailed
from corebandit.checks.policy_checks import check_policy as check_policy
from corebandit.checks.problem_checks import check_problem as check_problem
from corebandit.checks.policy_checks import check_ranking_policy as check_ranking_policy

# Errors, by kind.
from corebandit.contracts.errors import BadInput as BadInput
from corebandit.contracts.errors import UnknownDecision as UnknownDecision
from corebandit.contracts.errors import LostDecision as LostDecision
from corebandit.contracts.errors import AlreadyTold as AlreadyTold
from corebandit.contracts.errors import TooLate as TooLate
from corebandit.contracts.errors import UnknownArm as UnknownArm
from corebandit.contracts.errors import BadReward as BadReward
from corebandit.contracts.errors import BadFeatures as BadFeatures
from corebandit.contracts.errors import CannotWrite as CannotWrite
from corebandit.contracts.errors import DamagedFile as DamagedFile

__version__: str
