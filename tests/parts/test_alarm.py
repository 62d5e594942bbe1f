"""The test for changes, against the same test made by hand from all rewards."""

import math

import numpy as np
import pytest

from corebandit.contracts.state import arrays_of, carry_over
from corebandit.parts.alarm import FEWEST, new_alarm


def statistic(rewards: np.ndarray, m: int) -> float:
    """Return m (n - m) / n (difference of means)^2 for the newest m."""
    n = rewards.size
    return m * (n - m) / n * (rewards[n - m :].mean() - rewards[: n - m].mean()) ** 2


def heard(rewards: np.ndarray, delta: float = 0.01, arm: int = 1, n_arms: int = 3):
    """Return an alarm that has heard rewards of an arm, and after how many it rang first; it goes on as it is."""
    alarm, rang = new_alarm(n_arms, delta), None
    for index, reward in enumerate(rewards):
        if alarm.rings(arm, float(reward)) and rang is None:
            rang = index + 1
    return alarm, rang


def test_the_statistic_is_that_of_all_rewards_at_the_split_it_names():
    rng = np.random.default_rng(1)
    rewards = rng.normal(1e3, 1.0, size=1000)
    rewards[700:] += 0.5
    alarm, _ = heard(rewards)
    tested = alarm.find_change(1)
    m = int(alarm.newest[0])
    by_hand = [statistic(rewards, split) for split in range(1, 1000)]
    assert statistic(rewards, m) == pytest.approx(tested, rel=1e-9)
    assert alarm.newest[1] == pytest.approx(rewards[1000 - m :].mean())
    assert 0.8 * max(by_hand) <= tested <= max(by_hand) * (1 + 1e-9)  # blocks miss little of it
    assert 200 <= m <= 400
    parts = rewards[: 1000 - m], rewards[1000 - m :]
    assert alarm.variance_within(1) == pytest.approx(sum(part.var() * part.size for part in parts) / 1000)


def test_blocks_hold_every_reward_once():
    rewards = np.random.default_rng(2).random(777)
    alarm, _ = heard(rewards)
    sizes = 2.0 ** np.arange(alarm.n_blocks.shape[1])
    assert alarm.n_blocks[1] @ sizes == 777
    assert alarm.n_blocks[1].max() == 4
    filled = np.arange(4)[None, :] < alarm.n_blocks[1][:, None]
    assert (alarm.blocks[1] * filled).sum(axis=1) @ sizes == pytest.approx(rewards.sum())


@pytest.mark.parametrize("shift", [0.4, -0.4])
def test_it_rings_when_the_test_by_hand_would(shift):
    rng = np.random.default_rng(3)
    rewards = (rng.random(600) < 0.5).astype(float)
    rewards[300:] = rng.random(300) < 0.5 + shift
    _, rang = heard(rewards)

    def would_ring(n: int) -> bool:
        past, m = rewards[:n], np.arange(int(FEWEST), n - int(FEWEST) + 1)
        newest = past.sum() - past.cumsum()[n - m - 1]
        most = np.max(m * (n - m) / n * (newest / m - (past.sum() - newest) / (n - m)) ** 2)
        return most > 2 * past.var() * math.log(n**1.5 / 0.01)

    first = next(n for n in range(64, 600) if would_ring(n))
    assert first <= rang <= first + 24  # every 8th is tested, and not every split
    assert rang > 300


@pytest.mark.heavy
def test_it_seldom_rings_for_nothing():
    false = sum(
        heard(np.random.default_rng([4, seed]).standard_t(5, size=3000), delta=0.1)[1] is not None for seed in range(60)
    )
    assert false <= 3


@pytest.mark.heavy
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.random(5000) < 0.003,
        lambda rng: np.where(rng.random(5000) < 0.01, rng.exponential(size=5000), 0.0),
        lambda rng: rng.lognormal(sigma=1.5, size=5000),
    ],
    ids=["rare", "purchases", "lognormal"],
)
def test_it_seldom_rings_for_nothing_where_rewards_are_rare_or_skewed(draw):
    assert sum(heard(draw(np.random.default_rng([7, seed])))[1] is not None for seed in range(30)) <= 2


@pytest.mark.heavy
def test_rare_rewards_that_change_are_noticed_all_the_same():
    rng = np.random.default_rng(8)
    _, rang = heard(np.concatenate([rng.random(20_000) < 0.01, rng.random(20_000) < 0.03]))
    assert 20_000 < rang < 30_000


def test_other_arms_are_left_alone_and_everything_can_be_forgotten():
    alarm, _ = heard(np.random.default_rng(5).random(100))
    assert alarm.moments[[0, 2]].sum() == 0
    alarm.forget()
    assert not alarm.n_blocks.any()


def test_arms_may_be_added():
    rewards = np.random.default_rng(6).random(100)
    (small, _), large = heard(rewards, n_arms=2), new_alarm(5, 0.01)
    carry_over(small, large)
    assert small.find_change(1) == large.find_change(1)


def test_off_it_takes_no_room():
    off = new_alarm(3, None)
    assert not off.is_on()
    assert sum(array.size for array in arrays_of(off)) < 20
