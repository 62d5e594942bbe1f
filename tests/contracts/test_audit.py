from typing import NamedTuple

import numpy as np
import pytest

from corebandit.contracts.audit import (
    audit,
    check_equal,
    check_finite,
    check_flags,
    check_near,
    check_pulls,
    check_rewards,
    check_sums,
    check_whole,
    check_within,
)
from corebandit.contracts.errors import DamagedFile
from corebandit.parts.groups import new_groups
from corebandit.parts.history import new_history


@pytest.mark.parametrize(
    ("check", "arguments"),
    [
        (check_within, ([0.5, np.nan], 0, 1)),
        (check_within, ([0.5, 1.5], 0, [1.0, 1.0])),
        (check_finite, ([0.0, np.inf],)),
        (check_whole, ([1.0, 1.5], 0, 2)),
        (check_whole, ([1, -1], 0, 2)),
        (check_equal, ([1, 2], 1)),
        (check_near, ([1.0, 2.1], [1.0, 2.0])),
        (check_flags, ([0, 1, 2],)),
        (check_pulls, ([3.0, 4.0], range(8, 9))),
        (check_pulls, ([2**63 - 1, 2**63 - 1, 2], range(0, 1))),  # wraps around to 0
        (check_sums, ([1.0, 1.0], np.array([1.0, 0.0]))),
        (check_rewards, ([1e101],)),
    ],
)
def test_what_does_not_fit_is_named(check, arguments):
    with pytest.raises(DamagedFile, match=r"^these must"):
        check("these", np.array(arguments[0]), *arguments[1:])


def test_what_fits_passes():
    assert check_pulls("counts", np.array([3.0, 4.0]), range(7, 8)) == 7
    check_whole("whole", np.array([2.0**53]), 0, 2**53)
    check_sums("sums", np.array([-1e100, 2e100, 0.0]), np.array([1, 2, 0]))
    check_near("nearly", np.array([1.0 + 1e-15]), 1.0)


def test_states_without_an_audit_are_taken_as_they_are():
    class Own(NamedTuple):
        counts: np.ndarray

    audit(Own(np.full(2, np.nan)), Own(np.zeros(2)), range(3))


def test_the_numbers_of_a_history_are_listed_by_arm():
    history = new_history(3, 500)
    arms = np.random.default_rng(0).integers(3, size=500)
    for index, arm in enumerate(arms):
        history.append(arm, float(index))
    assert history.audit(500.0) == 500
    listed_arms, listed = history.listed()
    assert listed_arms.tolist() == np.sort(arms).tolist()
    assert listed.tolist() == np.argsort(arms, kind="stable").tolist()


def test_a_chain_of_groups_that_never_ends_is_refused():
    groups = new_groups(2, 1, 10)
    for index in range(6):
        groups.add(index % 2, np.array([float(index)]), 1.0)
    groups.audit(6.0, 6)
    groups.older[2] = 3  # itself
    with pytest.raises(DamagedFile, match="the older groups"):
        groups.audit(6.0, 6)
