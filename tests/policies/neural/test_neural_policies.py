"""The neural policies: the contract, what they learn from, and what their scores are."""

import re
from pathlib import Path

import numpy as np
import pytest

import corebandit as cb
from corebandit.catalogue import neural_policies
from corebandit.contracts.state import arrays_of
from corebandit.policies.neural.network import n_weights
from corebandit.randomness.stream import stream

torch = pytest.importorskip("torch", reason="PyTorch is not installed: docs/neural.md says how to get it")

SMALL = {"hidden": 6, "steps": 1, "batch_size": 8, "train_until": 20, "train_every": 5}
every_policy = pytest.mark.parametrize("recipe", neural_policies().values(), ids=lambda recipe: recipe.name)


def after(policy, n_rounds, *, n_arms=3, d=4, scale=1.0, shift=0.0, horizon=400):
    """Return a state that has seen so many rounds of made-up rewards, and its stream."""
    state, rng, noise = policy.start(n_arms, d, horizon, 400), stream(1, "state"), np.random.default_rng(2)
    for index in range(n_rounds):
        x = noise.normal(size=d)
        state.update(index % n_arms, x, shift + scale * float(np.abs(x[0]) + 0.1 * noise.normal()), rng)
    return state, rng


def scores_of(state, rng, n_rows=3, d=4):
    scores = np.full(n_rows, np.nan)
    state.score(np.random.default_rng(3).normal(size=(n_rows, d)), rng, scores)
    return scores


@every_policy
def test_it_keeps_the_contract(recipe):
    cb.check_policy(recipe(**SMALL))


def test_it_keeps_the_contract_without_a_horizon_and_with_plain_descent():
    cb.check_policy(cb.NeuralCORe(**SMALL, optimiser="sgd", standardise=False), horizon=None)


@every_policy
def test_runs_are_the_same_on_one_thread_and_on_two(recipe):
    experiment = cb.Experiment(cb.NonlinearBandit("cosine", n_features=4), [recipe(**SMALL)], horizon=60, runs=3)
    one, two = (cb.run(experiment, jobs=jobs).regret(recipe(**SMALL).label) for jobs in (1, 2))
    assert np.array_equal(one, two)


@every_policy
def test_a_saved_agent_goes_on_bit_for_bit(recipe, tmp_path):
    agent, noise = cb.Agent(recipe(**SMALL), seed=4, horizon=50), np.random.default_rng(5)
    for _ in range(40):
        decision = agent.ask(noise.normal(size=(3, 4)))
        agent.tell(decision, float(noise.normal()))
    agent.save(tmp_path / "agent.json")
    loaded = cb.Agent.load(tmp_path / "agent.json")
    for _ in range(20):
        features, reward = noise.normal(size=(3, 4)), float(noise.normal())
        one, other = (each.ask(features) for each in (agent, loaded))
        assert one == other
        agent.tell(one, reward)
        loaded.tell(other, reward)
    for mine, theirs in zip(arrays_of(agent._desk.state), arrays_of(loaded._desk.state), strict=True):
        assert np.array_equal(mine, theirs)


@every_policy
def test_weights_start_uniform_within_the_bounds_of_their_layers(recipe):
    state = recipe(hidden=100).start(3, 25, 100, 10)
    scores_of(state, stream(6), d=25)
    learner = state.learner if hasattr(state, "learner") else state.widths.learner
    for weights in learner.weights:
        assert 0.98 / 5 < np.abs(weights[:2600]).max() <= 1 / 5
        assert 0.09 < np.abs(weights[2600:]).max() <= 1 / 10
    assert len(np.unique(learner.weights)) == learner.weights.size


@every_policy
def test_rounds_that_do_not_train_leave_the_weights_alone(recipe):
    state, rng = after(recipe(**SMALL), 19)
    learner = state.learner if hasattr(state, "learner") else state.widths.learner
    for n_seen in range(20, 41):
        before = learner.weights.copy()
        state.update(0, np.ones(4), 1.0, rng)
        assert np.array_equal(before, learner.weights) == (n_seen > 20 and n_seen % 5 != 0)
    assert learner.tally.tolist() == [40, 24, 1]


