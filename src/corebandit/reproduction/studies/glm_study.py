"""Logistic bandits: GLMCORe, its rivals with the same model, and LinCORe, whose model is wrong.

K = 50 arms, d = 10 features, n = 10,000, 100 random problems (`LogisticBandit`). Nothing is tuned: every policy has
its published constants, as its module gives them. The claims are questions of ours, judged as the paper's are, of both
lengths of the warm-up that the paper and its code have; a short one, and none with extra draws, play beside them.
"""

from corebandit.contracts.recipe import AnyPolicy
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.glm.glm_rand_ucb import GLMRandUCB
from corebandit.policies.glm.glmcore import GLMCORe
from corebandit.policies.glm.glmfpl import GLMFPL
from corebandit.policies.glm.glmtsl import GLMTSL
from corebandit.policies.glm.glmucb import GLMUCB
from corebandit.policies.glm.log_epsilon_greedy import LogEpsilonGreedy
from corebandit.policies.glm.logphe import LogPHE
from corebandit.policies.glm.ucbglm import UCBGLM
from corebandit.policies.linear.lincore import LinCORe
from corebandit.policies.linear.recommended_lincore import RecommendedLinCORe
from corebandit.problems.logistic import LogisticBandit
from corebandit.report.claim import Claim
from corebandit.reproduction.claims import Finals, judged
from corebandit.reproduction.figure import LINCORE, Figure, Size, lincores

NAME = "glm"
GLMCORE = {4.0: "GLMCORe", 2.0: "GLMCORe (warm-up 2)"}  # by warm-up factor, as judged
SHORT = {0.5: "GLMCORe (warm-up 0.5)"}
NEW = RecommendedLinCORe()
OPTIMISTS = ("GLM-UCB", "UCB-GLM")
SAMPLED = ("GLM-TSL", "GLM-FPL")
RIVALS: dict[str, AnyPolicy] = {
    "GLM-UCB": GLMUCB(),
    "UCB-GLM": UCBGLM(),
    "GLM-RandUCB": GLMRandUCB(),
    "GLM-TSL": GLMTSL(),
    "GLM-FPL": GLMFPL(),
    "LogPHE": LogPHE(),
    "Log eps-greedy": LogEpsilonGreedy(),
}


def experiments(size: Size, searched: Result | None) -> list[Experiment]:
    """Return the one experiment."""
    glmcores: dict[str, AnyPolicy] = {
        label: GLMCORe(warm_up=factor, sampler=size.sampler) for factor, label in {**GLMCORE, **SHORT}.items()
    }
    others: dict[str, AnyPolicy] = {
        "LinCORe (warm-up 0.5)": LinCORe(warm_up=0.5, sampler=size.sampler),
        "GLMCORe (no warm-up)": GLMCORe(alpha=NEW.alpha, warm_up=0.0, extra=NEW.extra, sampler=size.sampler),
        "LinCORe (no warm-up)": NEW.changed(sampler=size.sampler),
    }
    policies = {**glmcores, **lincores(size), **others, **RIVALS}
    return [size.experiment(LogisticBandit(), policies, name=NAME, title="Logistic bandit")]


def claims(result: Result) -> list[Claim]:
    """Judge our questions, for both lengths of the warm-up."""
    finals = Finals(result, NAME)
    (problem,) = finals.problems
    judgements = []
    for factor, glmcore in GLMCORE.items():
        judgements += [
            judged(
                "G1",
                "GLMCORe's regret is below GLM-UCB's and UCB-GLM's.",
                factor,
                [finals.less(problem, glmcore, rival) for rival in OPTIMISTS],
            ),
            judged(
                "G2",
                "GLMCORe is comparable to the better of GLM-TSL and GLM-FPL: at most 1.25 times its regret.",
                factor,
                [finals.comparable(problem, glmcore, SAMPLED, 1.25)],
            ),
            judged(
                "G3",
                "GLMCORe's regret is below that of LinCORe, whose model is wrong.",
                factor,
                [finals.less(problem, glmcore, LINCORE[factor])],
            ),
            judged(
                "G4",
                "GLMCORe is comparable to the best of all its rivals with a model of this kind: "
                "at most 1.25 times its regret.",
                factor,
                [finals.comparable(problem, glmcore, tuple(RIVALS), 1.25)],
            ),
        ]
    return judgements


FIGURE = Figure(
    name=NAME,
    caption="GLMCORe and its rivals on logistic bandits of 50 arms with 10 features; LinCORe's model is wrong there.",
    paper_size=Size(horizon=10_000, runs=100),
    quick_size=Size(horizon=10_000, runs=20),
    experiments=experiments,
    claims=claims,
)
