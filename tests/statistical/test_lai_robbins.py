"""Policies that are asymptotically optimal try a worse arm about as often as Lai and Robbins say that one must.

That is 1 / kl times for each unit of the log horizon: 2 times where Gaussian means are a standard deviation apart.
"""

import math

import numpy as np
import pytest

import corebandit as cb

SIGMA, BOUND = 0.5, 2.0
SHORT, LONG, N_RUNS = 1000, 50_000, 200
OPTIMAL = [
    *(cb.AdaUCB(), cb.AdaUCB(logarithm="plain"), cb.KLUCBPlusPlus(family="gaussian"), cb.IMED(family="gaussian")),
    *(cb.MaillardSampling(), cb.GaussianTS()),
]


def tries_per_log(policy):
    """Return how many more tries a unit of the log horizon adds, and the standard error."""
    problem = cb.FixedArms([cb.Gaussian(SIGMA, sigma=SIGMA), cb.Gaussian(0.0, sigma=SIGMA)])
    tries = [
        cb.run(cb.Experiment(problem, {"it": policy}, horizon=horizon, runs=N_RUNS, seed=3)).regret("it")[:, -1] / SIGMA
        for horizon in (SHORT, LONG)
    ]
    logs = math.log(LONG / SHORT)
    return (tries[1].mean() - tries[0].mean()) / logs, np.hypot(*(each.std() for each in tries)) / N_RUNS**0.5 / logs


@pytest.mark.heavy
@pytest.mark.parametrize("policy", OPTIMAL, ids=lambda policy: policy.label)
def test_a_worse_arm_is_tried_as_often_as_it_must_be(policy):
    slope, error = tries_per_log(policy)
    assert error < 0.25
    assert 0.65 * BOUND < slope < 1.35 * BOUND


@pytest.mark.heavy
@pytest.mark.parametrize(("policy", "times"), [(cb.MOSS(), 1.4), (cb.UCB1(), 4.0)], ids=["MOSS", "UCB1"])
def test_others_try_it_more_often(policy, times):
    assert tries_per_log(policy)[0] > times * BOUND
