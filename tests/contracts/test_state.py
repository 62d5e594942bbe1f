"""Growing states: what was learnt is carried over, whatever the state is made of."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from corebandit.contracts.state import arrays_of, carry_over
from corebandit.policies.arms.core import CORe
from corebandit.randomness.stream import stream


class Inner(NamedTuple):
    """A part of a state."""

    table: NDArray[np.int64]  # (n_arms, n_observations)
    factor: float


class State(NamedTuple):
    """A state of arrays, scalars and a further tuple."""

    sums: NDArray[np.float64]  # (n_arms,)
    rate: float
    inner: Inner
    clock: NDArray[np.int64]  # (1,)


def new_state(n_arms: int, n_observations: int) -> State:
    return State(np.zeros(n_arms), 0.5, Inner(np.zeros((n_arms, n_observations), np.int64), 2.0), np.zeros(1, np.int64))


def learnt_state() -> State:
    state = new_state(2, 3)
    state.sums[:] = [1.5, 2.5]
    state.inner.table[:] = [[1, 2, 3], [4, 5, 6]]
    state.clock[0] = 9
    return state


def test_arrays_come_in_the_order_of_the_fields() -> None:
    state = new_state(2, 3)
    arrays = list(arrays_of(state))
    assert [id(array) for array in arrays] == [id(state.sums), id(state.inner.table), id(state.clock)]


def test_what_was_learnt_is_carried_over_and_the_rest_stays_fresh() -> None:
    new = new_state(4, 5)
    carry_over(learnt_state(), new)
    np.testing.assert_array_equal(new.sums, [1.5, 2.5, 0.0, 0.0])
    np.testing.assert_array_equal(new.inner.table, [[1, 2, 3, 0, 0], [4, 5, 6, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    np.testing.assert_array_equal(new.clock, [9])


def test_the_carried_state_does_not_share_memory_with_the_old_one() -> None:
    old, new = learnt_state(), new_state(2, 3)
    carry_over(old, new)
    old.sums[0] = -1.0
    old.inner.table[0, 0] = -1
    assert new.sums[0] == 1.5
    assert new.inner.table[0, 0] == 1


@pytest.mark.parametrize(("n_arms", "n_observations"), [(1, 5), (4, 2)])
def test_a_smaller_state_is_refused(n_arms: int, n_observations: int) -> None:
    with pytest.raises(ValueError, match="broadcast"):
        carry_over(learnt_state(), new_state(n_arms, n_observations))


def test_a_state_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="longer"):
        carry_over(learnt_state(), (*new_state(2, 3), np.zeros(1)))


@pytest.mark.heavy
def test_core_goes_on_after_growing_as_if_it_had_been_large_from_the_start() -> None:
    policy, arms = CORe(warm_up=0.1), [0, 1, 2, 0, 1, 2, 2, 2]
    rewards = [0.3, 1.7, 2.5, -0.4, 1.1, 2.2, 2.9, 3.1]
    small, grown, large = (policy.start(3, 1000, capacity) for capacity in (8, 500, 500))
    for arm, reward in zip(arms, rewards, strict=True):
        small.update(arm, reward, stream(1, "grow"))
        large.update(arm, reward, stream(1, "grow"))
    carry_over(small, grown)
    scores = np.zeros((2, 3))
    for row, state in zip(scores, (grown, large), strict=True):
        for round_ in range(30):
            state.update(round_ % 3, round_ * 0.7 % 1.0, stream(2, "grow", round_))
        state.score(stream(3, "grow"), row)
    np.testing.assert_array_equal(scores[0], scores[1])
    assert np.isfinite(scores).all()
