"""Figure 1: CORe and its rivals on Bernoulli, beta and Gaussian bandits (section 5.1 of the paper).

K = 10 arms, means uniform on [0.25, 0.75], n = 10,000, 100 random problems of each class. The paper's text leaves some
of the rivals' parameters open, and its authors' code contradicts it on others: the other readings run too, and claims
are judged for each (`reproduction/sources.py` has who says what). NP-TS and UCB-V run outside their assumptions on
Gaussian rewards, as in the authors' code.
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
from corebandit.reproduction.figure import Figure, Size
from corebandit.reproduction.readings import Reading, Said, judge_readings

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


SCALED_TS, FEW_PSEUDO, ALL_WINDOWS, ANYTIME = "TS (scale 0.5)", "PHE (a = 0.5)", "SSMC (all windows)", "UCB-V (anytime)"
READINGS = tuple(
    Reading(other, {label: other})
    for label, other in (("TS", SCALED_TS), ("PHE", FEW_PSEUDO), ("SSMC", ALL_WINDOWS), ("UCB-V", ANYTIME))
)


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
        **_other_readings(problem, gaussian),
    }


def _other_readings(problem: Problem, gaussian: bool) -> dict[str, Policy]:
    """Return the rivals as other sources have them, where these differ."""
    policies: dict[str, Policy] = {} if gaussian else {SCALED_TS: BernoulliTS(scale=0.5)}
    if isinstance(problem, BetaBandit):
        policies[FEW_PSEUDO] = PHE(a=0.5)
    return policies | {
        ALL_WINDOWS: SSMC(window="min"),
        ANYTIME: UCBV(exploration="anytime", any_reward=gaussian),
    }


def experiments(size: Size, searched: Result | None = None) -> list[Experiment]:
    """Return one experiment for each class of rewards."""
    return [
        size.experiment(problem, _policies(problem, size.sampler), name=NAME, title=title)
        for title, problem in CLASSES.items()
    ]


SAID = (
    Said(
        "F1.a",
        "CORe's regret is below UCB1's and UCB-V's on Bernoulli, beta and Gaussian bandits.",
        OPTIMISTIC,
        lambda finals, core: [finals.less(problem, core, rival) for problem in finals.problems for rival in OPTIMISTIC],
    ),
    Said(
        "F1.b",
        "CORe is comparable to or better than TS, PHE, NP-TS and SSMC on each class, with one setting: "
        "at most 1.25 times the best of them.",
        RIVALS,
        lambda finals, core: [finals.comparable(problem, core, RIVALS, 1.25) for problem in finals.problems],
    ),
    Said(
        "F1.c",
        "UCB-V, though it estimates the variance, is too conservative: its regret is above that of every "
        "randomised policy.",
        ("UCB-V", *RANDOMISED),
        lambda finals, core: [
            finals.less(problem, other, "UCB-V") for problem in finals.problems for other in (core, *RANDOMISED)
        ],
    ),
)


def claims(result: Result) -> list[Claim]:
    """Judge what the paper says of this figure, for both lengths of the warm-up and under every reading."""
    return judge_readings(result, NAME, SAID, CORE, READINGS)


FIGURE = Figure(
    name=NAME,
    caption="CORe and its rivals on Bernoulli, beta and Gaussian bandits: cumulative regret against rounds.",
    paper_size=Size(horizon=10_000, runs=100),
    quick_size=Size(horizon=10_000, runs=20),
    experiments=experiments,
    claims=claims,
    undrawn=(CORE[2.0], SCALED_TS, FEW_PSEUDO, ALL_WINDOWS, ANYTIME),
)
