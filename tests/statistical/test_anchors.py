"""Mean regrets on the paper's bandits against numbers obtained elsewhere.

K = 10 arms with means uniform on [0.25, 0.75], n = 10,000 rounds. The anchors come from the notebooks of the paper's
authors (realised regret) and from independent simulations (expected regret); errors are standard errors.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from corebandit.contracts.recipe import Policy
from corebandit.games.arm_game import play_arms
from corebandit.games.notes import new_notes
from corebandit.policies import NPTS, PHE, SSMC, UCB1, UCBV, BernoulliTS, CORe, GaussianTS
from corebandit.problems.arms import BERNOULLI, GAUSSIAN, Arms
from corebandit.randomness.stream import stream, streams
from often import often

N_ARMS, HORIZON = 10, 10_000


@dataclass(frozen=True)
class Anchor:
    """A mean regret known from elsewhere: a number, or the range of several, and its standard error."""

    policy: Policy
    law: int
    low: float
    high: float
    error: float

    def __str__(self) -> str:
        return f"{self.policy.label}-{'Gaussian' if self.law == GAUSSIAN else 'Bernoulli'}"


ANCHORS = [
    Anchor(UCB1(), BERNOULLI, 436.0, 455.0, 6.5),
    Anchor(UCBV(), BERNOULLI, 762.0, 805.0, 10.0),
    Anchor(BernoulliTS(), BERNOULLI, 116.0, 116.0, 2.0),
    Anchor(NPTS(), BERNOULLI, 119.3, 119.3, 1.2),
    Anchor(SSMC(window="last"), BERNOULLI, 122.0, 122.0, 1.2),
    Anchor(PHE(a=1.1), BERNOULLI, 122.0, 122.0, 2.1),
    Anchor(CORe(warm_up=4.0), BERNOULLI, 107.5, 107.5, 2.4),
    Anchor(CORe(warm_up=2.0), BERNOULLI, 82.4, 82.4, 2.9),
    Anchor(UCB1(), GAUSSIAN, 454.0, 457.0, 6.5),
    Anchor(UCBV(any_reward=True), GAUSSIAN, 781.0, 786.0, 10.0),
    Anchor(GaussianTS(), GAUSSIAN, 121.5, 121.5, 2.9),
    Anchor(SSMC(window="last"), GAUSSIAN, 130.2, 130.2, 1.8),
    Anchor(CORe(warm_up=2.0), GAUSSIAN, 99.1, 99.1, 2.9),
]


def regrets(policy: Policy, law: int, n_problems: int) -> np.ndarray:
    """Play one run on each of `n_problems` random problems."""
    regret, rounds = np.zeros((n_problems, 1)), np.array([HORIZON])
    for run in range(n_problems):
        means = np.random.default_rng([20, run]).uniform(0.25, 0.75, N_ARMS)
        problem = Arms(np.full(N_ARMS, law), means, np.full(N_ARMS, 0.5), means)
        state = policy.start(N_ARMS, HORIZON, HORIZON)
        play = play_arms.compiled
        notes = new_notes(1, N_ARMS)
        play(state, problem, stream(21, run), streams(N_ARMS, 22, run), rounds, -1, False, regret[run], notes)
    return regret[:, 0]


@pytest.mark.heavy
@pytest.mark.parametrize("n_problems", often([50], [50, 400]))
@pytest.mark.parametrize("anchor", ANCHORS, ids=str)
def test_mean_regret_agrees_with_the_anchor(anchor: Anchor, n_problems: int):
    regret = regrets(anchor.policy, anchor.law, n_problems)
    error = np.hypot(regret.std() / np.sqrt(n_problems), anchor.error)
    distance = max(anchor.low - regret.mean(), regret.mean() - anchor.high, 0.0)
    assert distance < 3.5 * error, f"{regret.mean():.1f} with a joint standard error of {error:.1f}"


@pytest.mark.heavy
@pytest.mark.parametrize("n_problems", often([6], [6, 30]))
def test_np_ts_on_gaussian_rewards_agrees_with_its_anchor(n_problems: int):
    regret = regrets(NPTS(any_reward=True), GAUSSIAN, n_problems)
    error = np.hypot(regret.std() / np.sqrt(n_problems), 1.4)
    assert abs(regret.mean() - 122.9) < 3.5 * error, f"{regret.mean():.1f} with a joint standard error of {error:.1f}"
