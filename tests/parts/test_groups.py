"""Observations gathered by arm: one group for each arm while features stay the same, a chain of them when not."""

import numpy as np

from corebandit.contracts.state import FloatArray, carry_over
from corebandit.parts.groups import Groups, new_groups


def chain(groups: Groups, arm: int) -> list[tuple[list[float], float]]:
    """Return the rows and weights of an arm, newest first."""
    found, link = [], int(groups.newest[arm])
    while link > 0:
        found.append((groups.rows[link - 1].tolist(), float(groups.weights[link - 1])))
        link = int(groups.older[link - 1])
    return found


def gram_of(groups: Groups) -> FloatArray:
    """Add up weight x x' over the chains of all arms."""
    d = groups.rows.shape[1]
    chains = (chain(groups, arm) for arm in range(groups.newest.size))
    return sum((weight * np.outer(x, x) for of_arm in chains for x, weight in of_arm), np.zeros((d, d)))


def test_nothing_seen_is_no_group():
    groups = new_groups(3, 2, 5)
    assert groups.n_used[0] == 0
    assert [chain(groups, arm) for arm in range(3)] == [[], [], []]


def test_fixed_features_give_one_group_for_each_arm():
    features = np.array([[1.0, 0.0], [0.5, 2.0], [1.0, 0.0]])
    groups, arms = new_groups(3, 2, 60), np.random.default_rng(1).integers(0, 3, 60)
    for arm in arms:
        groups.add(int(arm), features[arm], 1.0)
    assert groups.n_used[0] == 3
    for arm in range(3):
        assert chain(groups, arm) == [(features[arm].tolist(), float((arms == arm).sum()))]


def test_changed_features_make_a_new_group_that_links_to_the_one_before():
    groups = new_groups(2, 2, 8)
    groups.add(1, np.array([1.0, 2.0]), 1.0)
    groups.add(0, np.array([7.0, 7.0]), 1.0)
    groups.add(1, np.array([1.0, 2.0]), 2.5)
    groups.add(1, np.array([1.0, 3.0]), 1.0)  # only the last feature differs
    groups.add(1, np.array([1.0, 2.0]), 4.0)  # as at first, but not as just now
    assert chain(groups, 1) == [([1.0, 2.0], 4.0), ([1.0, 3.0], 1.0), ([1.0, 2.0], 3.5)]
    assert chain(groups, 0) == [([7.0, 7.0], 1.0)]
    assert groups.n_used[0] == 4


def test_one_group_for_each_observation_is_the_most_there_are():
    noise = np.random.default_rng(2)
    groups, rows = new_groups(4, 3, 50), noise.normal(size=(50, 3))
    for x in rows:
        groups.add(int(noise.integers(4)), x, 1.0)
    assert groups.n_used[0] == 50
    np.testing.assert_allclose(gram_of(groups), rows.T @ rows, rtol=1e-12)


def test_the_rows_are_copies():
    groups, x = new_groups(1, 2, 3), np.array([1.0, 2.0])
    groups.add(0, x, 1.0)
    x[0] = 5.0
    assert chain(groups, 0) == [([1.0, 2.0], 1.0)]


def test_a_group_is_added_to_a_total():
    groups = new_groups(2, 2, 3)
    groups.add(0, np.array([1.0, 2.0]), 1.0)
    groups.add(1, np.array([-3.0, 4.0]), 9.0)
    total = np.array([10.0, 20.0])
    groups.add_to(total, 1, 0.5)
    assert list(total) == [8.5, 22.0]


def test_groups_given_more_room_and_arms_go_on_as_if_they_had_been_large_from_the_start():
    noise = np.random.default_rng(3)
    observations = [(int(noise.integers(2)), noise.integers(0, 2, 2).astype(float)) for _ in range(40)]
    small, large = new_groups(2, 2, 20), new_groups(5, 2, 80)
    for arm, x in observations[:20]:
        small.add(arm, x, 1.0)
        large.add(arm, x, 1.0)
    grown = new_groups(5, 2, 80)
    carry_over(small, grown)
    assert chain(grown, 4) == []
    for arm, x in [*observations[20:], (4, np.array([2.0, 2.0]))]:
        grown.add(arm, x, 1.0)
        large.add(arm, x, 1.0)
    for array, other in zip(grown, large, strict=True):
        assert np.array_equal(array, other)
    assert chain(grown, 4) == [([2.0, 2.0], 1.0)]
