"""LinCORe: that it is CORe on one-hot features, its noise, its warm-up, and what must not change its choices."""

import numpy as np
import pytest
from scipy import stats

from corebandit import Experiment, run
from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.recipe import REAL_LINE
from corebandit.contracts.state import FloatArray, carry_over
from corebandit.games.feature_game import play_features
from corebandit.games.notes import new_notes
from corebandit.parts.choose import best_arm
from corebandit.policies import CORe, LinCORe
from corebandit.policies.linear.lincore import LinCOReState
from corebandit.problems.linear import FixedLinear, LinearBandit
from corebandit.randomness.stream import Stream, stream, streams
from corebandit.reproduction.trials import WidenedLinCORe
from often import often

SAMPLERS = ["fast", "exact"]
both_samplers = pytest.mark.parametrize("sampler", SAMPLERS)


def generator(*key: int) -> np.random.Generator:
    return np.random.default_rng(list(key))


def play(
    policy: LinCORe,
    features: FloatArray,
    rewards: FloatArray,
    n_rounds: int,
    horizon: int | None,
    seed: int = 1,
) -> tuple[list[int], FloatArray]:
    """Play with arms that pay their rows of `rewards` in turn; return the arms and all the scores.

    `features` are `(n_arms, d)`, or `(n_rounds, n_arms, d)` if they change.
    """
    every = np.broadcast_to(features, (n_rounds, *features.shape[-2:]))
    n_arms, d = every.shape[1:]
    state, rng = policy.start(n_arms, d, horizon, n_rounds), stream(seed, "play")
    pulls, scores, arms = np.zeros(n_arms, int), np.empty((n_rounds, n_arms)), []
    for offered, row in zip(every, scores, strict=True):
        state.score(offered, rng, row)
        arm = int(best_arm(row, np.arange(n_arms), rng))
        state.update(arm, offered[arm].copy(), float(rewards[arm, pulls[arm]]), rng)
        pulls[arm] += 1
        arms.append(arm)
    return arms, scores


def play_core(policy: CORe, rewards: FloatArray, n_rounds: int, horizon: int | None, seed: int = 1) -> list[int]:
    """Play the same with an arm policy."""
    n_arms = rewards.shape[0]
    state, rng, scores = policy.start(n_arms, horizon, n_rounds), stream(seed, "play"), np.empty(n_arms)
    pulls, arms = np.zeros(n_arms, int), []
    for _ in range(n_rounds):
        state.score(rng, scores)
        arm = int(best_arm(scores, np.arange(n_arms), rng))
        state.update(arm, float(rewards[arm, pulls[arm]]), rng)
        pulls[arm] += 1
        arms.append(arm)
    return arms


def noisy_rewards(n_arms: int, n_rounds: int, seed: int, law: str = "gaussian") -> FloatArray:
    """Return rewards `(n_arms, n_rounds)` of arms whose means are near each other."""
    noise = generator(2, seed)
    means = noise.uniform(0.25, 0.75, (n_arms, 1))
    if law == "beta":
        return noise.beta(4.0 * means, 4.0 * (1.0 - means), (n_arms, n_rounds))
    return means + 0.5 * noise.normal(size=(n_arms, n_rounds))


def after(policy: LinCORe, rows: FloatArray, rewards: FloatArray, arms: list[int] | None = None) -> LinCOReState:
    """Return the state after these rows `(n, d)` paid these rewards, each as a new arm or as the arms given."""
    arms = list(range(len(rows))) if arms is None else arms
    state, rng = policy.start(max(arms) + 1, rows.shape[1], 100, len(rows)), stream(3, "after")
    for arm, x, reward in zip(arms, rows, rewards, strict=True):
        state.update(arm, x, float(reward), rng)
    return state


