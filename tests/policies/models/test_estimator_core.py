"""EstimatorCORe: the law of its estimates, its schedules, its shortcuts, and what happens when an estimator fails."""

import importlib
import json
import sys
import threading

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import corebandit as cb
from corebandit.catalogue import policy_from
from corebandit.compiled.optional_methods import prepare
from corebandit.contracts.state import arrays_of, carry_over
from corebandit.experiments.engines.player import Stopped, play_runs
from corebandit.experiments.keys import key_of
from corebandit.experiments.playing import task_of
from corebandit.policies.models.estimators import RidgeRegression
from corebandit.policies.models.fits import Model
from corebandit.randomness.stream import stream
from resealed import reseal


class Recorder:
    """A user's estimator, of no library: predicts the first feature, and writes down what it was fitted to."""

    def __init__(self):
        self.seen = []  # shared by all copies

    def __deepcopy__(self, memo):
        copied = Recorder()
        copied.seen = self.seen
        return copied

    def fit(self, X, y):
        self.seen.append((X, y))

    def predict(self, X):
        return X[:, 0]


class Mean:
    """The simplest estimator there is."""

    def fit(self, X, y):
        self.mean = y.mean()

    def predict(self, X):
        return np.full(len(X), self.mean)


def history(n=40, d=3, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.exponential(size=n)


def after(policy, rows, rewards, capacity=None):
    """Return a state that has seen rows and rewards."""
    state = policy.start(4, rows.shape[1], 1000, capacity or 2 * len(rows))
    for index, (row, reward) in enumerate(zip(rows, rewards, strict=True)):
        state.update(index % 4, row, reward, stream(0))
    return state


def scores_of(state, features, rng):
    """Return the scores of one more decision."""
    scores = np.full(len(features), np.nan)
    if hasattr(state, "n_decided"):
        state.begin_round(int(state.n_decided[0]) + 1, -1, np.zeros(4, np.int64))
    prepare(state, rng)
    state.score(features, rng, scores)
    return scores


def always(estimator, **options):
    """Return a policy without a warm-up to speak of."""
    return cb.EstimatorCORe(estimator, **{"warm_up": 0.0, **options})


def prices(index):
    """Return what is on offer in a round."""
    return np.random.default_rng(index).normal(size=(4, 3))


def play(agent, n_rounds, first=0):
    chosen = []
    for index in range(first, first + n_rounds):
        rows = prices(index)
        decision = agent.ask(rows)
        agent.tell(decision, float(np.sin(rows[decision.arm]).sum() + np.random.default_rng(index).normal()))
        chosen.append(decision.arm)
    return chosen


# The law ----------------------------------------------------------------------------------------------------------


class PlainRidge:
    """Ridge regression without a constant, as in LinCORe."""

    def __init__(self, lam):
        self.lam = lam

    def fit(self, X, y):
        self.theta = np.linalg.solve(X.T @ X + self.lam * np.eye(X.shape[1]), X.T @ y)

    def predict(self, X):
        return X @ self.theta


@pytest.mark.heavy
def test_around_ridge_regression_estimates_have_the_law_of_lincore():
    rows, rewards = history()
    offered, lam, alpha, n_draws = prices(0), 0.5, 0.8, 2000
    draws = []
    for policy in (always(PlainRidge(lam), alpha=alpha), cb.LinCORe(alpha, warm_up=0.0, lam=lam, sampler="exact")):
        state, rng = after(policy, rows, rewards), stream(3, policy.name)
        draws.append(np.array([scores_of(state, offered, rng) for _ in range(n_draws)]))
    ours, lincore = draws
    gram = rows.T @ rows + lam * np.eye(3)
    weights = offered @ np.linalg.solve(gram, rows.T)
    mean, covariance = weights @ rewards, alpha**2 * rewards.var() * weights @ weights.T
    errors = np.sqrt(np.diag(covariance) / n_draws)
    assert np.all(np.abs(ours.mean(axis=0) - mean) < 4 * errors)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.all(np.abs(np.cov(ours.T) - covariance) < 0.15 * scale)
    for arm in range(4):
        assert stats.ks_2samp(ours[:, arm], lincore[:, arm]).pvalue > 0.001


def test_extra_draws_are_for_the_first_observations_as_many_as_there_are_arms():
    recorder, (rows, rewards) = Recorder(), history()
    state = after(always(recorder, alpha=0.5, extra=8), rows, rewards)
    n_arms, targets = state.counts.size, []
    for seed in range(2000):
        targets.append(state.perturbed(len(rows), stream(seed)))
    variances = np.var(np.array(targets) - rewards, axis=0) / (0.25 * rewards.var())
    assert len(rows) > n_arms
    np.testing.assert_allclose(variances[:n_arms], 9.0, rtol=0.2)
    np.testing.assert_allclose(variances[n_arms:], 1.0, rtol=0.2)


@pytest.mark.parametrize("estimator", [Ridge(), make_pipeline(PolynomialFeatures(2), Ridge()), RidgeRegression()])
def test_without_noise_it_is_the_greedy_fit(estimator):
    rows, rewards = history()
    scores = scores_of(after(always(estimator, alpha=0.0), rows, rewards), prices(0), stream(1))
    assert np.allclose(scores, estimator.fit(rows, rewards).predict(prices(0)), atol=1e-12)


def test_the_estimator_sees_all_rows_and_perturbed_rewards_and_nothing_else():
    recorder, (rows, rewards) = Recorder(), history()
    state = after(always(recorder, alpha=0.5), rows, rewards)
    for _ in range(2):
        assert list(scores_of(state, prices(0), stream(1))) == list(prices(0)[:, 0])
    scores_of(state, prices(0), stream(2))
    (X, first), (_, again), (_, other) = recorder.seen
    assert np.array_equal(X, rows)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    noise = np.abs(first - rewards)
    possible = 0.5 * np.abs(rewards - rewards.mean())
    assert all(np.isclose(possible, value, atol=1e-12).any() for value in noise)


def test_an_estimator_that_changes_its_data_does_not_change_the_history():
    class Vandal(Mean):
        def fit(self, X, y):
            super().fit(X, y)
            X[:], y[:] = 0.0, 0.0

    rows, rewards = history()
    state = after(always(Vandal()), rows, rewards)
    scores_of(state, prices(0), stream(1))
    assert np.array_equal(state.rows[:40], rows)
    assert state.targets[:40].all()


# The schedule -----------------------------------------------------------------------------------------------------


def sizes_of_fits(refit, n_rounds, **options):
    recorder = Recorder()
    play(cb.Agent(cb.EstimatorCORe(recorder, refit=refit, **options), range(4), seed=0, horizon=1000), n_rounds)
    return [len(y) for _, y in recorder.seen]


def test_the_warm_up_is_that_of_lincore():
    sizes = sizes_of_fits(1, 140, warm_up=2.0)
    assert sizes[0] == cb.LinCORe(warm_up=2.0).warm_up_rounds(3, 1000) == 125
    agent = cb.Agent(cb.EstimatorCORe(), range(4), seed=0, horizon=1000)
    assert sorted(np.bincount(play(agent, 100))) == [25] * 4


def test_it_fits_in_every_round_or_every_so_many():
    assert sizes_of_fits(1, 8, warm_up=0.0) == [4, 5, 6, 7]
    assert sizes_of_fits(3, 15, warm_up=0.0) == [4, 7, 10, 13]


def test_a_geometric_schedule_fits_when_a_tenth_is_new():
    sizes = np.array(sizes_of_fits("geometric", 250, warm_up=0.0))
    assert list(sizes[:19]) == [*range(4, 21), 22, 24]
    late = sizes[sizes >= 100]
    assert np.all(np.diff(late) == late[:-1] // 10)
    assert len(sizes) < 50


def test_decisions_whose_rewards_are_not_known_yet_have_noise_of_their_own():
    recorder, (rows, rewards) = Recorder(), history()
    state = after(always(recorder, refit=2), rows, rewards)
    rng = stream(5)
    for _ in range(6):
        scores_of(state, prices(0), rng)
    assert len(recorder.seen) == 3
    assert not np.array_equal(recorder.seen[0][1], recorder.seen[1][1])


def test_rewards_that_others_brought_are_learnt_on_time():
    recorder, (rows, rewards) = Recorder(), history(100)
    agent = cb.Agent(always(recorder, refit=20), range(4), seed=0)
    for index in range(100):
        agent.observe(index % 4, rewards[index], rows[index])
        if index in (49, 59, 69):
            agent.ask(prices(index))
    assert [len(y) for _, y in recorder.seen] == [50, 70]


# Shortcuts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Ridge, RidgeRegression])
def test_equal_rows_fitted_once_give_the_same_fit(kind):
    rng = np.random.default_rng(4)
    kinds = np.vstack([rng.normal(size=(5, 3)), [[0.0, 1.0, 2.0]]])
    rows, rewards = kinds[rng.integers(6, size=80)], rng.normal(size=80)
    rows[3] = [-0.0, 1.0, 2.0]  # the same row as the last kind
    states = [after(always(kind(), aggregate=aggregate), rows, rewards) for aggregate in (False, True)]
    streams = [stream(6), stream(6)]
    for _ in range(3):
        plain, gathered = (scores_of(*pair) for pair in zip(states, [prices(0)] * 2, streams, strict=True))
        assert np.allclose(plain, gathered, atol=1e-8)
        for state in states:
            state.update(0, kinds[0], 1.5, stream(0))


def test_equal_rows_are_counted_once():
    class Weighted(Recorder):
        def fit(self, X, y, sample_weight=None):
            self.seen.append((X, y, sample_weight))

        def __deepcopy__(self, memo):
            return self

    recorder = Weighted()
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    scores_of(after(always(recorder, aggregate=True, alpha=0.0), rows, [1.0, 5.0, 2.0, 6.0]), np.eye(2), stream(1))
    ((X, y, weights),) = recorder.seen
    assert np.array_equal(X, np.eye(2))
    assert np.allclose(y, [3.0, 5.0])
    assert list(weights) == [3.0, 1.0]


class Feedable(Recorder):
    """Counts what it is fed."""

    def __deepcopy__(self, memo):
        copied = Feedable()
        copied.seen = self.seen
        return copied

    def partial_fit(self, X, y):
        self.fit(X, y)


def test_an_incremental_estimator_is_fed_each_observation_once():
    recorder, (rows, rewards) = Feedable(), history(20)
    state, rng = after(always(recorder, incremental=True), rows, rewards), stream(1)
    for index in range(5):
        scores_of(state, prices(0), rng)
        scores_of(state, prices(0), rng)
        state.update(0, rows[index], rewards[index], rng)
    fed = np.vstack([X for X, _ in recorder.seen])
    assert np.array_equal(fed, np.vstack([rows, rows[:4]]))
    assert np.array_equal(np.concatenate([y for _, y in recorder.seen]), state.targets[:24])


# Seeds, saving, growing -------------------------------------------------------------------------------------------

LEARNERS = {
    "every round": always(RidgeRegression()),
    "every seventh": always(Ridge(), refit=7),
    "geometric": always(RidgeRegression(), refit="geometric"),
    "aggregate": always(RidgeRegression(), aggregate=True, refit=2),
    "incremental": always(SGDRegressor(), incremental=True),
    "random": always(make_pipeline(StandardScaler(), RandomForestRegressor(3)), refit=9),
}
every_learner = pytest.mark.parametrize("policy", LEARNERS.values(), ids=LEARNERS)


@every_learner
def test_saved_between_two_fits_it_continues_bit_for_bit(policy, tmp_path):
    agent = cb.Agent(policy, range(4), seed=3)
    play(agent, 40)
    agent.save(tmp_path / "agent.json")
    twin = cb.Agent.load(tmp_path / "agent.json", policy)
    assert play(agent, 25, first=40) == play(twin, 25, first=40)
    assert [list(array.ravel()) for array in arrays_of(agent._desk.state)] == [
        list(array.ravel()) for array in arrays_of(twin._desk.state)
    ]


@every_learner
def test_a_state_given_more_room_goes_on_as_if_it_had_been_large_from_the_start(policy):
    rows, rewards = history(60)
    small, large = after(policy, rows[:30], rewards[:30], 45), after(policy, rows[:30], rewards[:30], 100)
    small_rng, large_rng = stream(1), stream(1)
    for index in range(30, 60):
        if index == 44:
            outgrown, small = small, policy.start(4, 3, 1000, 100)
            carry_over(outgrown, small)
        found = [scores_of(state, prices(index), rng) for state, rng in ((small, small_rng), (large, large_rng))]
        assert np.array_equal(*found)
        for state, rng in ((small, small_rng), (large, large_rng)):
            state.update(index % 4, rows[index], rewards[index], rng)


def test_random_states_are_set_from_the_stream_unless_the_user_set_them():
    model = Model(make_pipeline(StandardScaler(), RandomForestRegressor()))
    seeds = [model.unfitted(seed).get_params()["randomforestregressor__random_state"] for seed in (1, 1, 2)]
    assert seeds[0] == seeds[1] != seeds[2]
    assert Model(RandomForestRegressor(random_state=5)).unfitted(1).random_state == 5


@pytest.mark.heavy
def test_the_seed_decides_everything():
    policy = LEARNERS["random"]
    chosen = [play(cb.Agent(policy, range(4), seed=seed), 60) for seed in (1, 1, 2)]
    assert chosen[0] == chosen[1] != chosen[2]


def test_the_file_of_an_agent_asks_for_its_policy(tmp_path):
    agent, path = cb.Agent(always(Ridge()), range(4), seed=0), tmp_path / "agent.json"
    play(agent, 10)
    agent.save(path)
    with pytest.raises(
        ValueError, match=r"no file holds: load\(path, policy=EstimatorCORe\(...\)\) needs it as it was"
    ):
        cb.Agent.load(path)
    with pytest.raises(ValueError, match=r"policy must be the one that was saved, but .* was .*, is "):
        cb.Agent.load(path, always(Ridge(alpha=2)))
    moved_on = path.read_text().replace('"versions": {"sklearn": "', '"versions": {"sklearn": "0.')
    assert moved_on != path.read_text()
    reseal(path, json.loads(moved_on))
    assert cb.Agent.load(path, always(Ridge())).n_observations == 10


# The recipe -------------------------------------------------------------------------------------------------------


@pytest.mark.endurance  # tests/checks has it with an estimator of ours
def test_it_keeps_the_contract():
    cb.check_policy(cb.EstimatorCORe(Ridge(), refit="geometric"))


def test_recipes_of_equal_estimators_are_equal():
    assert cb.EstimatorCORe(Ridge(alpha=2)) == cb.EstimatorCORe(Ridge(alpha=2))
    assert len({cb.EstimatorCORe(Ridge()), cb.EstimatorCORe(Ridge()), cb.EstimatorCORe(Ridge(alpha=2))}) == 2
    assert cb.EstimatorCORe(Ridge()) != cb.LinCORe()


def test_labels_name_the_estimator():
    assert cb.EstimatorCORe(Ridge(alpha=2)).label == "EstimatorCORe(Ridge(alpha=2))"
    assert (
        cb.EstimatorCORe(Ridge(), refit="geometric", alpha=1).label
        == "EstimatorCORe(Ridge, alpha=1.0, refit='geometric')"
    )


def test_the_user_s_estimator_is_left_alone():
    ridge = Ridge()
    policy = always(ridge)
    ridge.alpha = 100.0
    play(cb.Agent(policy, range(4), seed=0), 10)
    assert policy.estimator.alpha == 1.0
    assert not hasattr(ridge, "coef_")
    assert not hasattr(policy.estimator, "coef_")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"refit": 0}, "refit must be a whole number of at least 1, not 0"),
        ({"refit": "often"}, "refit must be a whole number of at least 1 or 'geometric', not 'often'"),
        ({"refit": 1.5}, "refit must be a whole number"),
        ({"alpha": -1}, "alpha must be a number of at least 0, not -1"),
        ({"z": 1}, "z must be"),
        ({"aggregate": 1}, "aggregate must be True or False, not 1"),
        ({"estimator": Mean(), "aggregate": True}, "fit takes sample_weight, not Mean"),
        ({"estimator": Mean(), "incremental": True}, "has partial_fit, not Mean"),
        ({"estimator": SGDRegressor(), "incremental": True, "refit": 2}, "neither aggregate nor refit"),
        ({"estimator": SGDRegressor(), "incremental": True, "aggregate": True}, "neither aggregate nor refit"),
        ({"estimator": Ridge}, "must be an object such as Ridge"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=r"must|needs|goes") as refusal:
        cb.EstimatorCORe(**options)
    assert sentence in str(refusal.value)


