"""CORe: the warm-up, the noise, and what must not change its choices."""

import math

import numpy as np
import pytest
from scipy import stats

from corebandit.contracts.recipe import REAL_LINE
from corebandit.parts.choose import best_arm
from corebandit.parts.pool import SAMPLERS
from corebandit.policies import CORe
from corebandit.policies.arms.core import COReState
from corebandit.randomness.stream import stream


def play(policy: CORe, rewards: np.ndarray, n_rounds: int, horizon: int | None) -> tuple[list[int], list[bool]]:
    """Play with arms that pay their rows of `rewards` in turn; return the arms and which rounds were warm-up."""
    n_arms = rewards.shape[0]
    state, rng = policy.start(n_arms, horizon, n_rounds), stream(1, "core")
    scores, offered, pulls = np.empty(n_arms), np.arange(n_arms), np.zeros(n_arms, int)
    arms, warm_up = [], []
    for _ in range(n_rounds):
        warm_up.append(bool(state.is_warming_up()))
        state.score(rng, scores)
        arm = int(best_arm(scores, offered, rng))
        state.update(arm, float(rewards[arm, pulls[arm]]), rng)
        pulls[arm] += 1
        arms.append(arm)
    return arms, warm_up


def after(policy: CORe, rewards: list[list[float]]) -> COReState:
    """Return the state after each arm paid its list of rewards."""
    state, rng = policy.start(len(rewards), 100, sum(map(len, rewards))), stream(2, "core")
    for arm, of_arm in enumerate(rewards):
        for reward in of_arm:
            state.update(arm, float(reward), rng)
    return state


def many_scores(state: COReState, n_draws: int = 20_000) -> np.ndarray:
    """Score again and again, `(n_draws, n_arms)`."""
    rng, scores = stream(3, "core"), np.empty((n_draws, state.counts.size))
    for row in scores:
        state.score(rng, row)
    return scores


# The warm-up ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "n_arms", "horizon", "n_rounds"),
    [
        (CORe(), 10, 10_000, 333),  # 4 ln(10000) / (0.6 - 1 - ln 0.6) + 1 = 333.43
        (CORe(warm_up=2.0), 10, 10_000, 167),  # 167.2
        (CORe(z=0.8), 10, 1_000, 1194),  # 4 ln(1000) / (0.8 - 1 - ln 0.8) + 1 = 1194.9
        (CORe(), 400, 10_000, 400),  # more arms than that
        (CORe(warm_up=0.0), 10, 10_000, 10),
        (CORe(), 10, None, 190),  # 4 ln(190) / 0.1108 + 1 = 190.4, 4 ln(191) / 0.1108 + 1 = 190.6
    ],
)
def test_warm_up_lasts_as_long_as_algorithm_1_says_and_treats_arms_alike(policy, n_arms, horizon, n_rounds):
    rewards = np.random.default_rng(4).normal(size=(n_arms, n_rounds + 50)) + np.arange(n_arms)[:, None]
    arms, warm_up = play(policy, rewards, n_rounds + 5, horizon)
    assert warm_up == [True] * n_rounds + [False] * 5
    pulls = np.bincount(arms[:n_rounds], minlength=n_arms)
    assert pulls.max() - pulls.min() <= 1
    assert sorted(arms[:n_arms]) == list(range(n_arms))


def test_warm_up_begins_anywhere():
    firsts = set()
    for seed in range(40):
        state, rng, scores = CORe().start(3, 100, 1), stream(seed, "order"), np.empty(3)
        state.score(rng, scores)
        firsts.add(int(best_arm(scores, np.arange(3), rng)))
    assert firsts == {0, 1, 2}


def test_an_arm_never_tried_comes_first_after_the_warm_up():
    state = after(CORe(warm_up=0.0), [[1.0, 2.0, 3.0], [], [0.0]])
    assert many_scores(state, 1)[0, 1] == np.inf


