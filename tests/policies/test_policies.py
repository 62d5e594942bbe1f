"""What holds for every policy: it is listed, its state can be given room and arms while it learns."""

import importlib
import pkgutil

import numpy as np
import pytest

from corebandit import policies
from corebandit.catalogue import arm_policies, feature_policies
from corebandit.contracts.recipe import AnyPolicy
from corebandit.contracts.state import arrays_of, carry_over
from corebandit.parts.choose import best_arm
from corebandit.policies import (
    GLRKLUCB,
    IMED,
    KLUCB,
    NPTS,
    PHE,
    SSMC,
    SWUCB,
    UCBV,
    AdaUCB,
    BootstrapTS,
    CORe,
    DriftingCORe,
    GaussianTS,
    RewardExchange,
    WeightedBootstrap,
    WindowCORe,
)
from corebandit.randomness.stream import stream
from often import often

VARIANTS = [recipe() for recipe in arm_policies().values()] + [
    CORe(sampler="exact", warm_up=0.5),
    CORe(sampler="halving", warm_up=0.5),
    CORe(sampler="exact", pool="plain", warm_up=0.5),
    CORe(pool_size=30),
    UCBV(exploration="anytime"),
    KLUCB(family="gaussian"),
    PHE(pseudo="gaussian"),
    GaussianTS(prior_sigma=2.0),
    NPTS(upper=2.0),
    IMED(family="gaussian"),
    AdaUCB(logarithm="plain"),
    GLRKLUCB(restarts="local", alpha=0.2, shifts=9),
    SSMC(window="last"),
    BootstrapTS(weights="poisson", replicate="round"),
    WeightedBootstrap(weights="gaussian"),
    RewardExchange(probability=0.15, kept=False),
    RewardExchange(probability=5.0, decay=1.0),
    WindowCORe(window=150),
    SWUCB(window=150),
    DriftingCORe(lasts=5),
]
every_policy = pytest.mark.parametrize("policy", VARIANTS, ids=lambda policy: policy.label)
every_kind_of_reward = pytest.mark.parametrize("decimals", often([6], [0, 6], pytest.mark.heavy))


def test_policies_come_in_the_order_of_the_paper():
    assert list({**arm_policies(), **feature_policies()})[:8] == [
        "CORe",
        "UCB1",
        "UCBV",
        "BernoulliTS",
        "GaussianTS",
        "PHE",
        "NPTS",
        "SSMC",
    ]


def test_every_policy_of_the_package_is_listed():
    for module in pkgutil.walk_packages(policies.__path__, "corebandit.policies."):
        for member in vars(importlib.import_module(module.name)).values():
            if isinstance(member, type) and issubclass(member, AnyPolicy) and "start" in vars(member):
                assert {**arm_policies(), **feature_policies()}.get(
                    member.name
                ) is member or member.__module__ == AnyPolicy.__module__


@every_policy
@every_kind_of_reward
def test_a_state_given_more_room_goes_on_as_if_it_had_been_large_from_the_start(policy, decimals):
    small, large = policy.start(3, 500, 130), policy.start(3, 500, 500)
    small_rng, large_rng, noise = stream(1, "grow"), stream(1, "grow"), np.random.default_rng(2)
    small_scores, large_scores = np.empty(3), np.empty(3)
    for index in range(400):
        if index == 130:
            outgrown, small = small, policy.start(3, 500, 500)
            carry_over(outgrown, small)
        arm, reward = int(noise.integers(3)), float(np.round(noise.random(), decimals))
        for state, rng, scores in ((small, small_rng, small_scores), (large, large_rng, large_scores)):
            state.update(arm, reward, rng)
            state.score(rng, scores)
        assert list(small_scores) == list(large_scores)
    for grown, grown_too in zip(arrays_of(small), arrays_of(large), strict=True):
        assert np.array_equal(grown, grown_too)


@every_policy
@every_kind_of_reward
def test_arms_added_later_are_tried_and_the_old_ones_not_forgotten(policy, decimals):
    few, rng, noise = policy.start(2, 300, 300), stream(3, "add"), np.random.default_rng(4)
    for index in range(100):
        few.update(index % 2, float(np.round(0.3 * noise.random(), decimals)), rng)
    more = policy.start(4, 300, 300)
    carry_over(few, more)
    for before, now in zip(arrays_of(few), arrays_of(more), strict=True):
        assert np.array_equal(before, now[tuple(slice(length) for length in before.shape)])
    scores, tried = np.empty(4), set()
    for _ in range(60):
        more.score(rng, scores)
        assert not np.isnan(scores).any()
        arm = int(best_arm(scores, np.arange(4), rng))
        more.update(arm, float(np.round(noise.random(), decimals)), rng)
        tried.add(arm)
    assert tried >= {2, 3}
