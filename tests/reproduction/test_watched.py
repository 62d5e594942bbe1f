"""LinCORe, watched: it plays as it would, and what is seen of it is what happened."""

import math

import numpy as np
import pytest

from corebandit.contracts.errors import BadInput
from corebandit.experiments.experiment import Experiment
from corebandit.experiments.run import run
from corebandit.games.feature_game import FeatureGame
from corebandit.policies import LinCORe
from corebandit.problems import LinearBandit
from corebandit.randomness.stream import stream
from corebandit.reproduction.watched import AT_ONE, EDGES, FEWEST, N_LOOKS, VARIANCE, WatchedLinCORe

HORIZON, ALPHA, LAM = 130, 0.6, 0.01
POLICY = LinCORe(alpha=ALPHA, z=0.5, warm_up=2.0, lam=LAM, sampler="exact")
PROBLEM = LinearBandit(n_arms=6, n_features=3, rewards="gaussian")
FLOOR, CEILING, RADIUS = 0.02, 3.0, 4.0


def watched(n_draws=0, **changed):
    return WatchedLinCORe(POLICY.changed(**changed), FLOOR, CEILING, RADIUS, n_draws)


class Remembered:
    """A state that remembers what happened."""

    def __init__(self, state):
        self.state, self.rows, self.rewards, self.features = state, [], [], None

    def score(self, features, rng, scores):
        self.features = features.copy()
        self.state.score(features, rng, scores)

    def update(self, arm, x, reward, rng):
        self.rows.append(x.copy())
        self.rewards.append(reward)
        self.state.update(arm, x, reward, rng)


@pytest.fixture(scope="module")
def history():
    """Return a watched run in plain Python, and what happened in it."""
    problem, game = PROBLEM.draw(stream(1, "problem")), FeatureGame()
    state = watched().start_on(problem, HORIZON, HORIZON)
    remembered = Remembered(state)
    needs, notes = game.needs(problem, (1, "watched", 0)), game.notes(problem, 1)
    game.loop.in_python(remembered, problem, *needs, np.array([HORIZON]), HORIZON, False, np.zeros(1), notes)
    return problem, state, np.array(remembered.rows), np.array(remembered.rewards)


@pytest.mark.thorough
def test_regret_is_bit_by_bit_what_it_is_unwatched():
    policies = {"unwatched": POLICY, "watched": watched(), "watched closely": watched(n_draws=7)}
    unwatched, *seen = run(Experiment(PROBLEM, policies, horizon=HORIZON, runs=5)).curves()
    for curve in seen:
        np.testing.assert_array_equal(curve.regret, unwatched.regret)
    assert {curve.measures["draws"].sum() for curve in seen} == {0.0, 5 * 7 * N_LOOKS}


def test_the_room_is_that_of_pools_and_regressions_built_from_all_rewards(history):
    problem, state, rows, rewards = history
    warm_up = POLICY.warm_up_rounds(3, HORIZON)
    variance, size, distance = [], [], []
    for n_seen in range(1, HORIZON):  # what each round begins with
        x, y = rows[:n_seen], rewards[:n_seen]
        pool = ALPHA * (y - y.mean())
        gram = LAM * np.eye(3) + x.T @ x
        error = np.linalg.solve(gram, x.T @ y) - problem.theta
        size.append(CEILING / np.abs(pool).max() if n_seen > 1 else np.inf)
        distance.append(RADIUS / math.sqrt(error @ gram @ error))
        if n_seen + 1 > warm_up:
            variance.append(np.mean(pool**2) / FLOOR)
    assert state.room == pytest.approx([min(variance), min(size), min(distance)])


def test_there_are_looks_from_the_end_of_the_warm_up_to_the_last_round(history):
    state = history[1]
    assert state.looks[0] == POLICY.warm_up_rounds(3, HORIZON) + 1
    assert state.looks[-1] == HORIZON
    assert state.looks.size == N_LOOKS