# The noise --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize(
    "rewards",
    [
        [[0.0] * 60, [1.0] * 40],  # within an arm nothing varies: the noise comes from the pool of all
        [list(np.linspace(100.0, 101.0, 60)), list(np.linspace(103.0, 107.0, 40))],
    ],
)
def test_noise_has_alpha_squared_times_the_variance_of_all_rewards(sampler, rewards):
    alpha, pool = 0.6, np.concatenate(rewards)
    scores = many_scores(after(CORe(alpha=alpha, warm_up=0.0, sampler=sampler), rewards))
    for arm, of_arm in enumerate(rewards):
        variance = alpha**2 * pool.var() / len(of_arm)
        assert scores[:, arm].mean() == pytest.approx(np.mean(of_arm), abs=4 * math.sqrt(variance / len(scores)))
        assert scores[:, arm].var() == pytest.approx(variance, rel=0.05)
    assert abs(np.corrcoef(scores.T)[0, 1]) < 4 / math.sqrt(len(scores))


@pytest.mark.heavy
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("extra", [1, 4, 16])
def test_extra_draws_widen_the_noise_of_arms_with_few_pulls(sampler, extra):
    noise, alpha = np.random.default_rng(7), 0.6
    rewards = [list(noise.normal(size=n)) for n in (2, 20, 400)]
    scores = many_scores(after(CORe(alpha=alpha, warm_up=0.0, extra=extra, sampler=sampler), rewards))
    for arm, of_arm in enumerate(rewards):
        n, variance = len(of_arm), alpha**2 * np.concatenate(rewards).var()
        assert scores[:, arm].var() == pytest.approx(variance * (n + extra) / n**2, rel=0.05)
        assert scores[:, arm].mean() == pytest.approx(
            np.mean(of_arm), abs=4 * math.sqrt(variance * (n + extra) / n**2 / len(scores))
        )


@pytest.mark.heavy
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_growth_widens_the_noise_of_arms_that_have_fallen_behind(sampler):
    noise, alpha, extra, growth = np.random.default_rng(7), 0.6, 2, 0.8
    rewards = [list(noise.normal(size=n)) for n in (2, 20, 400)]
    rounds, n_arms = 422, 3
    policy = CORe(alpha=alpha, warm_up=0.0, extra=extra, growth=growth, sampler=sampler)
    scores = many_scores(after(policy, rewards))
    for arm, of_arm in enumerate(rewards):
        n = len(of_arm)
        variance = alpha**2 * np.concatenate(rewards).var() * (n + extra) / n**2
        variance *= 1 + growth * max(0.0, math.log(rounds / (n_arms * n)))  # by hand 1 + 0.8 (4.25, 1.95, 0)
        assert scores[:, arm].var() == pytest.approx(variance, rel=0.05)
        assert scores[:, arm].mean() == pytest.approx(np.mean(of_arm), abs=4 * math.sqrt(variance / len(scores)))


def test_without_growth_nothing_is_said_and_nothing_changes():
    assert "growth" not in CORe(extra=2).describe()
    assert CORe(extra=2, growth=0.5).describe()["growth"] == 0.5
    with pytest.raises(ValueError, match="growth must be"):
        CORe(growth=-0.1)


def test_without_a_warm_up_every_arm_is_tried_once_and_no_horizon_is_needed():
    policy = CORe(warm_up=0.0, extra=4)
    state, rng, scores, tried = policy.start(5, None, 20), stream(3), np.empty(5), []
    for pull in range(6):
        assert state.is_warming_up() == (pull < 5)
        state.score(rng, scores)
        arm = int(best_arm(scores, np.arange(5), rng))
        tried.append(arm)
        state.update(arm, float(rng.random()), rng)
    assert sorted(tried[:5]) == list(range(5))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_one_reward_is_perturbed_by_one_value_of_the_mirrored_pool(sampler):
    scores = many_scores(after(CORe(alpha=0.5, warm_up=0.0, sampler=sampler), [[3.0], [6.0, 0.0]]), 8000)[:, 0]
    values, seen = np.unique(np.round(scores, 9), return_counts=True)
    assert list(values) == [1.5, 3.0, 4.5]  # 3 + 0.5 {0, 0, 3, -3, -3, 3}
    assert stats.chisquare(seen).pvalue > 1e-3


