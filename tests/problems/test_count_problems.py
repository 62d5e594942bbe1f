import numpy as np
import pytest

from corebandit import Experiment, check_problem, run
from corebandit.policies import GLMTSL, GLMUCB, GLMCORe, LinGreedy, LogPHE
from corebandit.problems import PoissonBandit
from corebandit.problems.linear import LinearBandit
from corebandit.randomness.stream import stream
from often import often

GLM_TSL = GLMTSL(link="poisson")


def test_features_are_those_of_linear_bandits():
    counts = PoissonBandit(n_arms=12, n_features=4).draw(stream(1, "draw"))
    assert np.array_equal(counts.logs.features, LinearBandit(n_arms=12, n_features=4).draw(stream(1, "draw")).features)


def test_theta_is_uniform_on_the_sphere_and_the_constant_is_the_rate():
    thetas = np.array(
        [PoissonBandit(n_features=3, rate=7.0).draw(stream(seed, "theta")).logs.theta for seed in range(400)]
    )
    np.testing.assert_allclose(np.linalg.norm(thetas[:, :-1], axis=1), 1.0)
    np.testing.assert_allclose(np.exp(thetas[:, -1]), 7.0)
    assert np.abs(thetas[:, :-1].mean(axis=0)).max() < 4 * np.sqrt(0.5 / 400)


@pytest.mark.parametrize("rate", [0.1, 5.0, 300.0])
def test_rewards_are_counts_of_the_mean_and_variance_they_should_have(rate):
    arms, rng = PoissonBandit(n_arms=5, n_features=3, rate=rate).draw(stream(2)), stream(3, "pay")
    for arm, x in enumerate(arms.logs.features):
        mean = arms.mean(arm, x)
        assert mean == pytest.approx(np.exp(x @ arms.logs.theta))
        rewards = np.array([arms.pull(arm, x, rng) for _ in range(4000)])
        assert np.array_equal(rewards, np.round(rewards))
        assert rewards.mean() == pytest.approx(mean, abs=4.5 * np.sqrt(mean / 4000))
        assert rewards.var() == pytest.approx(mean, rel=0.3 if rate < 1 else 0.15)


def test_it_keeps_the_contract_of_problems():
    check_problem(PoissonBandit(n_arms=6, n_features=3))


@pytest.mark.parametrize(
    "policy",
    [*often([], [GLM_TSL], pytest.mark.thorough), *often([], [GLMCORe(link="poisson", warm_up=0.5)])],
    ids=lambda policy: policy.label,
)
def test_policies_with_a_poisson_link_learn_counts(policy):
    """Of 2,000 rounds, each would lose about 2 a round at random: exploring, a small part of that."""
    problem = PoissonBandit(n_arms=10, n_features=4, rate=5.0)
    result = run(Experiment(problem, [policy, LinGreedy()], horizon=2000, runs=20, seed=3))
    mean, greedy = (result.regret(label)[:, -1].mean() for label in (policy.label, "LinGreedy"))
    gaps = [np.mean([arms.mean(a, x) for a, x in enumerate(arms.logs.features)]) for arms in drawn(problem, 20)]
    assert mean < 0.05 * 2000 * np.mean(gaps)
    assert mean < greedy


def drawn(problem, n):
    return [problem.draw(stream(seed, "sample")) for seed in range(n)]


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (LogPHE(), r"LogPHE is made for rewards in \[0, 1\], but poisson pays rewards of at least 0"),
        (GLMUCB(link="poisson"), r"in \[0, 1\], but poisson pays rewards of at least 0.*, or say any_reward=True"),
    ],
    ids=["logistic", "bounded"],
)
def test_policies_made_for_less_are_refused(policy, sentence):
    with pytest.raises(ValueError, match=sentence):
        Experiment(PoissonBandit(), [policy])
    Experiment(PoissonBandit(), [GLMUCB(link="poisson", largest_reward=20, any_reward=True)])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: PoissonBandit(n_arms=9), "n_arms must be at least n_features, 10"),
        (lambda: PoissonBandit(rate=0), r"rate must be a number above 0 and of at most 1e\+06, not 0"),
        (lambda: PoissonBandit(rate=float("nan")), "rate must be a number above 0"),
    ],
)
def test_bad_parameters_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