@EntryPoint
def fill_scores(state: LinCOReState, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
    for i in range(scores.shape[0]):
        state.score(features, rng, scores[i])


def many_scores(state: LinCOReState, features: FloatArray, n_draws: int, seed: int = 4) -> FloatArray:
    """Score again and again, `(n_draws, rows)`."""
    scores = np.empty((n_draws, len(features)))
    fill_scores.compiled(state, features, stream(seed, "scores"), scores)
    return scores


# It is CORe on one-hot features -----------------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize("law", ["gaussian", "beta"])
@pytest.mark.parametrize("seed", often([0], range(4)))
@pytest.mark.parametrize("horizon", [2000, None])
@pytest.mark.parametrize("start", [{"warm_up": 1.0}, {"warm_up": 0.0, "extra": 4}], ids=["warm-up", "extra"])
def test_on_one_hot_features_it_chooses_as_core_does(law, seed, horizon, start):
    rewards = noisy_rewards(10, 2000, seed, law)
    settings = {"sampler": "exact", **start}
    arms, _ = play(LinCORe(lam=1e-12, **settings), np.eye(10), rewards, 2000, horizon, seed)
    assert arms == play_core(CORe(**settings), rewards, 2000, horizon, seed)
    assert len(set(arms[200:])) > 1


@pytest.mark.heavy
@pytest.mark.parametrize(("counts", "extra"), [([30, 45, 60, 25], 0), ([30, 9, 60, 6], 8)])
def test_on_one_hot_features_it_chooses_as_often_as_core_does(counts, extra):
    n_draws, noise = 10_000, generator(5)
    arms = [arm for arm, n in enumerate(counts) for _ in range(n)]
    rewards = noise.normal(size=len(arms)) + np.array([0.0, 0.05, 0.1, -0.1])[arms]
    core, rng = CORe(warm_up=0.0, extra=extra, sampler="exact").start(4, 100, len(arms)), stream(6)
    of_core = np.empty((n_draws, 4))
    for arm, reward in zip(arms, rewards, strict=True):
        core.update(arm, float(reward), rng)
    for row in of_core:
        core.score(rng, row)
    chosen = np.bincount(of_core.argmax(axis=1), minlength=4)
    assert (chosen > 100).all()
    for sampler in SAMPLERS:
        state = after(LinCORe(lam=1e-12, warm_up=0.0, extra=extra, sampler=sampler), np.eye(4)[arms], rewards, arms)
        also_chosen = np.bincount(many_scores(state, np.eye(4), n_draws).argmax(axis=1), minlength=4)
        assert stats.chi2_contingency([chosen, also_chosen]).pvalue > 1e-3


@pytest.mark.heavy
def test_the_other_form_of_extra_draws_chooses_as_often_as_core_does_too():
    n_draws, noise, counts = 10_000, generator(5), [30, 9, 60, 6]
    arms = [arm for arm, n in enumerate(counts) for _ in range(n)]
    rewards = noise.normal(size=len(arms)) + np.array([0.0, 0.05, 0.1, -0.1])[arms]
    own = LinCORe(warm_up=0.0, extra=8, lam=1e-12)
    chosen, also_chosen = (
        np.bincount(many_scores(state, np.eye(4), n_draws).argmax(axis=1), minlength=4)
        for state in (after(policy, np.eye(4)[arms], rewards, arms) for policy in (own, WidenedLinCORe(extra=8)))
    )
    assert (chosen > 100).all()
    assert stats.chi2_contingency([chosen, also_chosen]).pvalue > 1e-3


# The noise --------------------------------------------------------------------------------------------------------


ROWS = generator(7).normal(size=(12, 4)) * [1.0, 0.3, 2.0, 1.0] + [0.0, 1.0, 0.0, 0.0]


@pytest.mark.heavy
@pytest.mark.parametrize(("sampler", "n_draws", "within"), [("fast", 200_000, 0.02), ("exact", 20_000, 0.05)])
@pytest.mark.parametrize("lam", [1e-3, 3.0])
@pytest.mark.parametrize("law", ["gaussian", "bernoulli"])
def test_noise_has_alpha_squared_times_the_variance_of_all_rewards_along_every_direction(
    sampler, n_draws, within, lam, law
):
    noise, d, alpha = generator(8), 4, 0.5
    arms = list(noise.integers(0, 12, 60))
    rewards = noise.normal(3.0, 1.5, 60) if law == "gaussian" else (noise.random(60) < 0.3).astype(float)
    rows = ROWS[arms]
    state = after(LinCORe(alpha=alpha, warm_up=0.0, lam=lam, sampler=sampler), rows, rewards, arms)
    assert (np.abs(rewards.mean()) > 0.1) & (rewards.var() != pytest.approx(1.0, rel=0.1))
    gram = rows.T @ rows
    ridge = gram + lam * np.eye(d)
    estimate = np.linalg.solve(ridge, rows.T @ rewards)

    def check(draws: FloatArray, variances: FloatArray) -> None:
        deviations = np.sqrt(variances)
        assert np.all(np.abs(draws.mean(axis=0)) < 4.5 * deviations / np.sqrt(n_draws))
        np.testing.assert_allclose(draws.var(axis=0) / variances, 1.0, atol=within)

    perturbations = (many_scores(state, np.eye(d), n_draws) - estimate) @ ridge
    covariance = alpha**2 * rewards.var() * gram
    variances, directions = np.linalg.eigh(covariance)
    check(perturbations @ directions, variances)
    assert np.abs(np.corrcoef((perturbations @ directions).T) - np.eye(d)).max() < 4.5 / np.sqrt(n_draws)
    of_rows = many_scores(state, ROWS, n_draws, seed=5) - ROWS @ estimate
    solved = np.linalg.solve(ridge, ROWS.T)
    check(of_rows, np.einsum("di,de,ei->i", solved, covariance, solved))


@pytest.mark.heavy
def test_fast_and_exact_scores_have_nearly_the_same_law():
    noise = generator(9)
    arms, rewards = list(noise.integers(0, 12, 150)), noise.exponential(size=150) - 1.0
    fast, exact = (
        many_scores(after(LinCORe(warm_up=0.0, sampler=sampler), ROWS[arms], rewards, arms), ROWS, 20_000)
        for sampler in SAMPLERS
    )
    for row in range(12):
        assert stats.ks_2samp(fast[:, row], exact[:, row]).statistic < 0.0195  # p = 0.001 for 20,000 draws each
    choices = [np.bincount(scores.argmax(axis=1), minlength=12) / 20_000 for scores in (fast, exact)]
    assert np.abs(choices[0] - choices[1]).max() < 0.02
    assert (choices[0] > 0.05).sum() > 1


def test_a_single_row_is_perturbed_by_one_value_of_the_mirrored_pool():
    policy = LinCORe(alpha=0.5, warm_up=0.0, lam=1e-12, sampler="exact")
    state = after(policy, np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([3.0, 6.0, 0.0]), [0, 1, 1])
    values, seen = np.unique(np.round(many_scores(state, np.eye(2), 3000)[:, 0], 6), return_counts=True)
    assert list(values) == [1.5, 3.0, 4.5]  # 3 + 0.5 {0, 0, 3, -3, -3, 3}
    assert stats.chisquare(seen).pvalue > 1e-3


@pytest.mark.heavy
@pytest.mark.parametrize("rewards", often(["bernoulli", "gaussian"], ["bernoulli", "beta", "gaussian"]))
def test_fast_and_exact_reach_the_same_regret(rewards):
    policies = {sampler: LinCORe(warm_up=1.0, sampler=sampler) for sampler in SAMPLERS}
    result = run(Experiment(LinearBandit(rewards=rewards), policies, horizon=3000, runs=40, seed=3))
    gaps = (result.regret("fast") - result.regret("exact"))[:, -1]
    error = gaps.std(ddof=1) / np.sqrt(gaps.size)
    assert abs(gaps.mean()) < 3.0 * error
    assert error < 0.12 * result.summary()["mean"][0]


@both_samplers
def test_rewards_without_variance_make_it_greedy(sampler):
    state = after(LinCORe(warm_up=0.0, lam=1e-9, sampler=sampler), ROWS, np.full(12, 0.25))
    greedy = ROWS @ np.linalg.solve(ROWS.T @ ROWS + 1e-9 * np.eye(4), ROWS.T @ np.full(12, 0.25))
    scores = many_scores(state, ROWS, 50)
    assert np.all(scores == scores[0])
    np.testing.assert_allclose(scores[0], greedy, rtol=1e-9)


@both_samplers
def test_alpha_zero_is_greedy(sampler):
    rewards = generator(11).normal(size=12)
    state = after(LinCORe(alpha=0.0, warm_up=0.0, lam=0.5, sampler=sampler), ROWS, rewards)
    scores = many_scores(state, ROWS, 50)
    assert np.all(scores == scores[0])
    np.testing.assert_allclose(scores[0], ROWS @ np.linalg.solve(ROWS.T @ ROWS + 0.5 * np.eye(4), ROWS.T @ rewards))


# The warm-up ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "n_arms", "horizon", "n_rounds"),
    [
        (LinCORe(), 8, 10_000, 333),  # 4 ln(10000) / (0.6 - 1 - ln 0.6) + 1 = 333.43
        (LinCORe(warm_up=2.0), 8, 10_000, 167),  # 167.2
        (LinCORe(warm_up=2.0, z=0.4), 8, 1_000, 44),  # 2 ln(1000) / (0.4 - 1 - ln 0.4) + 1 = 44.68
        (LinCORe(warm_up=0.0), 20, 10_000, 5),  # one for each feature, not for each arm
        (LinCORe(), 8, None, 190),  # 4 ln(190) / 0.1108 + 1 = 190.4, 4 ln(191) / 0.1108 + 1 = 190.6
    ],
)
@both_samplers
def test_warm_up_lasts_as_long_as_algorithm_1_says_and_treats_arms_alike(policy, n_arms, horizon, n_rounds, sampler):
    noise, d = generator(12), 5
    features, rewards = noise.normal(size=(n_arms, d)), noise.normal(size=(n_arms, n_rounds + 10))
    arms, scores = play(policy.changed(sampler=sampler), features, rewards, n_rounds + 5, horizon)
    for index in range(n_rounds + 5):
        counts = np.bincount(arms[:index], minlength=n_arms)
        expected = -counts.astype(float)
        if index < d:  # all rows point out of what is spanned, but those that were chosen
            expected[counts > 0] = -np.inf
        assert np.array_equal(scores[index], expected) == (index < n_rounds)
    pulls = np.bincount(arms[:n_rounds], minlength=n_arms)
    assert pulls.max() - pulls.min() <= 1
    if horizon is not None:
        assert policy.warm_up_rounds(d, horizon) == n_rounds