def test_the_variance_is_looked_at_from_the_first_round_after_the_warm_up_on():
    problem, rng, scores = PROBLEM.draw(stream(1, "problem")), stream(4), np.zeros(6)
    state = watched().start_on(problem, HORIZON, HORIZON)
    warm_up = POLICY.warm_up_rounds(3, HORIZON)
    for current_round in range(1, warm_up + 1):
        state.score(problem.features, rng, scores)
        assert state.room[VARIANCE] == np.inf
        state.update(0, problem.features[0], 0.5 + 0.1 * (-1.0) ** current_round, rng)
    state.score(problem.features, rng, scores)
    assert state.room[VARIANCE] == pytest.approx((ALPHA * 0.1) ** 2 / FLOOR, rel=1e-3)


def test_the_watcher_has_a_stream_of_its_own_in_each_run():
    problem = PROBLEM.draw(stream(1, "problem"))
    begun = [stream(5), stream(6)]
    words = {word for rng in begun for word in rng.words.tolist()}
    for rng in begun:
        state = watched().start_on(problem, HORIZON, HORIZON)
        state.score(problem.features, rng, np.zeros(6))
        assert not words & set(state.own.words.tolist())
        words |= set(state.own.words.tolist())


def test_the_fewest_lifts_are_those_of_one_look(history):
    problem, state, *_ = history
    counts, lifts = np.array([0, 0, 0, 1000]), np.zeros_like(state.lifts)
    fresh = state._replace(n_draws=1000, counts=counts, lifts=lifts, spreads=np.zeros_like(state.spreads))
    fresh.own.words[:] = stream(7).words
    often, seldom = fresh._replace(radius=0.1), fresh._replace(radius=0.3)
    often.draw(problem.features)
    first = lifts[AT_ONE]
    assert counts[FEWEST] == first
    seldom.draw(problem.features)
    assert counts[FEWEST] == lifts[AT_ONE] - first < first


@pytest.mark.heavy
def test_draws_are_counted_as_often_as_noise_drawn_one_by_one_goes_so_far(history):
    problem, state, rows, rewards = history
    state = state._replace(n_draws=20_000, radius=0.3, lifts=state.lifts.copy(), spreads=state.spreads.copy())
    state.own.words[:] = stream(2).words
    state.draw(problem.features)

    pool = ALPHA * (rewards - rewards.mean())
    rng = np.random.default_rng(3)
    noise = rng.choice(np.concatenate([pool, -pool]), size=(20_000, HORIZON))
    gram = LAM * np.eye(3) + rows.T @ rows
    moves = noise @ rows @ np.linalg.inv(gram) @ problem.features.T  # (draws, arms)
    widths = np.sqrt(np.einsum("ij,jk,ik->i", problem.features, np.linalg.inv(gram), problem.features))
    best = int(np.argmax(problem.features @ problem.theta))
    spread = (np.abs(moves) / (widths * np.abs(pool).max()))[np.arange(20_000), rng.integers(6, size=20_000)]
    lift = moves[:, best] / (widths[best] * 0.3)
    for counted, expected in ((state.spreads, spread), (state.lifts, lift)):
        assert 0.02 < np.mean(expected > 0.5) < 0.5
        for edge, count in zip(EDGES, counted, strict=True):
            assert count / 20_000 == pytest.approx(np.mean(expected > edge), abs=0.02)
    estimate = np.linalg.solve(gram, rows.T @ rewards)
    hopeful = np.mean(moves[:, best] > problem.features[best] @ (problem.theta - estimate))
    measured = watched().measures(state)
    assert measured["hopeful"] / measured["draws"] == pytest.approx(hopeful, abs=0.02)
    assert measured["lift 1"] == state.lifts[AT_ONE]


def test_edges_are_in_quarters_of_a_doubling_around_one():
    assert EDGES[AT_ONE] == 1.0
    assert EDGES[[0, 8, 12]] == pytest.approx([0.5, 2.0, 4.0])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: watched(sampler="fast"), "policy must keep its rewards, sampler='exact', to be watched, not 'fast'"),
        (lambda: WatchedLinCORe(POLICY, 0.0, 1.0, 1.0), "floor must be a number above 0"),
        (lambda: WatchedLinCORe(POLICY, 1.0, 1.0, 1.0, -1), "n_draws must be a whole number of at least 0"),
        (lambda: Experiment(PROBLEM, [watched()], horizon=20), "horizon must be above the warm-up.*: 20"),
    ],
)
def test_mistakes_are_told(make, sentence):
    with pytest.raises(BadInput, match=sentence):
        make()