def test_a_spec_names_the_estimator_by_its_path():
    spec = "EstimatorCORe('sklearn.ensemble:GradientBoostingRegressor(n_estimators=50)', refit=geometric)"
    assert policy_from(spec) == cb.EstimatorCORe(GradientBoostingRegressor(n_estimators=50), refit="geometric")
    table = {"name": "EstimatorCORe", "estimator": "sklearn.linear_model:Ridge(alpha=2.0)"}
    assert policy_from(table) == cb.EstimatorCORe(Ridge(alpha=2.0))


# Estimators that fail ---------------------------------------------------------------------------------------------


class Faulty(Mean):
    """Does as it is told, from the sixth observation on."""

    def __init__(self, answer=None, error=None):
        self.answer, self.error = answer, error

    def fit(self, X, y):
        super().fit(X, y)
        if self.error is not None and len(y) > 5:
            raise self.error

    def predict(self, X):
        return super().predict(X) if self.answer is None else self.answer


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (Faulty(error=RuntimeError("no memory")), "failed in fit with 6 rows of 3 features and their "),
        (Faulty(answer=np.zeros(3)), "one number a row, an array of shape (4,), not (3,)"),
        (Faulty(answer=np.zeros((4, 1))), "an array of shape (4,), not (4, 1)"),
        (Faulty(answer=np.array([0.0, 1.0, np.nan, 2.0])), "must predict finite numbers, not [0.0, 1.0, nan, 2.0]"),
        (Faulty(answer=np.array(["a", "b", "a", "b"])), "must predict numbers, so take a regressor; it predicted ['a'"),
        (Faulty(answer=None, error=KeyboardInterrupt()), ""),
    ],
    ids=["error", "too few", "a column", "nan", "labels", "interrupt"],
)
def test_an_estimator_that_fails_is_named_and_nothing_that_was_observed_has_changed(estimator, sentence):
    rows, rewards = history(6)
    agent = cb.Agent(always(estimator), range(4), seed=1)
    for index in range(6):
        agent.observe(index % 4, rewards[index], rows[index])

    def known():
        return [array.copy() for array in (*arrays_of(agent._desk.state), agent._desk.rng.words)]

    before, after_each = known(), []
    for _ in range(2):
        with pytest.raises((ValueError, KeyboardInterrupt)) as failure:
            agent.ask(prices(0))
        assert sentence in str(failure.value)
        assert "Faulty" in str(failure.value) or not sentence
        after_each.append(known())
    if estimator.error is not None:
        assert all(map(np.array_equal, before, after_each[0]))
    assert all(map(np.array_equal, *after_each))  # one that fits and cannot predict has been fitted, once
    state = agent._desk.state
    assert (state.pool.tally[0], state.counts.sum(), agent._desk.rounds.decided) == (6, 6, 0)
    assert not agent.pending


