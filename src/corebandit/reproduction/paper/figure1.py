"""Figure 1: CORe and its rivals on Bernoulli, beta and Gaussian bandits (section 5.1 of the paper).

K = 10 arms, means uniform on [0.25, 0.75], n = 10,000, 100 random problems of each class. The rivals' parameters are
those of the paper and of its released code. NP-TS and UCB-V run outside their assumptions on Gaussian rewards, as
there.
"""

from corebandit.contracts.recipe import Policy, Problem
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.arms.bernoulli_ts import BernoulliTS
from corebandit.policies.arms.core import CORe
from corebandit.policies.arms.gaussian_ts import GaussianTS
from corebandit.policies.arms.npts import NPTS
from corebandit.policies.arms.phe import PHE
from corebandit.policies.arms.ssmc import SSMC
from corebandit.policies.arms.ucb1 import UCB1
from corebandit.policies.arms.ucbv import UCBV
from corebandit.problems.random_arms import BernoulliBandit, BetaBandit, GaussianBandit
from corebandit.report.claim import Claim
from corebandit.reproduction.claims import Finals, judged
from corebandit.reproduction.figure import Figure, Size

NAME = "figure1"
CLASSES: dict[str, Problem] = {
    "Bernoulli bandit": BernoulliBandit(),
    "Beta bandit": BetaBandit(),
    "Gaussian bandit": GaussianBandit(),
}
CORE = {4.0: "CORe", 2.0: "CORe (warm-up 2)"}
OPTIMISTIC = ("UCB1", "UCB-V")
RANDOMISED = ("TS", "PHE", "NP-TS")
RIVALS = (*RANDOMISED, "SSMC")


def _policies(problem: Problem, sampler: str) -> dict[str, Policy]:
    gaussian = isinstance(problem, GaussianBandit)
    return {
        **{label: CORe(warm_up=factor, sampler=sampler) for factor, label in CORE.items()},
        "TS": GaussianTS(sigma=0.5) if gaussian else BernoulliTS(),
        "PHE": PHE(a=0.5, pseudo="gaussian") if gaussian else PHE(a=1.1),
        "NP-TS": NPTS(any_reward=gaussian),
        "SSMC": SSMC(window="last"),
        "UCB1": UCB1(),
        "UCB-V": UCBV(any_reward=gaussian),
    }


def experiments(size: Size, searched: Result | None = None) -> list[Experiment]:
    """Return one experiment for each class of rewards."""
    return [
        size.experiment(problem, _policies(problem, size.sampler), name=NAME, title=title)
        for title, problem in CLASSES.items()
    ]


def claims(result: Result) -> list[Claim]:
    """Judge what the paper says of this figure, for both lengths of the warm-up."""
    finals = Finals(result, NAME)
    judgements = []
    for factor, core in CORE.items():
        judgements += [
            judged(
                "F1.a",
                "CORe's regret is below UCB1's and UCB-V's on Bernoulli, beta and Gaussian bandits.",
                factor,
                [finals.less(problem, core, rival) for problem in finals.problems for rival in OPTIMISTIC],
            ),
            judged(
                "F1.b",
                "CORe is comparable to or better than TS, PHE, NP-TS and SSMC on each class, with one setting: "
                "at most 1.25 times the best of them.",
                factor,
                [finals.comparable(problem, core, RIVALS, 1.25) for problem in finals.problems],
            ),
            judged(
                "F1.c",
                "UCB-V, though it estimates the variance, is too conservative: its regret is above that of every "
                "randomised policy.",
                factor,
                [finals.less(problem, other, "UCB-V") for problem in finals.problems for other in (core, *RANDOMISED)],
            ),
        ]
    return judgements


FIGURE = Figure(
    name=NAME,
    caption="CORe and its rivals on Bernoulli, beta and Gaussian bandits: cumulative regret against rounds.",
    paper_size=Size(horizon=10_000, runs=100),
    quick_size=Size(horizon=10_000, runs=20),
    experiments=experiments,
    claims=claims,
)