def test_rows_that_point_out_of_everything_seen_are_tried_first():
    d, n_arms = 4, 12
    features = np.ones((n_arms, d))  # copies of each other
    features[-(d - 1) :] = generator(13).normal(size=(d - 1, d))
    rewards, firsts = np.zeros((n_arms, 60)), set()
    for seed in range(30):
        arms, _ = play(LinCORe(), features, rewards, 50, 1000, seed)
        assert np.linalg.matrix_rank(features[arms[:d]]) == d
        assert np.ptp(np.bincount(arms[:48], minlength=n_arms)) <= 1
        firsts.add(arms[0])
    assert len(firsts) > 6


def test_a_direction_that_appears_after_the_warm_up_is_tried_at_once():
    noise, n_rounds = generator(14), 60
    features = np.zeros((n_rounds, 3, 3))
    features[:, 0, 0], features[:, 1, 1] = 1.0, 1.0
    features[:, 2] = [1.0, 1.0, 0.0]
    features[40:, 2, 2] = 1e-5
    arms, scores = play(LinCORe(warm_up=0.1), features, noise.normal(size=(3, 60)), n_rounds, 100)
    assert np.isfinite(scores[10:40]).all()
    assert arms[40] == 2
    assert list(scores[40, :2]) == [-np.inf, -np.inf]
    assert np.isfinite(scores[41:]).all()


