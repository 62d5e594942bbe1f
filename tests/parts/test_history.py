"""The lists of observations."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from compiled_once import compiled_once
from corebandit.contracts.recipe import Policy
from corebandit.contracts.state import arrays_of, carry_over
from corebandit.parts.history import PLACES, History, new_history
from corebandit.policies import NPTS, SSMC, Giro, RewardExchange, WeightedBootstrap


@compiled_once
def append_all(history: History, arms: NDArray[np.int64], values: NDArray[np.float64]) -> None:
    for i in range(arms.size):
        history.append(arms[i], values[i])


def lists_of(history: History) -> list[list[float]]:
    return [[history.value(arm, i) for i in range(n)] for arm, n in enumerate(history.counts)]


def lists_by_hand(n_arms: int, arms: Any, values: Any) -> list[list[float]]:
    lists: list[list[float]] = [[] for _ in range(n_arms)]
    for arm, value in zip(arms, values, strict=True):
        lists[arm].append(value)
    return lists


@pytest.mark.parametrize("n_values", [0, 1, 2, 3, 63, 64, 65, 128, 647])
@pytest.mark.parametrize("n_arms", [1, 3, 500])
def test_every_arm_keeps_its_values_in_order(n_arms: int, n_values: int) -> None:
    rng = np.random.default_rng([n_arms, n_values])
    arms, values = rng.integers(0, n_arms, n_values), rng.standard_normal(n_values)
    history = new_history(n_arms, n_values)
    append_all(history, arms, values)
    np.testing.assert_array_equal(history.counts, np.bincount(arms, minlength=n_arms))
    assert lists_of(history) == lists_by_hand(n_arms, arms, values.tolist())


def test_python_and_compiled_code_append_alike() -> None:
    rng = np.random.default_rng(1)
    arms, values = rng.integers(0, 3, 300), rng.standard_normal(300)
    compiled, interpreted = new_history(3, 300), new_history(3, 300)
    append_all(compiled, arms, values)
    for arm, value in zip(arms.tolist(), values.tolist(), strict=True):
        interpreted.append(arm, value)
    for one, other in zip(compiled, interpreted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("capacity", [0, 1, 64, 65, 319, 1000])
@pytest.mark.parametrize("n_arms", [1, 2, 65])
def test_there_is_room_for_the_capacity_however_it_falls_on_the_arms(n_arms: int, capacity: int) -> None:
    all_on_one = np.zeros(capacity, np.int64)
    in_turn = np.arange(capacity) % n_arms
    # What wastes most: lists that have just moved, whose last values are one more than a power of 2.
    just_moved = np.minimum(np.arange(capacity) // 65, n_arms - 1)
    one_each = np.minimum(np.arange(capacity), n_arms - 1)
    for arms in (all_on_one, in_turn, just_moved, one_each):
        history = new_history(n_arms, capacity)
        append_all(history, arms, np.arange(float(capacity)))
        assert history.n_used[0] <= history.values.size
        assert lists_of(history) == lists_by_hand(n_arms, arms, np.arange(float(capacity)).tolist())


@pytest.mark.parametrize("policy", [SSMC(), Giro(), NPTS(), RewardExchange(), WeightedBootstrap()], ids=str)
def test_memory_follows_the_observations_not_arms_times_rounds(policy: Policy) -> None:
    n_arms, capacity = 100_000, 131_072
    n_bytes = sum(array.nbytes for array in arrays_of(policy.start(n_arms, None, capacity)))
    assert n_bytes < 8 * (2 + PLACES) * capacity + 400 * n_arms


def test_an_arm_with_one_observation_takes_one_place() -> None:
    history = new_history(1000, 1000)
    append_all(history, np.arange(1000), np.ones(1000))
    assert history.n_used[0] == 1000


def test_blocks_left_behind_hold_nothing() -> None:
    history = new_history(2, 100)
    append_all(history, np.arange(100) % 2, np.ones(100))
    assert history.values.sum() == 100


@pytest.mark.parametrize("n_before", [0, 1, 64, 200])
def test_a_grown_history_equals_one_that_was_large_from_the_start(n_before: int) -> None:
    rng = np.random.default_rng(2)
    arms, values = rng.integers(0, 4, 600), rng.standard_normal(600)
    small, grown, large = new_history(4, n_before), new_history(4, 600), new_history(4, 600)
    append_all(small, arms[:n_before], values[:n_before])
    carry_over(small, grown)
    append_all(grown, arms[n_before:], values[n_before:])
    append_all(large, arms, values)
    for one, other in zip(grown, large, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_history_can_grow_by_arms() -> None:
    rng = np.random.default_rng(3)
    arms, values = rng.integers(0, 2, 150), rng.standard_normal(150)
    small, grown = new_history(2, 150), new_history(5, 300)
    append_all(small, arms, values)
    carry_over(small, grown)
    append_all(grown, np.array([4, 0, 4]), np.array([1.0, 2.0, 3.0]))
    expected = lists_by_hand(2, arms, values.tolist())
    assert lists_of(grown) == [[*expected[0], 2.0], expected[1], [], [], [1.0, 3.0]]