# NeuralCORe and the ensemble --------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", [cb.NeuralCORe, cb.NeuralEnsemble])
def test_the_warm_up_chooses_what_was_chosen_least_as_long_as_lincores(recipe):
    n_rounds = cb.LinCORe().warm_up_rounds(4, 400)
    assert recipe().warm_up_rounds(4, 400) == n_rounds == 217
    state, rng = after(recipe(**SMALL), n_rounds - 1)
    assert scores_of(state, rng).tolist() == [-72.0] * 3
    state.update(0, np.ones(4), 1.0, rng)
    assert len(set(scores_of(state, rng))) == 3


def test_neuralcore_scores_by_its_network():
    state, rng = after(cb.NeuralCORe(warm_up=0.1, **SMALL), 100)
    features = np.random.default_rng(3).normal(size=(3, 4))
    expected = state.learner.network.predict(state.learner.weights, features)[0]
    assert np.array_equal(scores_of(state, rng), expected)


@pytest.mark.parametrize("recipe", [cb.NeuralCORe, cb.NeuralEnsemble])
def test_choices_do_not_depend_on_the_scale_of_rewards(recipe):
    policy = recipe(warm_up=0.1, **SMALL)
    plain, moved = (scores_of(*after(policy, 150, **change)) for change in ({}, {"scale": 1000.0, "shift": -300.0}))
    np.testing.assert_allclose(plain, moved, rtol=1e-6)
    unscaled = scores_of(*after(policy.changed(standardise=False), 150, scale=1000.0, shift=-300.0))
    assert np.abs(unscaled - plain).max() > 0.1


def test_without_noise_neuralcore_and_an_ensemble_of_one_learn_the_same_way():
    for alpha, is_alike in ((0.0, True), (0.6, False)):
        greedy = cb.NeuralCORe(alpha=alpha, steps=3, hidden=6).start(3, 4, 400, 400)
        alone = cb.NeuralEnsemble(alpha=alpha, steps=3, hidden=6, members=1).start(3, 4, 400, 400)
        greedy.learner.begin(stream(7))
        alone.learner.begin(stream(7))
        past, x = np.arange(12).reshape(3, 4), np.random.default_rng(8).normal(size=(12, 4))
        for state in (greedy, alone):
            for row in x:
                state.learner.add(row, float(row[0]))
                state.noise.add(0, float(row[0]), stream(9))
        alone.frozen[:12] = alone.noise.draw(np.arange(12), 1, stream(10))
        fresh = greedy.noise.draw(past.reshape(-1), 1, stream(11))
        greedy.learner.train(past, fresh.reshape(3, 1, 4))
        alone.learner.train(past, alone.frozen[past].swapaxes(1, 2))
        assert np.array_equal(greedy.learner.weights, alone.learner.weights) == is_alike


def test_the_noise_is_alpha_times_the_pools_deviations():
    state, rng = after(cb.NeuralCORe(alpha=0.5, **SMALL), 50)
    rewards = state.learner.rewards[:50]
    draws = state.noise.draw(np.full(4000, 20), 1, rng)[:, 0]
    deviations = 0.5 * (rewards - rewards.mean())
    possible = np.concatenate([deviations, -deviations])
    assert np.abs(draws[:, None] - possible).min(axis=1).max() < 1e-12
    assert draws.std() == pytest.approx(0.5 * rewards.std(), rel=0.05)
    assert abs(draws.mean()) < 4.5 * draws.std() / np.sqrt(4000)


def test_extra_draws_are_for_the_first_observations():
    state, rng = after(cb.NeuralCORe(alpha=0.5, extra=8, **SMALL), 50)
    n_arms, spread = state.noise.counts.size, 0.25 * state.learner.rewards[:50].var()
    for observation, n_draws in ((0, 9), (n_arms - 1, 9), (n_arms, 1), (49, 1)):
        draws = state.noise.draw(np.full(4000, observation), 1, rng)
        assert draws.var() == pytest.approx(n_draws * spread, rel=0.1)