@both_samplers
def test_features_that_never_span_everything_play_on(sampler):
    noise = generator(15)
    features = noise.normal(size=(6, 2)) @ noise.normal(size=(2, 5))
    means = features @ noise.normal(size=5)
    rewards = means[:, None] + 0.1 * noise.normal(size=(6, 400))
    arms, scores = play(LinCORe(warm_up=0.5, sampler=sampler), features, rewards, 400, 400)
    assert np.isfinite(scores[2:]).all()
    assert np.mean(np.array(arms[100:]) == means.argmax()) > 0.9


def test_a_row_of_zeros_is_an_arm_like_any_other():
    features = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    arms, scores = play(LinCORe(warm_up=0.5), features, -1.0 + 0.1 * noisy_rewards(3, 200, 1), 200, 200)
    assert set(arms[:2]) == {1, 2}
    assert np.all(scores[50:, 0] == 0.0)
    assert set(arms[100:]) == {0}  # nothing known of it pays more than nothing, which beats the others


# What must not change its choices ---------------------------------------------------------------------------------


@both_samplers
@pytest.mark.parametrize("scale", [1e-3, 7.0, 1e6])
def test_scaling_the_rewards_changes_no_choice(sampler, scale):
    features, rewards = generator(16).normal(size=(8, 3)), noisy_rewards(8, 300, 2)
    policy = LinCORe(warm_up=0.5, lam=1e-10, sampler=sampler)
    plain, _ = play(policy, features, rewards, 300, 300)
    scaled, _ = play(policy, features, scale * rewards, 300, 300)
    assert plain == scaled
    assert len(set(plain[150:])) > 1


