"""What the study of exploration plays: problems, settings of CORe, and rivals at many settings each.

A cell is a problem and a horizon. Rivals are the policies of Figures 1, 2 and 4, RandUCB and BootstrapTS. Whoever has a
parameter for the noise is told it, and has others beside it: of each family the best in hindsight counts.
"""

import math
from itertools import product
from typing import NamedTuple

from corebandit.contracts.recipe import UNIT_INTERVAL, AnyPolicy, Policy, Problem
from corebandit.policies.arms.bernoulli_ts import BernoulliTS
from corebandit.policies.arms.bootstrap_ts import BootstrapTS
from corebandit.policies.arms.core import CORe
from corebandit.policies.arms.gaussian_ts import GaussianTS
from corebandit.policies.arms.npts import NPTS
from corebandit.policies.arms.phe import PHE
from corebandit.policies.arms.rand_ucb import RandUCB
from corebandit.policies.arms.ssmc import SSMC
from corebandit.policies.arms.ucb1 import UCB1
from corebandit.policies.arms.ucbv import UCBV
from corebandit.policies.linear.lin_rand_ucb import LinRandUCB
from corebandit.policies.linear.lincore import LinCORe
from corebandit.policies.linear.linphe import LinPHE
from corebandit.policies.linear.lints import LinTS
from corebandit.policies.linear.linucb import LinUCB
from corebandit.problems.linear import LinearBandit
from corebandit.problems.random_arms import (
    BernoulliBandit,
    BetaBandit,
    GaussianBandit,
    PurchaseBandit,
    StudentTBandit,
    UnequalBandit,
)
from corebandit.ranking.policies.adapter import Ranked
from corebandit.ranking.policies.cascade_klucb import CascadeKLUCB
from corebandit.ranking.policies.toprank import TopRank
from corebandit.ranking.ranking_problems import YandexLike

ALPHAS, EXTRAS = (0.5, 0.6, 0.7, 0.8), (2, 4, 8, 16)  # of settings whose noise does not grow
GROWN_ALPHAS, GROWN_EXTRAS, GROWTHS = (0.3, 0.4, 0.5, 0.6), (1, 2, 4), (0.25, 0.5, 1.0)  # of those whose noise does
TOLD = (0.5, 0.7, 1.0)  # times the noise, of Thompson sampling and the like
STRENGTHS = (0.3, 0.5, 0.8, 1.1)  # pseudo-rewards for each reward of PHE

Family = dict[str, AnyPolicy]  # settings of one rival, by label


class Kind(NamedTuple):
    """A class of problems."""

    problem: Problem
    is_chosen_on: bool = False  # the setting is chosen on it; else it is only reported
    is_long: bool = False  # also played for the longest horizon


KINDS = {
    "Bernoulli": Kind(BernoulliBandit(), is_chosen_on=True, is_long=True),
    "Beta": Kind(BetaBandit(), is_long=True),
    "Gaussian 0.2": Kind(GaussianBandit(sigma=0.2), is_long=True),
    "Gaussian 0.5": Kind(GaussianBandit(sigma=0.5), is_chosen_on=True, is_long=True),
    "Gaussian 1": Kind(GaussianBandit(sigma=1.0), is_long=True),
    "Student-t": Kind(StudentTBandit()),  # whose noise is drawn one by one for long, as that of purchases
    "Unequal noise": Kind(UnequalBandit(), is_long=True),
    "Rare conversions": Kind(BernoulliBandit(low=0.002, high=0.004), is_long=True),
    "Purchases": Kind(PurchaseBandit(), is_chosen_on=True),
    "Bernoulli, 2 arms": Kind(BernoulliBandit(n_arms=2)),
    "Bernoulli, 50 arms": Kind(BernoulliBandit(n_arms=50), is_long=True),
    "Bernoulli, 200 arms": Kind(BernoulliBandit(n_arms=200)),
    "Gaussian 0.5, 2 arms": Kind(GaussianBandit(n_arms=2)),
    "Gaussian 0.5, 50 arms": Kind(GaussianBandit(n_arms=50), is_chosen_on=True, is_long=True),
    "Gaussian 0.5, 200 arms": Kind(GaussianBandit(n_arms=200)),
    "Bernoulli, linear": Kind(LinearBandit(rewards="bernoulli"), is_chosen_on=True, is_long=True),
    "Beta, linear": Kind(LinearBandit(rewards="beta")),
    "Gaussian 0.2, linear": Kind(LinearBandit(rewards="gaussian", sigma=0.2)),
    "Gaussian 0.5, linear": Kind(LinearBandit(rewards="gaussian", sigma=0.5), is_chosen_on=True, is_long=True),
    "Gaussian 1, linear": Kind(LinearBandit(rewards="gaussian", sigma=1.0)),
    "Search queries": Kind(YandexLike(query=None)),
}


def core_on(problem: Problem, core: CORe) -> AnyPolicy:
    """Return CORe in the form that suits a problem; by features its noise cannot grow."""
    if isinstance(problem, LinearBandit):
        return LinCORe(alpha=core.alpha, z=core.z, warm_up=core.warm_up, sampler=core.sampler, extra=core.extra)
    return Ranked(core) if isinstance(problem, YandexLike) else core


def is_by_features(problem: Problem) -> bool:
    """Tell whether a problem is one for LinCORe."""
    return isinstance(problem, LinearBandit)