def test_an_ensembles_noise_stays_and_is_each_members_own():
    state, rng = after(cb.NeuralEnsemble(members=4, **SMALL), 60)
    before = state.frozen[:60].copy()
    state.update(0, np.ones(4), 1.0, rng)
    assert np.array_equal(state.frozen[:60], before)
    assert np.all(np.abs(state.frozen[60]) > 0.0)
    assert np.abs(np.corrcoef(before[10:].T) - np.eye(4)).max() < 0.6
    deviation = 0.6 * state.learner.rewards[:60].std()
    assert before[10:].std() == pytest.approx(deviation, rel=0.25)


def test_every_member_of_an_ensemble_decides():
    state, rng = after(cb.NeuralEnsemble(members=4, warm_up=0.1, **SMALL), 100)
    features = np.random.default_rng(3).normal(size=(3, 4))
    expected = {tuple(scores) for scores in state.learner.network.predict(state.learner.weights, features).round(9)}
    assert {tuple(scores_of(state, rng).round(9)) for _ in range(80)} == expected
    assert len(expected) == 4


# NeuralUCB and NeuralTS -------------------------------------------------------------------------------------------


def test_neuralucb_scores_by_the_formula():
    policy = cb.NeuralUCB(nu=0.3, lam=0.02, **SMALL)
    state, rng = policy.start(3, 4, 400, 400), stream(12)
    network, learner = state.widths.learner.network, state.widths.learner
    learner.begin(rng)
    u, noise = np.full(n_weights(4, 6), 0.02), np.random.default_rng(13)
    for _ in range(30):
        x = noise.normal(size=4)
        u += network.gradients(learner.weights, x[None])[0] ** 2
        state.update(0, x, float(x[0]), rng)
    features = np.random.default_rng(3).normal(size=(3, 4))
    squared = 0.02 * 0.3 * (network.gradients(learner.weights, features) ** 2 / u).sum(axis=1)
    expected = network.predict(learner.weights, features)[0] + np.sqrt(squared)
    np.testing.assert_allclose(scores_of(state, rng), expected, rtol=1e-12)


def test_neuralts_draws_around_the_estimate_as_wide_as_neuralucbs_bonus():
    state, rng = after(cb.NeuralTS(nu=0.3, **SMALL), 30)
    estimate, width = state.widths.estimate(np.random.default_rng(3).normal(size=(3, 4)), rng)
    draws = np.array([scores_of(state, rng) for _ in range(2000)])
    np.testing.assert_allclose(draws.mean(axis=0), estimate, atol=4.5 * width.max() / np.sqrt(2000))
    np.testing.assert_allclose(draws.std(axis=0), width, rtol=0.1)
    assert np.abs(np.corrcoef(draws.T) - np.eye(3)).max() < 0.1


def test_all_beat_a_linear_model_where_nothing_is_linear():
    problem = cb.NonlinearBandit("square", n_features=3, sigma=0.1)
    neural = [recipe(hidden=30, warm_up=0.5) for recipe in (cb.NeuralCORe, cb.NeuralEnsemble)]
    neural += [recipe(hidden=30, nu=0.1) for recipe in (cb.NeuralUCB, cb.NeuralTS)]
    result = cb.run(cb.Experiment(problem, [*neural, cb.LinUCB()], horizon=400, runs=2, seed=14))
    linear = result.regret("LinUCB")[:, -1].mean()
    for policy in neural:
        assert result.regret(policy.label)[:, -1].mean() < 0.6 * linear, policy.label


def test_the_page_on_neural_policies_runs():
    page = (Path(__file__).parents[3] / "docs" / "neural.md").read_text()
    namespace = {}
    for block in re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, "neural.md", "exec"), namespace)
    assert namespace["agent"].n_observations == 20
    assert namespace["authors"].steps == 1000