@both_samplers
def test_shifting_the_rewards_changes_no_choice_where_a_feature_is_constant(sampler):
    features = np.column_stack([generator(17).normal(size=(8, 2)), np.ones(8)])
    rewards = noisy_rewards(8, 300, 3)
    policy = LinCORe(warm_up=0.5, lam=1e-12, sampler=sampler)
    plain, _ = play(policy, features, rewards, 300, 300)
    shifted, _ = play(policy, features, 50.0 + rewards, 300, 300)
    assert plain == shifted
    assert len(set(plain[150:])) > 1


@both_samplers
def test_fixed_features_offered_anew_in_every_round_change_nothing(sampler):
    features, rewards = generator(18).normal(size=(6, 3)), noisy_rewards(6, 300, 4)
    policy = LinCORe(warm_up=0.5, sampler=sampler)
    fixed, scores = play(policy, features, rewards, 300, 300)
    changing, same_scores = play(policy, np.tile(features, (300, 1, 1)), rewards, 300, 300)
    assert fixed == changing
    assert np.array_equal(scores, same_scores)


@pytest.mark.heavy
def test_features_of_every_round_are_perturbed_one_by_one():
    noise, n = generator(19), 80
    rows, rewards = noise.normal(size=(n, 3)), noise.normal(size=n)
    arms = list(noise.integers(0, 2, n))
    state = after(LinCORe(alpha=1.0, warm_up=0.0, sampler="exact"), rows, rewards, arms)
    assert state.groups.n_used[0] == n
    gram = rows.T @ rows + 1e-3 * np.eye(3)
    draws = (many_scores(state, np.eye(3), 20_000) - np.linalg.solve(gram, rows.T @ rewards)) @ gram
    np.testing.assert_allclose(np.cov(draws.T), rewards.var() * rows.T @ rows, atol=0.06 * rewards.var() * n)
    same = after(LinCORe(alpha=1.0, warm_up=0.0, sampler="fast"), rows, rewards, arms)
    draws = (many_scores(same, np.eye(3), 20_000) - np.linalg.solve(gram, rows.T @ rewards)) @ gram
    np.testing.assert_allclose(np.cov(draws.T), rewards.var() * rows.T @ rows, atol=0.06 * rewards.var() * n)


@pytest.mark.heavy
@both_samplers
def test_features_that_change_are_learnt_from(sampler):
    noise, n_rounds = generator(20), 600
    features = noise.normal(size=(n_rounds, 5, 3))
    theta = np.array([1.0, -0.5, 0.2])
    state, rng, scores = LinCORe(warm_up=0.5, sampler=sampler).start(5, 3, n_rounds, n_rounds), stream(1), np.empty(5)
    regret = []
    for offered in features:
        state.score(offered, rng, scores)
        arm = int(best_arm(scores, np.arange(5), rng))
        state.update(arm, offered[arm].copy(), float(offered[arm] @ theta + 0.3 * noise.normal()), rng)
        regret.append((offered @ theta).max() - offered[arm] @ theta)
    assert np.mean(regret[-300:]) < 0.05 < 0.5 < np.mean(regret[:30])
    np.testing.assert_allclose(state.ridge.theta, theta, atol=0.1)


