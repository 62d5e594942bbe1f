"""RB-SDA: duels have the law of the paper, and so has what comes of them."""

import numpy as np
import pytest
from scipy import stats

import corebandit as cb
from corebandit.policies import RBSDA, SSMC
from corebandit.randomness.stream import stream

LEADER = [0.9, 0.1, 0.4, 0.4, 0.8, 0.2, 0.6, 0.3, 0.7]
CHALLENGERS = {1: [0.45, 0.46], 2: [0.5], 3: [0.2, 0.3, 0.88]}


def queued(policy, seed):
    """Return the arms that are sampled in the round after these rewards."""
    state, rng = policy.start(4, None, 100), stream(seed, "duels")
    for arm, rewards in {**CHALLENGERS, 0: LEADER}.items():
        for reward in rewards:
            state.update(arm, reward, rng)
    assert state.leader[0] == 0
    return state.queue.copy()


def shares_won():
    """Return how many of the leader's blocks each challenger beats, by going through them."""
    for rewards in CHALLENGERS.values():
        blocks = np.lib.stride_tricks.sliding_window_view(np.array(LEADER), len(rewards))
        yield (np.mean(rewards) >= blocks.mean(axis=1)).mean()


def test_each_duel_is_won_against_as_many_blocks_as_there_are():
    n_draws = 4000
    wins = np.array([queued(RBSDA(), seed) for seed in range(n_draws)])[:, 1:].sum(axis=0)
    for won, share in zip(wins, shares_won(), strict=True):
        assert 0 < share < 1
        assert stats.binomtest(int(won), n_draws, share).pvalue > 1e-3


def test_arms_of_few_rewards_are_forced():
    assert all(queued(RBSDA(forced=0.7), seed)[2] == 1 for seed in range(30))  # 1 < 0.7 sqrt(ln 15)
    assert not all(queued(RBSDA(forced=0.7), seed)[1] == 1 for seed in range(30))


def test_the_last_block_is_that_of_lb_sda():
    """A stream whose every number is nearly 1 draws the last block."""
    state, other = RBSDA(forced=1.0).start(3, None, 300), SSMC(window="last").start(3, None, 300)
    noise, rng = np.random.default_rng(4), stream(5)
    for _ in range(300):
        arm, reward = int(noise.choice(3, p=[0.7, 0.2, 0.1])), float(noise.random())
        state.update(arm, reward, AlmostOne())
        other.update(arm, reward, rng)
        assert state.queue.tolist() == other.queue.tolist()


class AlmostOne:
    """Random numbers that are not."""

    def random(self):
        return 1.0 - 2.0**-53

    def integers(self, high):
        return 0


def plain_regret(means, n_rounds, rng):
    """Play the algorithm of the paper once, with a block of its own for every duel; return its expected regret."""
    rewards = [[rng.random() < mean] for mean in means]
    leader, n_played = -1, len(means)
    while n_played < n_rounds:
        best = max((len(each), sum(each)) for each in rewards)
        tied = [k for k, each in enumerate(rewards) if (len(each), sum(each)) == best]
        leader = leader if leader in tied else int(rng.choice(tied))
        winners = []
        for k, each in enumerate(rewards):
            if len(each) < len(rewards[leader]):
                start = rng.integers(len(rewards[leader]) - len(each) + 1)
                if sum(each) >= sum(rewards[leader][start : start + len(each)]):
                    winners.append(k)
        for k in rng.permutation(winners or [leader])[: n_rounds - n_played]:
            rewards[k].append(rng.random() < means[k])
            n_played += 1
    return sum((max(means) - mean) * len(each) for mean, each in zip(means, rewards, strict=True))


@pytest.mark.heavy
def test_regret_is_that_of_duels_with_blocks_of_their_own():
    means, n_rounds, n_runs = [0.5, 0.4, 0.4, 0.3, 0.3], 300, 800
    rng = np.random.default_rng(6)
    plain = np.array([plain_regret(means, n_rounds, rng) for _ in range(n_runs)])
    ours = regrets(RBSDA(), means, n_rounds, n_runs)
    error = np.hypot(plain.std(), ours.std()) / n_runs**0.5
    assert abs(plain.mean() - ours.mean()) < 4 * error
    assert error < 0.03 * plain.mean()  # so that what is tested is something


def regrets(policy, means, n_rounds, n_runs):
    """Return the regret of our runs."""
    problem = cb.FixedArms([cb.Bernoulli(mean) for mean in means])
    return cb.run(cb.Experiment(problem, {"it": policy}, horizon=n_rounds, runs=n_runs, seed=7)).regret("it")[:, -1]


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="forced must be a number of at least 0, not -1"):
        RBSDA(forced=-1)