def test_after_a_failure_the_last_fit_still_answers():
    rows, rewards = history(30)
    broken, whole = (after(always(RidgeRegression(), refit=50), rows, rewards) for _ in range(2))
    first = [scores_of(state, prices(0), stream(1)) for state in (broken, whole)]
    with pytest.raises(ValueError, match="RidgeRegression failed in predict"):
        scores_of(broken, np.zeros((4, 2)), stream(1))
    again = [scores_of(state, prices(0), stream(1)) for state in (broken, whole)]
    assert np.array_equal(first, again)


# In experiments ---------------------------------------------------------------------------------------------------


def experiment(policies, **changes):
    problem = cb.ContextualBandit(n_arms=4, n_features=3, rewards="gaussian")
    return cb.Experiment(problem, policies, **{"horizon": 60, "runs": 2, "seed": 4, **changes})


@pytest.mark.heavy
def test_pipelines_boosting_and_the_user_s_own_class_play():
    policies = {
        "pipeline": always(make_pipeline(PolynomialFeatures(2), Ridge()), refit=5),
        "boosting": always(GradientBoostingRegressor(n_estimators=5), refit=20),
        "mean": always(Mean(), refit=5),
    }
    result = cb.run(experiment(policies), jobs=2)
    for label in policies:
        assert np.all(np.diff(result.regret(label)) >= 0)
        assert np.array_equal(result.regret(label), cb.run(experiment({label: policies[label]}), jobs=1).regret(label))


