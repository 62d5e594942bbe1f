"""Figure 2: LinCORe and its rivals on Bernoulli, beta and Gaussian linear bandits (section 5.2 of the paper).

K = 50 arms, d = 10 features, n = 10,000, 100 random problems of each class. The rivals' parameters are searched in
[0.1, 2] on problems of their own, from another seed; LinCORe is not tuned. LinUCB is the authors', whose width is
sigma times the textbook's. The textbook's runs too, and so do the rivals with the one value that the authors' notebook
has for all classes. LinCORe draws its noise from the normal limit unless told to draw exactly.
"""

from corebandit.contracts.recipe import AnyPolicy
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.result import Result
from corebandit.experiments.sweep import sweep
from corebandit.policies.linear.linphe import LinPHE
from corebandit.policies.linear.lints import LinTS
from corebandit.policies.linear.linucb import LinUCB
from corebandit.problems.linear import LinearBandit
from corebandit.report.claim import Claim
from corebandit.reproduction.figure import LINCORE, Figure, Size, lincores
from corebandit.reproduction.readings import Reading, Said, judge_readings

NAME, SEARCH = "figure2", "parameter search"
CLASSES = {
    "Bernoulli linear bandit": LinearBandit(rewards="bernoulli"),
    "Beta linear bandit": LinearBandit(rewards="beta"),
    "Gaussian linear bandit": LinearBandit(rewards="gaussian"),
}
TUNED = ("LinTS (tuned)", "LinPHE (tuned)")
NOTEBOOK = ("LinTS (sigma = 0.5)", "LinPHE (a = 0.5)")
TEXTBOOK = "LinUCB (textbook)"
READINGS = (
    Reading(TEXTBOOK, {"LinUCB": TEXTBOOK}),
    Reading(" and ".join(NOTEBOOK), dict(zip(TUNED, NOTEBOOK, strict=True))),
)
GRID = [step / 10 for step in range(1, 21)]
SEARCH_SEED = 1_000_003  # added to the seed: problems that the figure never shows


def _searched(problem: LinearBandit) -> dict[str, tuple[AnyPolicy, str]]:
    """Return the rivals whose parameter is searched, and which it is."""
    pseudo = "gaussian" if problem.rewards == "gaussian" else "bernoulli"
    return {TUNED[0]: (LinTS(), "sigma"), TUNED[1]: (LinPHE(pseudo=pseudo), "a")}


def search(size: Size) -> list[Experiment]:
    """Return the search for each rival's parameter on each class."""
    return [
        sweep(
            problem,
            policy,
            {parameter: GRID},
            series=policy.name,
            horizon=size.horizon,
            runs=size.study_runs,
            seed=size.seed + SEARCH_SEED,
            name=NAME,
            part=SEARCH,
            title=f"{title.split()[0]}: {parameter} of {policy.name}",
        )
        for label in TUNED
        for title, problem in CLASSES.items()
        for policy, parameter in [_searched(problem)[label]]
    ]


def _tuned(problem: LinearBandit, label: str, searched: Result | None) -> AnyPolicy:
    """Return a rival with the parameter that was best in the search."""
    policy, parameter = _searched(problem)[label]
    if searched is None:
        return policy
    points = searched.sweeps().filter(experiment=NAME, part=SEARCH, problem=problem.label, series=policy.name)
    return policy.changed(**{parameter: points.sort("mean")["x"][0]})


def _other_readings(problem: LinearBandit) -> dict[str, AnyPolicy]:
    """Return the rivals as other sources have them."""
    fixed = [policy.changed(**{parameter: 0.5}) for policy, parameter in _searched(problem).values()]
    return {**dict(zip(NOTEBOOK, fixed, strict=True)), TEXTBOOK: LinUCB(scaling="textbook")}


def experiments(size: Size, searched: Result | None) -> list[Experiment]:
    """Return one experiment for each class of rewards; before any search the rivals keep their defaults."""
    found = []
    for title, problem in CLASSES.items():
        tuned = {label: _tuned(problem, label, searched) for label in TUNED}
        policies = {**lincores(size), **tuned, "LinUCB": LinUCB(scaling="authors"), **_other_readings(problem)}
        found.append(size.experiment(problem, policies, name=NAME, title=title))
    return found


SAID = (
    Said(
        "F2.a",
        "LinCORe's regret is below LinUCB's on Bernoulli, beta and Gaussian linear bandits.",
        ("LinUCB",),
        lambda finals, lincore: [finals.less(problem, lincore, "LinUCB") for problem in finals.problems],
    ),
    Said(
        "F2.b",
        "LinCORe, without tuning, can reach the best result among LinTS and LinPHE, both tuned: at most 1.1 "
        "times the better of them.",
        TUNED,
        lambda finals, lincore: [finals.comparable(problem, lincore, TUNED, 1.1) for problem in finals.problems],
    ),
)


def claims(result: Result) -> list[Claim]:
    """Judge what the paper says of this figure, for both lengths of the warm-up and under every reading."""
    return judge_readings(result, NAME, SAID, LINCORE, READINGS)


FIGURE = Figure(
    name=NAME,
    caption="LinCORe and its rivals, tuned on other problems, on Bernoulli, beta and Gaussian linear bandits.",
    paper_size=Size(horizon=10_000, runs=100, search_runs=30),
    quick_size=Size(horizon=10_000, runs=20, search_runs=5),
    search=search,
    experiments=experiments,
    claims=claims,
    undrawn=(*NOTEBOOK, TEXTBOOK),
)
