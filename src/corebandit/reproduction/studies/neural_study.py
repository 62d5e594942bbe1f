"""CORe around networks and other people's models, where rewards are not linear in the features.

Three functions of random features (K = 4 arms, d = 20; Zhou, Li and Gu, 2020) and three data sets of scikit-learn
turned into bandits, one arm for each class. How anybody explores is not tuned: alpha, nu and lam keep their defaults.
How the networks are trained is the same for all of them; steps, batch size and learning rate were chosen from seven
settings tried on these three functions (two instances each, other seeds), by how well a network without noise predicts
from arms chosen at random. The width of the kernel was set to suit rows of length 1, after one run of the first
function with scikit-learn's default had gone badly. NeuralCORe runs with the paper's warm-up, the shorter one of its
authors' code, and a quarter of that, added after first runs had shown how much of its regret on the data sets is
warm-up, which the rivals do not have; and without one, with extra draws, in a setting to which the study of exploration
found hardly any better for linear models. EstimatorCORe around the smooth model is there in that form too.

Where d is large LinCORe, whose warm-up takes at least one round for each feature, spends much of the horizon on it: 640
rounds on the digits.
"""

from importlib.util import find_spec
from typing import Any

from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import AnyPolicy, Problem
from corebandit.contracts.validate import how_to_install
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.policies.linear.lincore import LinCORe
from corebandit.policies.linear.linucb import LinUCB
from corebandit.policies.models.estimator_core import EstimatorCORe
from corebandit.policies.neural.neural_core import NeuralCORe
from corebandit.policies.neural.neural_ts import NeuralTS
from corebandit.policies.neural.neural_ucb import NeuralUCB
from corebandit.problems.classification import ClassificationBandit
from corebandit.problems.nonlinear import NonlinearBandit
from corebandit.report.claim import Claim
from corebandit.reproduction.claims import Finals, judged
from corebandit.reproduction.figure import Figure, Size

NAME = "neural"
FUNCTIONS: dict[str, Problem] = {
    "10 (x'θ)²": NonlinearBandit("square"),
    "x'A'Ax": NonlinearBandit("quadratic"),
    "cos(3 x'θ)": NonlinearBandit("cosine"),
}
DATA: dict[str, Problem] = {
    "Digits": ClassificationBandit("digits"),
    "Breast cancer": ClassificationBandit("breast_cancer"),
    "Wine": ClassificationBandit("wine"),
}
CORE = {
    4.0: "NeuralCORe",
    2.0: "NeuralCORe (warm-up 2)",
    0.5: "NeuralCORe (warm-up 0.5)",
    0.0: "NeuralCORe (no warm-up)",
}
FREE: dict[str, Any] = {"alpha": 0.7, "warm_up": 0.0, "extra": 8}  # no warm-up
RIVALS = ("NeuralUCB", "NeuralTS")
LINEAR = ("LinCORe", "LinUCB")
ESTIMATORS = ("EstimatorCORe (kernel ridge)", "EstimatorCORe (forest)")
FREE_ESTIMATOR = "EstimatorCORe (kernel ridge, no warm-up)"
LIBRARIES = {"torch": "PyTorch", "sklearn": "scikit-learn"}
PACKAGES = {"torch": "torch", "sklearn": "scikit-learn"}


def check_installed() -> None:
    """Raise BadInput that says what to install, unless everything is there."""
    missing = [module for module in LIBRARIES if find_spec(module) is None]
    if missing:
        names, packages = (" ".join(words[module] for module in missing) for words in (LIBRARIES, PACKAGES))
        raise BadInput(f"the study 'neural' needs {names.replace(' ', ' and ')}: {how_to_install(packages)}")


def _with_estimators() -> dict[str, AnyPolicy]:
    """Return EstimatorCORe around a smooth model, fitted often, and around trees, which take long to fit."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    kernel_ridge = make_pipeline(Nystroem(gamma=1.0, n_components=100), Ridge())
    forest = RandomForestRegressor(n_estimators=20, min_samples_leaf=5)
    models = (EstimatorCORe(kernel_ridge, refit=50), EstimatorCORe(forest, refit="geometric"))
    free = EstimatorCORe(kernel_ridge, refit=50, **FREE)
    return {**dict(zip(ESTIMATORS, models, strict=True)), FREE_ESTIMATOR: free}


def experiments(size: Size, searched: Result | None = None) -> list[Experiment]:
    """Return one experiment for each function and each data set."""
    check_installed()
    policies: dict[str, AnyPolicy] = {
        **{label: NeuralCORe(warm_up=factor) for factor, label in CORE.items() if factor > 0},
        CORE[0.0]: NeuralCORe(**FREE),
        "NeuralUCB": NeuralUCB(),
        "NeuralTS": NeuralTS(),
        **_with_estimators(),
        "LinCORe": LinCORe(sampler=size.sampler),
        "LinUCB": LinUCB(),
    }
    return [
        size.experiment(problem, policies, name=NAME, title=title) for title, problem in {**FUNCTIONS, **DATA}.items()
    ]


def claims(result: Result) -> list[Claim]:
    """Judge NeuralCORe, for each length of the warm-up."""
    finals = Finals(result, NAME)
    functions = [problem.label for problem in FUNCTIONS.values()]
    judgements = []
    for factor, core in CORE.items():
        judgements += [
            judged(
                "N1",
                "NeuralCORe's regret is below LinCORe's and LinUCB's on the three functions, which are not linear.",
                factor,
                [finals.less(problem, core, rival) for problem in functions for rival in LINEAR],
            ),
            judged(
                "N2",
                "NeuralCORe is comparable to or better than NeuralUCB and NeuralTS on the functions and the data: at "
                "most 1.25 times the better of them.",
                factor,
                [finals.comparable(problem, core, RIVALS, 1.25) for problem in finals.problems],
            ),
        ]
    same = LinCORe().warm_up  # which EstimatorCORe has too
    worth_it = judged(
        "N3",
        "A network is worth its trouble: NeuralCORe's regret is at most that of EstimatorCORe around the better of two "
        "models of scikit-learn.",
        same,
        [finals.comparable(problem, CORE[same], ESTIMATORS, 1.0) for problem in finals.problems],
    )
    return [*judgements, worth_it]


FIGURE = Figure(
    name=NAME,
    caption="CORe around networks and models of scikit-learn, and its rivals, where rewards are not linear.",
    paper_size=Size(horizon=3_000, runs=20),
    quick_size=Size(horizon=500, runs=10),
    experiments=experiments,
    claims=claims,
)
