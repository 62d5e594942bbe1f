"""Policies with a generalised linear model: GLMCORe and LinCORe, the noise of each, widths, warm-up and refusals."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from corebandit import Experiment, LogisticBandit, check_policy, run
from corebandit.compiled.optional_methods import prepare
from corebandit.contracts.recipe import UNIT_INTERVAL
from corebandit.parts.choose import best_arm
from corebandit.parts.glm import new_glm
from corebandit.policies import GLMFPL, GLMTSL, GLMUCB, UCBGLM, GLMCORe, GLMRandUCB, LinCORe, LogEpsilonGreedy, LogPHE
from corebandit.randomness.stream import stream
from often import often

GLM_POLICIES = (GLMCORe, GLMUCB, UCBGLM, GLMRandUCB, GLMTSL, GLMFPL)
LOGISTIC_POLICIES = (LogPHE, LogEpsilonGreedy)
HARD = {
    "separable": lambda means, noise: (means > np.median(means)).astype(float),
    "all 0": lambda means, noise: np.zeros_like(means),
    "all 1": lambda means, noise: np.ones_like(means),
}


def generator(*key):
    return np.random.default_rng(list(key))


def play(policy, features, rewards, n_rounds, horizon, seed=1):
    """Play with arms that pay their rows of `rewards` in turn; return the arms, the scores and the state."""
    every = np.broadcast_to(features, (n_rounds, *features.shape[-2:]))
    n_arms, d = every.shape[1:]
    state, rng = policy.start(n_arms, d, horizon, n_rounds), stream(seed, "play")
    pulls, scores, arms = np.zeros(n_arms, int), np.empty((n_rounds, n_arms)), []
    for offered, row in zip(every, scores, strict=True):
        prepare(state, rng)
        state.score(offered, rng, row)
        arm = int(best_arm(row, np.arange(n_arms), rng))
        state.update(arm, offered[arm].copy(), float(rewards[arm, pulls[arm]]), rng)
        pulls[arm] += 1
        arms.append(arm)
    return arms, scores, state


def after(policy, rows, counts, sums, horizon=1000):
    """Return the state after each row was chosen `counts` times, paying the same reward each time."""
    state, rng = policy.start(len(rows), rows.shape[1], horizon, int(sum(counts))), stream(2, "after")
    for arm, (x, n, total) in enumerate(zip(rows, counts, sums, strict=True)):
        for _ in range(int(n)):
            state.update(arm, x, total / n, rng)
    return state


def many_scores(state, features, n_draws, seed=3):
    """Score again and again, `(n_draws, rows)`."""
    scores, rng = np.empty((n_draws, len(features))), stream(seed, "scores")
    for row in scores:
        prepare(state, rng)
        state.score(features, rng, row)
    return scores


ROWS = np.column_stack([generator(1).normal(size=(8, 2)), np.ones(8)])
COUNTS = generator(2).integers(20, 60, 8)
SUMS = COUNTS * generator(3).uniform(0.2, 0.8, 8)


# GLMCORe ----------------------------------------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize("horizon", [400, None])
@pytest.mark.parametrize("is_contextual", [False, True])
@pytest.mark.parametrize("seed", often([0], range(3)))
@pytest.mark.parametrize("start", [{"warm_up": 0.5}, {"warm_up": 0.0, "extra": 5}], ids=["warm-up", "extra"])
def test_with_the_identity_link_glmcore_chooses_as_lincore_does(seed, horizon, is_contextual, start):
    noise, n_rounds = generator(4, seed), 400
    features = noise.normal(size=(n_rounds, 6, 3) if is_contextual else (6, 3))
    rewards = noise.uniform(0.25, 0.75, (6, 1)) + 0.5 * noise.normal(size=(6, n_rounds))
    shared = {"sampler": "exact", **start}
    lincore, scores, _ = play(LinCORe(lam=0.01, **shared), features, rewards, n_rounds, horizon, seed)
    glmcore, same_scores, _ = play(
        GLMCORe(link="identity", sigma0=10.0, **shared), features, rewards, n_rounds, horizon, seed
    )
    assert lincore == glmcore
    assert len(set(lincore[40:])) > 1  # after the warm-up
    np.testing.assert_allclose(scores, same_scores, atol=1e-7)


def test_extra_noise_belongs_to_the_rewards_that_spanned():
    """A new item comes late: its one reward is as uncertain as the first reward of each older item was."""
    policy = GLMCORe(link="identity", sigma0=10.0, alpha=1.0, warm_up=0.0, extra=8, sampler="exact")
    state, rng = policy.start(4, 3, None, 100), stream(3)
    rows = np.array([[1.0, 0.3, 0.0], [1.0, 0.7, 0.0], [1.0, 0.5, 0.0], [1.0, 0.5, 1.0]])  # the last item is new
    for number in range(60):
        state.update(number % 3, rows[number % 3], float(number // 3 % 2), rng)
    state.update(3, rows[3], 0.0, rng)
    noise = np.empty((1_000, 4))
    for draw in noise:
        state.perturb_rewards(rng)
        draw[:] = (state.model.responses - state.model.sums)[:4]
    n_draws = np.array([20 + 8, 20 + 8, 20, 1 + 8])  # the third item lies between the first two: it spans nothing
    np.testing.assert_allclose(noise.var(axis=0), 0.25 * n_draws, rtol=0.15)


def test_the_warm_up_of_glmcore_is_that_of_lincore():
    for factor in (2.0, 4.0):
        for z in (0.4, 0.6):
            of_glm = GLMCORe(warm_up=factor, z=z).warm_up_rounds(10, 10_000)
            assert of_glm == LinCORe(warm_up=factor, z=z).warm_up_rounds(10, 10_000)
    features, rewards = generator(5).normal(size=(7, 3)), (generator(6).random((7, 300)) < 0.5).astype(float)
    policy = GLMCORe(warm_up=0.5)
    n_rounds = policy.warm_up_rounds(3, 1000)
    arms, _, _ = play(policy, features, rewards, 200, 1000)
    assert np.linalg.matrix_rank(features[arms[:3]]) == 3
    assert np.ptp(np.bincount(arms[:n_rounds], minlength=7)) <= 1


@pytest.mark.heavy
@pytest.mark.parametrize("sampler", ["fast", "exact"])
def test_noise_of_glmcore_has_alpha_squared_times_the_variance_of_all_rewards(sampler):
    rewards = (generator(7).random(8 * 40) < 0.4).astype(float).reshape(8, 40)
    policy = GLMCORe(warm_up=0.0, alpha=0.5, sampler=sampler)
    state, rng = policy.start(8, 3, 1000, rewards.size), stream(8)
    for arm, x in enumerate(ROWS):
        for reward in rewards[arm]:
            state.update(arm, x, float(reward), rng)
    # What the perturbed fit solves gives back its noise: sum of x (R - N mu) = theta.
    thetas = many_scores(state, np.eye(3), 3000)
    means = 1.0 / (1.0 + np.exp(-thetas @ ROWS.T))
    noise = (40.0 * means - rewards.sum(axis=1)) @ ROWS + thetas
    expected = 0.25 * rewards.var() * 40.0 * ROWS.T @ ROWS
    np.testing.assert_allclose(np.cov(noise.T), expected, atol=0.1 * np.abs(expected).max())


def test_without_noise_glmcore_takes_the_estimate():
    state = after(GLMCORe(alpha=0.0, warm_up=0.0), ROWS, COUNTS, SUMS)
    scores = many_scores(state, ROWS, 3)
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-8)
    means = 1.0 / (1.0 + np.exp(-scores[0]))
    np.testing.assert_allclose(ROWS.T @ (SUMS - COUNTS * means), state.model.perturbed, atol=1e-6)


# Rivals -----------------------------------------------------------------------------------------------------------


PRIORS = pytest.mark.parametrize("sigma0", [1.0, 0.2])  # the second is narrow enough to show


def fitted(sigma0, link="logistic"):
    """Return the estimate from all rewards."""
    model = new_glm(8, 3, 8, link, sigma0)
    for arm, x in enumerate(ROWS):
        model.learn(arm, x, float(SUMS[arm]), float(COUNTS[arm]))
    model.fit_rewards()
    return model.theta


@pytest.mark.heavy
@PRIORS
@pytest.mark.parametrize("link", ["logistic", "poisson", "identity"])
def test_draws_of_glm_tsl_have_the_covariance_of_the_posterior(link, sigma0):
    policy = GLMTSL(link=link, scale=2.0, sigma0=sigma0)
    draws = many_scores(after(policy, ROWS, COUNTS, SUMS), np.eye(3), 8000)
    theta = fitted(sigma0, link)
    eta = ROWS @ theta
    slopes = {"logistic": 1.0 / (2.0 + 2.0 * np.cosh(eta)), "poisson": np.exp(eta), "identity": np.ones(8)}[link]
    covariance = 4.0 * np.linalg.inv(np.eye(3) / sigma0**2 + ROWS.T @ ((COUNTS * slopes)[:, None] * ROWS))
    np.testing.assert_allclose(draws.mean(axis=0), theta, atol=5 * np.sqrt(covariance.diagonal().max() / 8000))
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.08 * covariance.max())


@pytest.mark.heavy
@PRIORS
def test_noise_of_glm_fpl_has_its_variance_for_each_reward(sigma0):
    thetas = many_scores(after(GLMFPL(a=0.5, sigma0=sigma0), ROWS, COUNTS, SUMS), np.eye(3), 3000)
    means = 1.0 / (1.0 + np.exp(-thetas @ ROWS.T))
    noise = (COUNTS * means - SUMS) @ ROWS + thetas / sigma0**2
    expected = 0.25 * ROWS.T @ (COUNTS[:, None] * ROWS)
    np.testing.assert_allclose(np.cov(noise.T), expected, atol=0.1 * np.abs(expected).max())
    np.testing.assert_allclose(noise.mean(axis=0), 0.0, atol=0.1 * np.sqrt(expected.max()))


@pytest.mark.heavy
@PRIORS
@pytest.mark.parametrize("a", [0.3, 2.0])
def test_pseudo_rewards_of_logphe_are_fair_coins(a, sigma0):
    state = after(LogPHE(a=a, sigma0=sigma0), ROWS, COUNTS, SUMS)
    n_pseudo = np.ceil(a * COUNTS)
    np.testing.assert_allclose(state.n_pseudo[:8], n_pseudo)
    thetas = many_scores(state, np.eye(3), 3000)
    means = 1.0 / (1.0 + np.exp(-thetas @ ROWS.T))
    drawn = ((COUNTS + n_pseudo) * means - SUMS) @ ROWS + thetas / sigma0**2
    expected = 0.25 * ROWS.T @ (n_pseudo[:, None] * ROWS)
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5 * n_pseudo @ ROWS, atol=0.1 * np.sqrt(np.abs(expected).max()))
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.1 * np.abs(expected).max())


def widths(sigma0):
    gram = np.eye(3) / sigma0**2 + ROWS.T @ (COUNTS[:, None] * ROWS)
    return np.sqrt(np.einsum("ij,jk,ik->i", ROWS, np.linalg.inv(gram), ROWS))


@PRIORS
@pytest.mark.parametrize("horizon", [1000, None])
def test_indices_of_ucb_glm_are_as_published(horizon, sigma0):
    n = horizon or COUNTS.sum() + 1
    radius = (0.3 / 0.1) * math.sqrt(1.5 * math.log(1.0 + 2.0 * n / 3.0) + math.log(n))
    policy = UCBGLM(sigma=0.3, slope=0.1, sigma0=sigma0)
    scores = many_scores(after(policy, ROWS, COUNTS, SUMS, horizon), ROWS, 1)[0]
    np.testing.assert_allclose(scores, ROWS @ fitted(sigma0) + radius * widths(sigma0), rtol=1e-6)


@PRIORS
@pytest.mark.parametrize("horizon", [1000, None])
def test_indices_of_glm_ucb_are_as_published(horizon, sigma0):
    n = horizon or COUNTS.sum() + 1
    longest = (ROWS**2).sum(axis=1).max()
    kappa = math.sqrt(3.0 + 2.0 * math.log(1.0 + 2.0 * longest * sigma0**2))
    rho = (2.0 * 0.25 * kappa * 0.7 / 0.1) * math.sqrt(6.0 * math.log(n) * math.log(6.0 * n / 0.05))
    policy = GLMUCB(largest_reward=0.7, slope=0.1, delta=0.05, sigma0=sigma0)
    scores = many_scores(after(policy, ROWS, COUNTS, SUMS, horizon), ROWS, 1)[0]
    means = 1.0 / (1.0 + np.exp(-ROWS @ fitted(sigma0)))
    np.testing.assert_allclose(scores, means + rho * widths(sigma0), rtol=1e-6)


@pytest.mark.parametrize("scale", [{}, {"sigma": 0.3, "slope": 0.1, "sigma0": 0.2}], ids=["default", "other"])
def test_glm_rand_ucb_moves_all_rows_by_the_same_multiple_of_their_widths(scale):
    upper = many_scores(after(UCBGLM(**scale), ROWS, COUNTS, SUMS), ROWS, 1)[0]
    middle = ROWS @ fitted(scale.get("sigma0", 1.0))
    shares = (many_scores(after(GLMRandUCB(**scale), ROWS, COUNTS, SUMS), ROWS, 3000) - middle) / (upper - middle)
    np.testing.assert_allclose(shares, shares[:, :1] * np.ones(8), atol=1e-5)
    points = np.linspace(0.0, 1.0, 20)
    nearest = np.abs(shares[:, :1] - points).argmin(axis=1)
    np.testing.assert_allclose(shares[:, 0], points[nearest], atol=1e-5)
    weights = np.exp(-0.5 * (points / 0.125) ** 2)
    assert (nearest == 0).mean() == pytest.approx(weights[0] / weights.sum(), abs=0.04)


@PRIORS
def test_logistic_epsilon_greedy_explores_as_often_as_it_should(sigma0):
    state = after(LogEpsilonGreedy(epsilon=0.1, sigma0=sigma0), ROWS, COUNTS, SUMS, horizon=1000)
    scores = many_scores(state, ROWS, 3000)
    is_exploring = (scores == 0.0).all(axis=1)
    chance = 0.1 * math.sqrt(1000 / (COUNTS.sum() + 1))
    assert is_exploring.mean() == pytest.approx(chance, abs=4.5 * math.sqrt(chance / 3000))
    np.testing.assert_allclose(scores[~is_exploring][0], ROWS @ fitted(sigma0), atol=1e-6)


# All of them ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", HARD)
@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("recipe", [*GLM_POLICIES, *LOGISTIC_POLICIES], ids=lambda recipe: recipe.name)
def test_scores_are_never_nan(recipe, scale, outcome):
    noise = generator(9)
    features = noise.normal(size=(6, 3))
    features[0] = 0.0
    rewards = np.tile(HARD[outcome](features @ [1.0, -1.0, 0.5], noise)[:, None], (1, 80))
    _, scores, state = play(recipe(), scale * features, rewards, 80, 80)
    assert not np.isnan(scores).any()
    model = state.known.model if hasattr(state, "known") else state.model
    assert np.isfinite(model.theta).all()
    assert model.fits[1] <= (0.0 if scale < 1.0 else 0.1) * model.fits[0]


@pytest.mark.parametrize("recipe", [*GLM_POLICIES, *LOGISTIC_POLICIES], ids=lambda recipe: recipe.name)
def test_a_prior_is_as_wide_as_floats_allow_and_no_wider(recipe):
    rewards = (generator(11).random((8, 40)) < 0.5).astype(float)
    for sigma0 in (1e-50, 1e50):
        _, scores, _ = play(recipe(sigma0=sigma0), ROWS, rewards, 40, 40)
        assert not np.isnan(scores).any()
    for sigma0 in (1e-51, 1e51):
        with pytest.raises(ValueError, match=r"sigma0 must be a number of at least 1e-50 and of at most 1e\+50, not"):
            recipe(sigma0=sigma0)


@pytest.mark.parametrize("recipe", [*GLM_POLICIES, *LOGISTIC_POLICIES], ids=lambda recipe: recipe.name)
def test_fits_that_do_not_converge_are_complained_about(recipe):
    policy = recipe()
    state = policy.start(2, 3, 10, 10)
    assert policy.complaint(state) == ""
    model = state.known.model if hasattr(state, "known") else state.model
    model.fits[:] = 1395, 115
    assert policy.complaint(state).startswith("115 of 1,395 fits did not converge; ")


@dataclass(frozen=True)
class Hasty(GLMTSL):
    """GLM-TSL that has one step for each fit."""

    def start(self, n_arms, n_features, horizon, capacity):
        state = super().start(n_arms, n_features, horizon, capacity)
        return state._replace(model=state.model._replace(most_steps=1))


@pytest.mark.thorough
def test_a_run_whose_fits_do_not_converge_warns_once_a_chunk():
    experiment = Experiment(LogisticBandit(n_arms=5, n_features=2), {"in haste": Hasty()}, horizon=50, runs=3)
    with pytest.warns(UserWarning, match=r"^in haste: \d+ of 49 fits did not converge; ") as found:
        run(experiment, jobs=1)
    assert len(found) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("policy", [GLMCORe(link="poisson"), GLMUCB(link="identity")], ids=lambda policy: policy.label)
def test_other_links_keep_the_contract(policy):
    check_policy(policy)


def test_the_link_says_which_rewards_are_welcome():
    for recipe in GLM_POLICIES:
        assert recipe().reward_range == UNIT_INTERVAL
        most = 1.0 if recipe is GLMUCB else math.inf
        assert recipe(link="poisson").reward_range == (0.0, most)
        assert recipe(link="identity").reward_range == (-most, most)
    assert GLMUCB(largest_reward=0.5).reward_range == (0.0, 0.5)
    assert GLMUCB(link="poisson", any_reward=True).reward_range == (0.0, math.inf)
    assert GLMUCB(link="poisson", largest_reward=300).reward_range == (0.0, 300.0)
    assert LogPHE().reward_range == LogEpsilonGreedy().reward_range == UNIT_INTERVAL


def test_a_round_costs_no_more_groups_than_there_are_arms():
    rewards = (generator(10).random((8, 300)) < 0.5).astype(float)
    _, _, state = play(GLMCORe(warm_up=0.2), ROWS, rewards, 300, 300)
    assert state.model.groups.n_used[0] == 8
    assert state.model.groups.weights.sum() == 300


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: GLMCORe(link="probit"), "link must be 'logistic' or 'poisson' or 'identity', not 'probit'"),
        (lambda: GLMCORe(alpha=-1), "alpha must be a number of at least 0, not -1"),
        (lambda: GLMCORe(z=1.0), "z must be a number above 0 and below 1, not 1.0"),
        (lambda: GLMCORe(sigma0=0), "sigma0 must be a number of at least 1e-50 and of at most 1e\\+50, not 0"),
        (lambda: GLMCORe(sampler="slow"), "sampler must be 'fast' or 'exact' or 'halving', not 'slow'"),
        (lambda: GLMUCB(slope=0), "slope must be a number above 0, not 0"),
        (lambda: GLMUCB(largest_reward=0), "largest_reward must be a number above 0, not 0"),
        (lambda: UCBGLM(delta=1), "delta must be a number above 0 and below 1, not 1"),
        (lambda: UCBGLM(sigma=0), "sigma must be a number above 0, not 0"),
        (lambda: GLMRandUCB(n_points=1), "n_points must be a whole number of at least 2, not 1"),
        (lambda: GLMTSL(scale=0), "scale must be a number above 0, not 0"),
        (lambda: GLMFPL(a=0), "a must be a number above 0, not 0"),
        (lambda: LogPHE(a=0), "a must be a number above 0, not 0"),
        (lambda: LogPHE(sigma0=-1), "sigma0 must be a number of at least 1e-50 and of at most 1e\\+50, not -1"),
        (lambda: LogEpsilonGreedy(epsilon=2), "epsilon must be a number of at least 0 and of at most 1, not 2"),
    ],
)
def test_bad_parameters_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