def candidates(by_features: bool) -> dict[str, CORe]:
    """Return the settings without a warm-up that are compared, for linear models or for arms."""
    settings = [(alpha, extra, 0.0) for alpha, extra in product(ALPHAS, EXTRAS)]
    if not by_features:
        settings += product(GROWN_ALPHAS, GROWN_EXTRAS, GROWTHS)
    cores = [CORe(alpha=alpha, warm_up=0.0, extra=extra, growth=growth) for alpha, extra, growth in settings]
    return {in_words(core): core for core in cores}


def in_words(core: CORe) -> str:
    """Return what a setting without a warm-up is called.

    >>> in_words(CORe(alpha=0.5, extra=2)), in_words(CORe(alpha=0.4, extra=1, growth=0.5))
    ('alpha 0.5, extra 2', 'alpha 0.4, extra 1, growth 0.5')
    """
    return f"alpha {core.alpha:g}, extra {core.extra}" + (f", growth {core.growth:g}" if core.growth else "")


def families_on(problem: Problem) -> dict[str, Family]:
    """Return the rivals on a problem, each at all its settings."""
    if isinstance(problem, YandexLike):
        return _for_rankings()
    return _for_features(problem) if isinstance(problem, LinearBandit) else _for_arms(problem)


def noise_of(problem: Problem) -> float:
    """Return the standard deviation of a typical arm's rewards: what rivals are told."""
    if isinstance(problem, LinearBandit):
        return {"bernoulli": 0.5, "beta": 0.5 / math.sqrt(1.0 + problem.v)}.get(problem.rewards, problem.sigma)
    if isinstance(problem, BernoulliBandit):
        middle = 0.5 * (problem.low + problem.high)
        return math.sqrt(middle * (1.0 - middle))
    if isinstance(problem, BetaBandit):
        return 0.5 / math.sqrt(1.0 + problem.v)
    if isinstance(problem, UnequalBandit):  # its root mean square
        least, most = problem.least_sigma, problem.most_sigma
        return math.sqrt((most**2 - least**2) / (2.0 * math.log(most / least)))
    if isinstance(problem, PurchaseBandit):
        often, amount = 0.5 * (problem.low + problem.high), 0.5 * (problem.least + problem.most)
        return amount * math.sqrt(often * math.e - often**2)
    return float(getattr(problem, "sigma", 0.5))


def _for_arms(problem: Problem) -> dict[str, Family]:
    noise, is_unit = noise_of(problem), problem.support == UNIT_INTERVAL
    thompson: Family = {f"TS {told:g} of the noise": GaussianTS(sigma=told * noise) for told in TOLD}
    perturbed: Family = {
        f"PHE {a:g}": PHE(a=a, pseudo="gaussian", sigma=noise, any_reward=True) for a in STRENGTHS[:-1]
    }
    if is_unit:
        thompson |= {f"Bernoulli TS {scale:g}": BernoulliTS(scale=scale) for scale in (0.25, 0.5, 1.0)}
        perturbed |= {f"PHE {a:g}, 0/1": PHE(a=a) for a in STRENGTHS}
    middle = 0.5 if is_unit else _middle(problem)
    low, high = (0.0, 1.0) if is_unit else (middle - noise, middle + noise)
    families: dict[str, Family] = {
        "TS": thompson,
        "PHE": perturbed,
        "SSMC": {"SSMC": SSMC(), "SSMC, last": SSMC(window="last")},
        "RandUCB": {f"RandUCB {told:g}": RandUCB(sigma=told * noise) for told in TOLD},
        "BootstrapTS": {"BootstrapTS": BootstrapTS(low=low, high=high)},
        "UCB1": {f"UCB1 {told:g}": UCB1(sigma=told * noise) for told in TOLD[::2]},
        "UCB-V": {"UCB-V": UCBV(any_reward=not is_unit)},
    }
    if isinstance(problem, BernoulliBandit):  # elsewhere a round costs as much as there are rewards
        families["NP-TS"] = {"NP-TS": NPTS()}
    return families


def _middle(problem: Problem) -> float:
    if isinstance(problem, PurchaseBandit):
        return 0.25 * (problem.low + problem.high) * (problem.least + problem.most)
    return 0.5


def _for_features(problem: LinearBandit) -> dict[str, Family]:
    noise = noise_of(problem)
    pseudo = "gaussian" if problem.rewards == "gaussian" else "bernoulli"
    return {
        "LinTS": {f"LinTS {told:g} of the noise": LinTS(sigma=told * noise) for told in (0.3, *TOLD)},
        "LinPHE": {
            f"LinPHE {a:g}": LinPHE(a=a, pseudo=pseudo, sigma=noise, any_reward=True) for a in (0.1, 0.2, 0.3, 0.5, 1.0)
        },
        "LinUCB": {f"LinUCB {told:g}": LinUCB(sigma=told * noise, scaling="authors") for told in TOLD[::2]},
        "LinRandUCB": {f"LinRandUCB {told:g}": LinRandUCB(sigma=told * noise) for told in TOLD[::2]},
    }


def _for_rankings() -> dict[str, Family]:
    def ranked(policies: dict[str, Policy]) -> Family:
        return {label: Ranked(policy) for label, policy in policies.items()}

    return {
        "Ber-TS": ranked({f"Ber-TS {scale:g}": BernoulliTS(scale=scale) for scale in (0.25, 0.5, 1.0)}),
        "Ber-PHE": ranked({f"Ber-PHE {a:g}": PHE(a=a) for a in STRENGTHS}),
        "CascadeKL-UCB": {"CascadeKL-UCB": CascadeKLUCB()},
        "TopRank": {"TopRank": TopRank()},
    }