def test_a_plain_pool_adds_the_rewards_themselves():
    plain = CORe(alpha=0.5, warm_up=0.0, sampler="exact", pool="plain")
    scores = many_scores(after(plain, [[3.0], [6.0, 0.0]]), 8000)[:, 0]
    values, seen = np.unique(scores, return_counts=True)
    assert list(values) == [3.0, 4.5, 6.0]  # 3 + 0.5 {0, 3, 6}
    assert stats.chisquare(seen).pvalue > 1e-3


@pytest.mark.heavy
def test_fast_and_exact_scores_have_the_same_law():
    noise = np.random.default_rng(5)
    rewards = [list(noise.exponential(size=n)) for n in (5, 40, 120)]
    fast, exact = (many_scores(after(CORe(warm_up=0.0, sampler=sampler), rewards)) for sampler in ("fast", "exact"))
    for arm in range(3):
        assert stats.ks_2samp(fast[:, arm], exact[:, arm]).statistic < 0.0195  # p = 0.001 for 20,000 draws each


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_rewards_without_variance_make_it_greedy(sampler):
    state = after(CORe(warm_up=0.0, sampler=sampler), [[0.25] * 3, [0.25] * 7])
    assert np.all(many_scores(state, 100) == 0.25)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_alpha_zero_is_greedy(sampler):
    state = after(CORe(alpha=0.0, warm_up=0.0, sampler=sampler), [[0.0, 1.0], [2.0, 5.0, 2.0]])
    assert np.all(many_scores(state, 100) == [0.5, 3.0])


# What must not change its choices -----------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(("scale", "shift"), [(1.0, 100.0), (1e-3, 0.0), (1e6, 0.0), (7.0, -50.0)])
def test_shifting_and_scaling_the_rewards_changes_no_choice(sampler, binary, scale, shift):
    noise, means = np.random.default_rng(6), np.array([0.3, 0.45, 0.5, 0.6])[:, None]
    rewards = (noise.random((4, 600)) < means).astype(float) if binary else means + 0.5 * noise.normal(size=(4, 600))
    policy = CORe(warm_up=0.5, sampler=sampler)
    plain, warm_up = play(policy, rewards, 500, 500)
    changed, _ = play(policy, scale * rewards + shift, 500, 500)
    assert plain == changed
    assert len(set(plain[sum(warm_up) :])) > 1


# The recipe ---------------------------------------------------------------------------------------------------------


@pytest.mark.heavy
def test_pool_size_bounds_what_is_kept():
    state = after(CORe(pool_size=20, warm_up=0.0), [list(range(50)), list(range(50))])
    assert state.pool.values.size == 20
    assert np.isfinite(many_scores(state, 10)).all()


def test_any_real_rewards_are_welcome():
    assert CORe().reward_range == REAL_LINE


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"alpha": -0.1}, "alpha must be a number of at least 0, not -0.1"),
        ({"z": 1.0}, "z must be a number above 0 and below 1, not 1.0"),
        ({"z": 0.0}, "z must be a number above 0 and below 1, not 0.0"),
        ({"warm_up": -1.0}, "warm_up must be a number of at least 0, not -1.0"),
        ({"sampler": "slow"}, "sampler must be 'fast' or 'exact' or 'halving', not 'slow'"),
        ({"sampler": "exact", "pool": "raw"}, "pool must be 'mirrored' or 'plain', not 'raw'"),
        ({"pool": "plain"}, "pool='plain' needs sampler='exact', not 'fast'"),
        ({"sampler": "exact", "pool": "plain", "growth": 0.5}, "pool='plain' needs growth=0, not 0.5: only noise"),
        ({"pool_size": 1}, "pool_size must be a whole number of at least 2, not 1"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        CORe(**parameters)
