"""Instances of many runs as a few arrays."""

from dataclasses import dataclass

import numpy as np
import pytest

import corebandit as cb
from corebandit.contracts.state import one_of
from corebandit.games.stacked import NotAlike, leaves_of, rebuilt, stacked
from corebandit.problems.arms import Arms, Bernoulli, arms_of
from corebandit.randomness.stream import Stream, streams

PROBLEMS = [
    cb.BernoulliBandit(n_arms=4, low=0.1, high=0.9),
    cb.BetaBandit(v=2.5),
    cb.GaussianBandit(sigma=0.3),
    cb.MixedBandit(n_arms=7),
    cb.LinearBandit(n_arms=6, n_features=3),
    cb.LinearBandit(rewards="beta"),
    cb.ContextualBandit(n_arms=4, n_features=3),
    cb.YandexLike(query=0),
]


def of_run(many, run):
    """Return the instance of a run as the leaves say it."""
    leaves = iter(many.leaves)
    return rebuilt(many.example, lambda _: next(leaves).of(run))


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.label)
def test_stacked_instances_are_those_drawn_one_by_one(problem):
    words = streams(5, 1, "instances")
    many = stacked(problem, words.copy())
    for run, row in enumerate(words.copy()):
        alone = problem.draw(Stream(row))
        for ours, theirs in zip(leaves_of(of_run(many, run)), leaves_of(alone), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert type(many.example) is type(alone)


def test_drawing_many_uses_streams_up_as_drawing_one_does():
    words = streams(3, 1, "instances")
    one_by_one = words.copy()
    stacked(cb.GaussianBandit(), words)
    for row in one_by_one:
        cb.GaussianBandit().draw(Stream(row))
    np.testing.assert_array_equal(words, one_by_one)


@dataclass(frozen=True)
class Certain(cb.BernoulliBandit):
    """Its own `draw`, but the `draw_many` of the class above."""

    name = "certain"

    def draw(self, rng):
        return arms_of([Bernoulli(1.0)] * self.n_arms)


def test_a_subclass_with_a_draw_of_its_own_draws_by_that():
    many = stacked(Certain(n_arms=2), streams(3, 1))
    assert all(of_run(many, run).means.tolist() == [1.0, 1.0] for run in range(3))


@dataclass(frozen=True)
class Sized(cb.Problem):
    """Instances of different sizes."""

    name = "sized"

    def draw(self, rng):
        return arms_of([Bernoulli(0.5)] * (2 + rng.integers(5)))


def test_instances_of_different_sizes_are_not_alike():
    with pytest.raises(NotAlike, match="different sizes"):
        stacked(Sized(), streams(20, 1))


@dataclass(frozen=True)
class Doubled(cb.Problem):
    """Two names for one array."""

    name = "doubled"

    def draw(self, rng):
        means = np.array([rng.random(), rng.random()])
        return Arms(np.zeros(2, np.int64), means, np.zeros(2), means)


def test_two_arrays_that_are_one_cannot_be_stacked():
    with pytest.raises(NotAlike, match="two arrays of an instance of doubled are one"):
        stacked(Doubled(), streams(3, 1))


SHARED = np.arange(3.0)


@dataclass(frozen=True)
class Sharing(cb.Problem):
    """One array for all instances, one for each."""

    name = "sharing"

    def draw(self, rng):
        return Arms(np.zeros(3, np.int64), SHARED, np.zeros(3), np.zeros(3))


def test_only_the_very_same_array_is_shared():
    many = stacked(Sharing(), streams(4, 1))
    assert [leaf.is_shared for leaf in many.leaves] == [False, True, False, False]
    assert many.leaves[1].value is SHARED


def test_one_of_many_is_its_own():
    many = Arms(*(np.arange(6).reshape(3, 2) for _ in range(4)))
    one = one_of(many, 1)
    assert one.means.tolist() == [1, 3, 5]
    one.means[0] = 7
    assert many.means[0, 1] == 1