def key(policy):
    return key_of(task_of(experiment({"it": policy}), "it"), "")


def test_results_are_kept_under_the_estimator_s_parameters(tmp_path):
    assert key(always(Ridge())) == key(always(Ridge()))
    keys = {key(always(Ridge(alpha=alpha), refit=refit)) for alpha in (1.0, 2.0) for refit in (1, 2)}
    assert len(keys) == 4
    cb.run(experiment([always(Ridge(), refit=30)]), folder=tmp_path)
    cb.run(experiment([always(Ridge(), refit=30)]), folder=tmp_path)
    assert len(list(tmp_path.glob("*.chunk"))) == 2


def test_results_are_kept_under_the_source_of_the_user_s_class(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    source = "class Constant:\n    def fit(self, X, y): pass\n    def predict(self, X): return 0.0 * X[:, 0]\n"
    file = tmp_path / "an_estimator_of_the_user.py"
    file.write_text(source)
    policy = always("an_estimator_of_the_user:Constant()")
    before = key(policy)
    assert before == key(policy)
    file.write_text(source.replace("0.0", "10.0"))
    assert before == key(policy), "what runs is what was imported"
    del sys.modules["an_estimator_of_the_user"]
    importlib.invalidate_caches()
    assert before != key(always("an_estimator_of_the_user:Constant()"))


def test_it_stops_in_the_middle_of_a_run():
    stop = threading.Event()

    class Impatient(Mean):
        def fit(self, X, y):
            assert len(y) <= 21, "it plays on"
            if len(y) == 21:
                stop.set()
            super().fit(X, y)

    long = experiment({"it": always(Impatient())}, horizon=10**5)
    with pytest.raises(Stopped):
        play_runs(task_of(long, "it"), 0, 1, stop)