@both_samplers
def test_the_number_of_rows_may_change_from_call_to_call(sampler):
    noise, rng = generator(21), stream(2, "rows")
    state = LinCORe(warm_up=0.2, sampler=sampler).start(7, 3, 200, 200)
    for _ in range(200):
        n_rows = int(noise.integers(1, 8))
        features, scores = noise.normal(size=(n_rows, 3)), np.full(n_rows, np.nan)
        state.score(features, rng, scores)
        assert not np.isnan(scores).any()
        arm = int(best_arm(scores, np.arange(n_rows), rng))
        state.update(arm, features[arm].copy(), float(features[arm, 0] + noise.normal()), rng)
    assert state.counts.sum() == 200
    assert state.ridge.theta[0] == pytest.approx(1.0, abs=0.3)


@both_samplers
def test_a_state_given_more_room_and_arms_goes_on_as_if_it_had_been_large_from_the_start(sampler):
    noise, policy = generator(22), LinCORe(warm_up=0.1, sampler=sampler)
    small, large = policy.start(3, 4, 100, 60), policy.start(6, 4, 100, 200)
    rngs, scores = (stream(3, "grow"), stream(3, "grow")), np.empty((2, 6))
    for index in range(150):
        if index == 60:
            outgrown, small = small, policy.start(6, 4, 100, 200)
            carry_over(outgrown, small)
        n_arms = 3 if index < 60 else 6
        arm, x, reward = int(noise.integers(n_arms)), noise.normal(size=4), float(noise.normal())
        features = noise.normal(size=(n_arms, 4))
        for state, rng, row in zip((small, large), rngs, scores, strict=True):
            state.update(arm, x, reward, rng)
            state.score(features, rng, row[:n_arms])
        assert np.array_equal(scores[0, :n_arms], scores[1, :n_arms])


@pytest.mark.heavy
@both_samplers
def test_compiled_and_in_plain_python_it_chooses_alike(sampler):
    problem = FixedLinear(ROWS / 10.0, [0.5, -0.1, 0.4, 0.3], rewards="gaussian").draw(None)
    policy, rewards = LinCORe(warm_up=0.3, sampler=sampler), streams(12, 5, "rewards")
    state, rng, words, scores = policy.start(12, 4, 300, 300), stream(6, "play"), rewards.copy(), np.empty(12)
    means = problem.features @ problem.theta
    regret = 0.0
    for _ in range(300):
        state.score(problem.features, rng, scores)
        arm = int(best_arm(scores, np.arange(12), rng))
        state.update(arm, problem.features[arm], problem.pull(arm, problem.features[arm], Stream(words[arm])), rng)
        regret += means.max() - means[arm]
    total, state = np.zeros(1), policy.start(12, 4, 300, 300)
    loop = play_features.compiled
    room, rounds = np.empty((12, 4)), np.array([300])
    loop(state, problem, stream(6, "play"), stream(7), rewards.copy(), room, rounds, -1, False, total, new_notes(1, 12))
    assert total[0] == pytest.approx(regret, abs=1e-9)


# The recipe -------------------------------------------------------------------------------------------------------


def test_the_fast_sampler_keeps_no_history():
    state = LinCORe().start(50, 10, 10_000, 10_000)
    assert state.pool.values.size == state.groups.rows.size == 0


def test_any_real_rewards_are_welcome():
    assert LinCORe().reward_range == REAL_LINE


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"alpha": -0.1}, "alpha must be a number of at least 0, not -0.1"),
        ({"alpha": float("nan")}, "alpha must be a number of at least 0, not nan"),
        ({"z": 1.0}, "z must be a number above 0 and below 1, not 1.0"),
        ({"z": 0.0}, "z must be a number above 0 and below 1, not 0.0"),
        ({"z": 1.0 - 1e-16}, "z is so close to 1 that the warm-up would never end"),
        ({"warm_up": -1.0}, "warm_up must be a number of at least 0, not -1.0"),
        ({"lam": 0.0}, "lam must be a number above 0, not 0.0"),
        ({"lam": -1.0}, "lam must be a number above 0, not -1.0"),
        ({"sampler": "slow"}, "sampler must be 'fast' or 'exact' or 'halving', not 'slow'"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinCORe(**parameters)
