"""Mean regrets of the linear rivals on the paper's linear bandits, against the numbers of its authors.

K = 50 arms, d = 10 features, Bernoulli rewards, n = 10,000 rounds. The authors' ranges are of realised regret, each end
a mean over 100 problems. A few runs that settle for the wrong arm make up much of a mean, of theirs as of ours.
"""

import numpy as np
import pytest

from corebandit.contracts.recipe import FeaturePolicy, Problem
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.run import run
from corebandit.policies import LinCORe, LinEpsilonGreedy, LinGreedy, LinPHE, LinTS, LinUCB
from corebandit.problems.linear import ContextualBandit, LinearBandit
from often import often

N_THEIRS = 100


def regrets(problem: Problem, policies: list[FeaturePolicy], horizon: int, runs: int) -> dict[str, np.ndarray]:
    """Return the regrets of each policy at the horizon, one for each run."""
    frame = run(Experiment(problem, policies, horizon=horizon, runs=runs, seed=17), jobs=1).frame
    last = frame.filter(frame["round"] == horizon)
    return {name[0]: part["regret"].to_numpy() for name, part in last.group_by("policy", maintain_order=True)}


OF_AUTHORS = {
    LinUCB(scaling="authors"): (586.0, 604.0),
    LinTS(sigma=0.3): (118.0, 154.0),
    LinPHE(a=0.5): (106.0, 133.0),
    LinCORe(warm_up=2.0): (95.0, 132.0),
}
FURTHER = (LinUCB, LinPHE)


def of_authors():
    """Yield every policy at two sizes, the larger when asked for; at the smaller some compile yet another policy."""
    for policy, (low, high) in OF_AUTHORS.items():
        yield pytest.param(policy, low, high, 30, marks=[pytest.mark.thorough] * isinstance(policy, FURTHER))
        yield pytest.param(policy, low, high, 200, marks=pytest.mark.endurance)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("policy", "low", "high", "n_problems"), list(of_authors()), ids=lambda value: getattr(value, "label", None)
)
def test_mean_regret_agrees_with_the_authors(policy, low, high, n_problems):
    (regret,) = regrets(LinearBandit(), [policy], 10_000, n_problems).values()
    error = regret.std() * np.sqrt(1 / n_problems + 1 / N_THEIRS)
    distance = max(low - regret.mean(), regret.mean() - high, 0.0)
    assert distance < 3 * error, f"{regret.mean():.1f} with a joint standard error of {error:.1f}"


EXPLORERS = [LinUCB(radius="determinant"), LinTS(), LinPHE(pseudo="gaussian"), LinEpsilonGreedy()]


@pytest.mark.heavy
@pytest.mark.parametrize("policy", often([LinTS()], EXPLORERS, pytest.mark.thorough), ids=lambda policy: policy.label)
def test_whatever_explores_beats_greed_with_fixed_features(policy):
    greedy, exploring = regrets(LinearBandit(), [LinGreedy(), policy], 5000, 40).values()
    assert exploring.mean() < 0.6 * greedy.mean()


LEARNERS = [LinUCB(scaling="authors"), LinTS(), LinPHE(), LinPHE(pseudo="gaussian"), LinGreedy()]


@pytest.mark.heavy
@pytest.mark.parametrize("policy", often([LinTS()], LEARNERS, pytest.mark.thorough), ids=lambda policy: policy.label)
def test_regret_flattens_when_features_change(policy):
    problem = ContextualBandit(n_arms=10, n_features=5)
    (early,), (late,) = (regrets(problem, [policy], horizon, 20).values() for horizon in (500, 2000))
    assert late.mean() < 2 * early.mean()  # 4 times, had it learnt nothing
