"""Reward exchange, the idea in the last paragraph of the paper, against CORe and PHE.

K = 10 arms as in Figure 1 and Gaussian linear bandits as in Figure 2 (K = 50, d = 10, noise 0.5), n = 10,000, 100
random problems of each class. Swaps are kept, or rewards dealt anew in every round (fresh), with a constant probability
or a decaying one; in the linear problems d takes the place of K. The constant probabilities are those of the
authors' printed tries; K / t, 5 K / t and the fresh decaying form are ours, chosen after a look at 50 other problems of
two classes. The claims ask after one form of each kind; that 5 K / t stands for the decaying ones, and not K / t, was
decided by the same look. All are shown.
"""

from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.contracts.state import FloatArray
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.arms.core import CORe
from corebandit.policies.arms.phe import PHE
from corebandit.policies.arms.reward_exchange import RewardExchange
from corebandit.policies.linear.lin_reward_exchange import LinRewardExchange
from corebandit.policies.linear.linphe import LinPHE
from corebandit.problems.linear import LinearBandit
from corebandit.problems.random_arms import GaussianBandit
from corebandit.report.claim import Claim, Finding
from corebandit.reproduction.claims import Finals, Subject, Unseen, judged, ratio_above
from corebandit.reproduction.figure import LINCORE, Figure, Size, lincores
from corebandit.reproduction.paper.figure1 import CLASSES as ARM_CLASSES, CORE
from corebandit.statistics.failures import usual_cost
from corebandit.statistics.growth import log_growth_ratio

NAME = "exchange"
LINEAR = "Gaussian linear bandit"
KEPT, KEPT_DECAYING = "kept, p = 0.05", "kept, p = 5 K / t"
FRESH, FRESH_DECAYING = "fresh, p = 0.15", "fresh, p = 5 K / t"
FORMS = {
    "kept, p = 0.01": (0.01, 0.0, True),
    KEPT: (0.05, 0.0, True),
    "kept, p = 0.1": (0.1, 0.0, True),
    "kept, p = K / t": (1.0, 1.0, True),
    KEPT_DECAYING: (5.0, 1.0, True),
    FRESH: (0.15, 0.0, False),
    FRESH_DECAYING: (5.0, 1.0, False),
}


def _for_arms(problem: Problem, size: Size) -> dict[str, AnyPolicy]:
    phe = PHE(a=0.5, pseudo="gaussian") if isinstance(problem, GaussianBandit) else PHE(a=1.1)
    return {
        **{label: CORe(warm_up=factor, sampler=size.sampler) for factor, label in CORE.items()},
        "PHE": phe,
        **{label: RewardExchange(*form) for label, form in FORMS.items()},
    }


def _for_features(size: Size) -> dict[str, AnyPolicy]:
    return {
        **lincores(size),
        "LinPHE": LinPHE(pseudo="gaussian"),
        **{label: LinRewardExchange(*form) for label, form in FORMS.items()},
    }


def experiments(size: Size, searched: Result | None = None) -> list[Experiment]:
    """Return one experiment for each class of rewards, and one with features."""
    arms = [
        size.experiment(problem, _for_arms(problem, size), name=NAME, title=title)
        for title, problem in ARM_CLASSES.items()
    ]
    linear = LinearBandit(rewards="gaussian")
    return [*arms, size.experiment(linear, _for_features(size), name=NAME, title=LINEAR)]


def claims(result: Result) -> list[Claim]:
    """Judge how reward exchange compares, for both lengths of the warm-up where CORe has a part."""
    finals = Finals(result, NAME)
    halves = {
        (curve.problem, curve.policy): (curve.regret[:, -1], curve.regret[:, curve.rounds.searchsorted(middle)])
        for curve in result.curves(NAME)
        for middle in [curve.rounds[-1] / 2]
    }
    judgements = []
    for factor in CORE:
        for letter, form in zip("abc", (KEPT, KEPT_DECAYING, FRESH), strict=True):
            judgements.append(
                judged(
                    f"X1.{letter}",
                    f"Reward exchange ({form}) is comparable to CORe on each class: at most 1.25 times its regret.",
                    factor,
                    [
                        finals.comparable(problem, form, [_core(finals, problem, factor)], 1.25)
                        for problem in finals.problems
                    ],
                )
            )
    judgements += [
        judged(
            "X2",
            "With a constant probability regret grows faster than with a decaying one: its ratio from half time to the "
            "end is larger, for swaps that are kept and for fresh ones.",
            None,
            [
                _grows_faster(halves, problem, constant, decaying)
                for constant, decaying in ((KEPT, KEPT_DECAYING), (FRESH, FRESH_DECAYING))
                for problem in finals.problems
            ],
        ),
        judged(
            "X3",
            f"Nothing is lost by keeping swaps: {KEPT} has at most the regret of {FRESH}.",
            None,
            [finals.less(problem, KEPT, FRESH) for problem in finals.problems],
        ),
    ]
    return judgements


def _core(finals: Finals, problem: str, factor: float) -> str:
    """Return the label of CORe, or of LinCORe where that is what was run."""
    return CORE[factor] if (problem, CORE[factor]) in finals.regret else LINCORE[factor]


def _grows_faster(
    halves: dict[tuple[str, str], tuple[FloatArray, FloatArray]], problem: str, constant: str, decaying: str
) -> Finding:
    own, other = halves[problem, constant], halves[problem, decaying]
    subject = Subject(problem, constant, f"growth from half time of {constant} / of {decaying}")
    unseen = Unseen.in_log_ratio(own[0], [other[0]], usual_cost([own[0], other[0]]))
    return ratio_above(1.0, log_growth_ratio(own, other), own[0].size, subject, unseen)


FIGURE = Figure(
    name=NAME,
    caption="Rewards exchanged between arms, kept or dealt anew in every round, against CORe and PHE.",
    paper_size=Size(horizon=10_000, runs=100),
    quick_size=Size(horizon=10_000, runs=20),
    experiments=experiments,
    claims=claims,
)
